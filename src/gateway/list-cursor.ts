import { isJsonObject, stringAt } from '../kernel/json.ts';

/** A place in a list that is joined over upstreams: which one, and its own cursor there. */
export interface ListPlace {
  readonly upstream: string;
  readonly cursor?: string;
}

/** Opaque to callers; it names nothing that they could not list, so it needs no seal. */
export function encodeListCursor({ upstream, cursor }: ListPlace): string {
  return Buffer.from(JSON.stringify({ u: upstream, c: cursor })).toString('base64url');
}

/** The place, or nothing where the text is no cursor of ours. */
export function decodeListCursor(text: string): ListPlace | undefined {
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!isJsonObject(place)) return undefined;
    const [upstream, cursor] = [stringAt(place, 'u'), stringAt(place, 'c')];
    if (upstream === undefined) return undefined;
    return cursor === undefined ? { upstream } : { upstream, cursor };
  } catch {
    return undefined;
  }
}
