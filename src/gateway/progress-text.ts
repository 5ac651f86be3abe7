import { stringAt, type JsonObject } from '../kernel/json.ts';

/** Progress as one line for a status message: `3/10 Indexing`. Nothing where there is nothing to say. */
export function progressText(params: JsonObject): string | undefined {
  const { progress, total } = params;
  const count =
    typeof progress === 'number'
      ? `${round(progress)}${typeof total === 'number' ? `/${round(total)}` : ''}`
      : '';
  const text = [count, stringAt(params, 'message') ?? ''].filter((part) => part !== '').join(' ');
  return text === '' ? undefined : text;
}

const round = (value: number): number => Math.round(value * 100) / 100;
