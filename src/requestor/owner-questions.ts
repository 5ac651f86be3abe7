import type { JsonObject } from '../kernel/json.ts';
import {
  askKindOf,
  type AskKind,
  type InputAnswer,
  type InputMethod,
  type RpcError,
} from '../protocol/model.ts';
import { RPC_CODES } from '../protocol/names.ts';
import { passingResult } from './passing-result.ts';

/** A question to the owner of a call. */
export interface OwnerQuestion {
  readonly method: InputMethod;
  readonly params: JsonObject;
}

/** What became of it. `undeclared`: the creating request cannot be asked this kind; nobody saw it. */
export type OwnerReply =
  | { readonly kind: 'answer'; readonly answer: InputAnswer }
  | { readonly kind: 'undeclared' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'withdrawn' };

/** Asks the owner; resolves when all are answered, expired or withdrawn, in the order asked. */
export type AskOwner = (
  questions: readonly OwnerQuestion[],
  signal?: AbortSignal,
) => Promise<readonly OwnerReply[]>;

const KIND_WORDS: Readonly<Record<AskKind, string>> = {
  'elicitation-form': 'form elicitation',
  'elicitation-url': 'URL elicitation',
  sampling: 'sampling',
  roots: 'roots',
};

/** Asked for what the caller never declared: an undeclared elicitation mode is -32602 (G1-49), the rest is unknown. */
function undeclared({ method, params }: OwnerQuestion): RpcError {
  const kind = askKindOf(method, params);
  const code = method === 'elicitation/create' ? RPC_CODES.invalidParams : RPC_CODES.methodNotFound;
  return {
    code,
    message: `the caller of this call did not declare ${KIND_WORDS[kind]}`,
    data: { reason: 'undeclared' },
  };
}

/** An answer names our own task to us, as the protocol wants it to; to the peer that is somebody else's secret. */
const passingAnswer = (answer: InputAnswer): InputAnswer =>
  answer.kind === 'error' ? answer : { kind: 'result', result: passingResult(answer.result) };

/** What the peer is told. A question that nobody answered is never an accept. */
export function answerFor(question: OwnerQuestion, reply: OwnerReply): InputAnswer {
  if (reply.kind === 'answer') return passingAnswer(reply.answer);
  if (reply.kind === 'undeclared') return { kind: 'error', error: undeclared(question) };
  if (question.method === 'elicitation/create')
    return { kind: 'result', result: { action: 'cancel' } };
  const error = {
    code: RPC_CODES.internalError,
    message: 'nobody answered in time',
    data: { reason: reply.kind === 'expired' ? 'input_expired' : 'input_withdrawn' },
  };
  return { kind: 'error', error };
}

/** Answers as 2026-07-28 carries them: results by key. It has no place for errors, so one of them ends the round. */
export type InputResponses =
  | { readonly kind: 'responses'; readonly responses: JsonObject }
  | { readonly kind: 'refused'; readonly error: RpcError };

export function inputResponses(
  questions: readonly (readonly [key: string, question: OwnerQuestion])[],
  replies: readonly OwnerReply[],
): InputResponses {
  const responses: Record<string, JsonObject> = {};
  for (const [at, [key, question]] of questions.entries()) {
    const answer = answerFor(question, replies[at] ?? { kind: 'withdrawn' });
    if (answer.kind === 'result') responses[key] = answer.result;
    else if (question.method === 'elicitation/create') responses[key] = { action: 'cancel' };
    else return { kind: 'refused', error: answer.error };
  }
  return { kind: 'responses', responses };
}
