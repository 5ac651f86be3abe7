import type { Task } from '../../../protocol/model.ts';
import { draining, plainLimitReached, sharedLimitReached } from '../failures.ts';
import type { Reply } from '../reply.ts';
import type { CallSite } from './call-site.ts';
import type { RequestSite } from './request-site.ts';
import { inlineAnswer } from './inline-answer.ts';

/** What the caller of a plain call could do to let it run longer: the words differ by generation. */
function asTaskWords({ tool, generation }: CallSite): string | undefined {
  if (tool.mode !== 'task-optional') return undefined;
  if (generation === '2025-11-25') return 'call it as a task (params.task)';
  return generation === '2026-07-28'
    ? 'declare the extension io.modelcontextprotocol/tasks'
    : undefined;
}

/** A plain call met its limit: stop it upstream and say what is known. What another caller waits for goes on. */
export function endAtLimit(site: CallSite, task: Task): never {
  const isShared = site.face.receiver.isShared(task.id);
  site.face.handles.abandon(task.id, { stopUpstream: true });
  if (isShared) throw sharedLimitReached(site.tool, task);
  throw plainLimitReached(site.tool, task, asTaskWords(site));
}

/** Whether the caller stopped the request or is gone. Otherwise it is this process that gives up its waits. */
export const isStopped = ({ signal }: RequestSite): boolean =>
  signal.aborted && signal.reason !== 'closing';

/**
 * The caller of a plain call is gone or has stopped it. `cancelled` on 2025 is its explicit word, and reaches the
 * upstream. Otherwise a read is stopped, since nobody will see it; anything else finishes into the ledger (decision 1).
 */
export function endAbandoned(site: CallSite, task: Task): undefined {
  if (!isStopped(site)) throw draining();
  const explicit = site.signal.reason === 'cancelled' && site.generation !== '2026-07-28';
  site.face.handles.abandon(task.id, { stopUpstream: explicit || site.tool.effect === 'read' });
  return undefined;
}

/** Waits for the end of a plain call within its limit. */
export async function awaitPlain(site: CallSite, task: Task): Promise<Reply | undefined> {
  const { face, principal, tool, signal } = site;
  const waited = await face.receiver.wait(principal, task.id, {
    forMs: tool.plainLimitMs,
    signal,
    untilAsked: false,
  });
  if (waited === 'aborted') return endAbandoned(site, task);
  return waited === 'elapsed' ? endAtLimit(site, task) : inlineAnswer(site, task);
}
