import type { AttemptStore, ClaimAttempts, ClaimedAttempt, Fence, WakeUp } from '../attempts.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { TaskRequest } from '../../protocol/model.ts';
import type { AttemptTable, QueuedAttempt } from './attempt-table.ts';
import { resultCodeOf } from './failures.ts';
import { roundLimit } from './limits.ts';
import type { Session, Tables } from './session.ts';
import { taskEvent } from './settlement.ts';
import { noteWoken } from './waking.ts';

/**
 * How long an orphan stays with who took it, before another look takes it again: time to judge and settle it.
 */
const ORPHAN_LEASE_MS = 30_000;

/** The end of an attempt whose handler went to sleep in good order. */
const PARKED = 'parked';

export function createAttemptStore({ commit, tables }: Session): AttemptStore {
  const { attempts } = tables;
  return {
    claim: (params) => commit.write((now) => claim(tables, now, params)),
    extend: (fence, leaseMs, ranMs) =>
      commit.write((now) => attempts.extend(fence, now + leaseMs, ranMs)),
    markDispatched: (fence) => commit.write((now) => dispatch(tables, now, fence)),
    journalUpstream: (fence, upstreamTask) =>
      commit.write(() => {
        if (attempts.held(fence) === undefined) return false;
        attempts.setUpstreamTask(fence, upstreamTask);
        return true;
      }),
    requeue: (fence, nextAttemptId, reason) =>
      commit.write((now) => {
        const task = tables.tasks.find(fence.taskId);
        const held = attempts.held(fence);
        if (task === undefined || held === undefined) return false;
        attempts.end(now, task.id, reason);
        attempts.enqueueNext(held, nextAttemptId);
        tables.events.append(now, taskEvent('task.requeued', { task, reason }));
        return true;
      }),
    listOrphaned: (owner, othersAreDead) =>
      commit.write((now) => {
        const leaseUntil = now + ORPHAN_LEASE_MS;
        return attempts
          .fenceOutOthers({ owner, othersAreDead, now, leaseUntil })
          .map((attempt) => ({ attempt, task: taskOf(tables, attempt.taskId) }));
      }),
    park: (fence, wakeUp) => commit.write((now) => park(tables, now, { fence, wakeUp })),
    wakeDue: (limit) =>
      commit.write((now) => {
        const woken = tables.sleeping.wakeDue(now, roundLimit(limit));
        for (const taskId of woken) noteWoken(tables, now, { taskId, reason: 'time' });
        return woken.length;
      }),
    nextWakeAt: () => commit.read(() => tables.sleeping.nextWakeAt()),
    listOf: (taskId) => commit.read(() => attempts.listOf(taskId)),
    queuedCount: () => commit.read(() => attempts.queuedCount()),
  };
}

function claim(tables: Tables, now: number, params: ClaimAttempts): readonly ClaimedAttempt[] {
  const { owner, leaseMs } = params;
  const picked = pickQueued(tables.attempts, now, params);
  const latest = picked.at(-1);
  if (latest !== undefined) tables.attempts.advanceTurn(latest.slot);
  return picked.map((queued) => {
    const attempt = tables.attempts.start(queued, { owner, leaseUntil: now + leaseMs });
    const request = readableRequest(tables, attempt.taskId);
    const task = taskOf(tables, attempt.taskId);
    return request === undefined ? { attempt, task } : { attempt, task, request };
  });
}

/** A request that cannot be read again is its own task's trouble: those that were picked beside it go on. */
function readableRequest({ tasks }: Tables, taskId: string): TaskRequest | undefined {
  try {
    return tasks.findRequest(taskId);
  } catch (thrown) {
    if (resultCodeOf(thrown) !== undefined) throw thrown;
    return undefined;
  }
}

/** The next in turn of each tool that has room, merged by turn. Looks at no more rows than it may take. */
function pickQueued(
  attempts: AttemptTable,
  now: number,
  { limit, runningPerTool, runningPerOtherTool, exceptUpstreams = [] }: ClaimAttempts,
): readonly QueuedAttempt[] {
  const most = roundLimit(limit);
  const running = attempts.runningByTool();
  const roomOf = (tool: string): number => {
    const cap = Object.hasOwn(runningPerTool, tool) ? runningPerTool[tool] : runningPerOtherTool;
    return cap === undefined ? most : Math.min(most, cap - (running.get(tool) ?? 0));
  };
  return attempts
    .queuedTools()
    .map((tool) => ({ tool, now, limit: roomOf(tool), exceptUpstreams }))
    .filter((wanted) => wanted.limit > 0)
    .flatMap((wanted) => attempts.listQueued(wanted))
    .toSorted((a, b) => a.slot - b.slot || a.seq - b.seq)
    .slice(0, most);
}

/**
 * At most one send per attempt, and per operation one that is not known to be absent: where the ledger does not
 * allow the move, the answer is that of a passed fence, and nothing is sent.
 */
function dispatch(tables: Tables, now: number, fence: Fence): boolean {
  const attempt = tables.attempts.held(fence);
  if (attempt === undefined) return false;
  if (attempt.dispatchedAt !== undefined) return true;
  const task = taskOf(tables, attempt.taskId);
  if (task.operationId !== undefined && !tables.operations.dispatch(now, task.operationId)) {
    return false;
  }
  tables.attempts.markDispatched(fence, now);
  tables.events.append(now, taskEvent('task.dispatched', { task }));
  return true;
}

interface Parking {
  readonly fence: Fence;
  readonly wakeUp: WakeUp;
}

/** What has happened already wakes it at once, so that no answer and no cancel falls between (Q3). */
function park(tables: Tables, now: number, { fence, wakeUp }: Parking): boolean {
  const { onAnswers, at, nextAttemptId } = wakeUp;
  invariant(onAnswers || at !== undefined, 'a parked attempt waits for something');
  const held = tables.attempts.held(fence);
  if (held === undefined) return false;
  const task = taskOf(tables, held.taskId);
  if (wakeUp.ranMs !== undefined) tables.attempts.setRanMs(fence, wakeUp.ranMs);
  tables.attempts.end(now, task.id, PARKED);
  tables.events.append(now, taskEvent('task.parked', { task, reason: waitsFor(wakeUp) }));
  const isAnswered = onAnswers && !tables.inputs.hasOpen(task.id);
  const isDue = at !== undefined && at <= now;
  if (isAnswered || isDue || task.cancelRequestedAt !== undefined) {
    tables.attempts.enqueueNext(held, nextAttemptId);
  } else {
    tables.sleeping.parkNext(held, wakeUp);
  }
  return true;
}

function waitsFor({ onAnswers, at }: WakeUp): string {
  if (at === undefined) return 'answers';
  return onAnswers ? 'answers_or_time' : 'time';
}

function taskOf(tables: Tables, taskId: string) {
  const task = tables.tasks.find(taskId);
  invariant(task !== undefined, 'an attempt has a task');
  return task;
}
