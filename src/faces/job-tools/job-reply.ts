import { isIdentified } from '../../identity/principal.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { TaskView } from '../../protocol/codec.ts';
import { OWN_PREFIX } from '../../protocol/names.ts';
import { withMeta } from '../../protocol/result-meta.ts';
import type { RequestSite } from '../mcp/call/request-site.ts';
import type { Delivery, Reply } from '../mcp/reply.ts';
import { JOB_MEMBER } from './job-facts.ts';

/** Names the job in the `_meta` of an answer that is a tool's own. */
const JOB_META = `${OWN_PREFIX}job`;

/** An answer in our own words: text for a model, facts for a program. */
export interface Said {
  readonly words: readonly string[];
  readonly facts: JsonObject;
  readonly isError?: boolean;
}

/** Our words come first and stand alone: what follows in the same answer is somebody else's. */
export function sayResult({ words, facts, isError = false }: Said): JsonObject {
  return {
    content: [{ type: 'text', text: words.join('\n\n') }],
    structuredContent: { [JOB_MEMBER]: facts },
    ...(isError ? { isError } : {}),
  };
}

export const withJobMeta = (result: JsonObject, facts: JsonObject): JsonObject =>
  withMeta(result, { [JOB_META]: facts });

/**
 * What a helper cannot do, said as a result of the tool: a model reads it and can do better, where an error of the
 * protocol would only end its turn.
 */
export const refusal = (words: string): JsonObject => ({
  content: [{ type: 'text', text: words }],
  isError: true,
});

/** One answer for unknown, expired and foreign ids alike, down to the byte (T13). */
export const noSuchJob = (): JsonObject =>
  refusal(
    'There is no such job: the id is unknown, or its record has expired. Take the id from the answer of the call ' +
      'that started it, character by character.',
  );

/** Records that the handle was written, once; a wait for a job whose handle is out records nothing. */
function noteHandle({ face }: RequestSite, { task }: TaskView): void {
  if (task.handle !== 'given') face.handles.given(task.id);
}

/** An answer that names a job; `more` also hears what became of it. */
export function jobReply(
  site: RequestSite,
  view: TaskView,
  { result, more }: { readonly result: JsonObject; readonly more?: Reply['onDelivery'] },
): Reply {
  const onDelivery = (delivery: Delivery): void => {
    if (delivery === 'written') noteHandle(site, view);
    more?.(delivery);
  };
  return { body: { kind: 'result', result }, onDelivery };
}

/**
 * The caller of a call went away before its handle was written (decision 1). What was not sent is abandoned. What was
 * sent goes on, and an owner who can list finds it and comes back (L4); a read is stopped, since it can be made again
 * (G1-73, G2-91).
 */
export function cutOff({ face, principal }: RequestSite, { task }: TaskView): void {
  const isRead = task.effect === 'read';
  const keepHandle = !isRead && isIdentified(principal);
  face.handles.abandon(task.id, { stopUpstream: isRead, keepHandle });
}

/** A session that ends says nothing of how long its host waits. */
export function noteCut({ face, principal, signal }: RequestSite, afterMs: number): void {
  if (signal.reason !== 'ended') face.patience.gaveUp(principal, afterMs);
}
