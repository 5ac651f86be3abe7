import { isJsonObject, stringAt } from '../../../kernel/json.ts';
import type { ResultReply } from '../../../protocol/codec.ts';

/** How an answer looks over HTTP beside its body. */
export interface HttpShape {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** A refusal for want of a scope goes out as 403 with the challenge that names it (T42); everything else is `ordinary`. */
export function shapeOf(body: ResultReply, ordinary: number): HttpShape {
  const data = body.kind === 'error' ? body.error.data : undefined;
  if (!isJsonObject(data) || data['reason'] !== 'insufficient_scope')
    return { status: ordinary, headers: {} };
  const scope = stringAt(data, 'scope') ?? '';
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
  return { status: 403, headers: { 'www-authenticate': challenge } };
}
