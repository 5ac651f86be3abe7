import { isJsonObject } from '../../kernel/json.ts';
import type { InputAnswer } from '../../protocol/model.ts';
import { invalidParams } from './failures.ts';

/** The answers of a `tasks/update` or of a retry, by input key. */
export interface InputResponses {
  readonly answers: Readonly<Record<string, InputAnswer>>;
  /** Keys whose value is no answer at all: nothing to store, and not to be lost in silence when the key is live (T28). */
  readonly malformed: readonly string[];
}

/** An answer is the bare result of the standalone request. One wrapped like a JSON-RPC message is a mistake. */
const isAnswer = (value: unknown): boolean =>
  isJsonObject(value) && value['method'] === undefined && value['result'] === undefined;

export function readInputResponses(value: unknown): InputResponses {
  if (!isJsonObject(value))
    throw invalidParams('inputResponses must be an object of answers by key');
  const answers: Record<string, InputAnswer> = {};
  const malformed: string[] = [];
  for (const [key, answer] of Object.entries(value)) {
    if (isJsonObject(answer) && isAnswer(answer)) answers[key] = { kind: 'result', result: answer };
    else malformed.push(key);
  }
  return { answers, malformed };
}

export const malformedAnswer = (key: string, problem: string): ReturnType<typeof invalidParams> =>
  invalidParams(`inputResponses["${key.slice(0, 60)}"]: ${problem}`);

/** Refuses when one of the malformed keys is live: it stays open, and nothing else of the request is taken. */
export function assertWellFormed({ malformed }: InputResponses, live: readonly string[]): void {
  const key = malformed.find((name) => live.includes(name));
  if (key !== undefined)
    throw malformedAnswer(key, 'must be the bare result of the request that was asked');
}
