import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import type { ResultReply } from '../../../protocol/codec.ts';
import type { Task } from '../../../protocol/model.ts';
import { DEDUPLICATED_META, NOTE_META, OPERATION_ID_META } from '../../../protocol/names.ts';
import { withMeta } from '../../../protocol/result-meta.ts';
import { guardWords } from '../../../runtime/idempotency/repeat-words.ts';
import type { RepeatedBy } from '../../../runtime/receiver.ts';
import type { Reply } from '../reply.ts';

/** A call that has a record: its own, or that of the call that it repeats. */
export interface StartedCall {
  readonly task: Task;
  /** What the repeat was recognized by; absent where the call is new. */
  readonly repeated?: RepeatedBy;
}

/** What says in an answer that nothing new was begun for it (D4), and how that could be had. */
function marksOf({ task: { operationId }, repeated }: StartedCall): JsonObject {
  return {
    [DEDUPLICATED_META]: true,
    ...(operationId === undefined ? {} : { [OPERATION_ID_META]: operationId }),
    ...(repeated === 'guard' ? { [NOTE_META]: guardWords(operationId) } : {}),
  };
}

/** An error has no `_meta`: the marks go into its data, where that can carry them. */
function marked(body: ResultReply, marks: JsonObject): ResultReply {
  if (body.kind === 'result') return { kind: 'result', result: withMeta(body.result, marks) };
  const { data = {} } = body.error;
  if (!isJsonObject(data)) return body;
  return { kind: 'error', error: { ...body.error, data: { ...data, ...marks } } };
}

/** The answer of a repeat, marked as one; any other as it is. */
export function markRepeat<R extends Reply | undefined>(reply: R, call: StartedCall): R {
  if (reply === undefined || call.repeated === undefined) return reply;
  return { ...reply, body: marked(reply.body, marksOf(call)) };
}
