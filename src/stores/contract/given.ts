import { newId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import { systemRandom } from '../../kernel/random.ts';
import type { Outcome, Task } from '../../protocol/model.ts';
import type { Fence } from '../attempts.ts';
import type { NewInput } from '../inputs.ts';
import type { Store } from '../store.ts';
import type { CreateTask, NewTask, OpenLimits, SettleTask } from '../tasks.ts';
import type { Person } from './people.ts';
import { ALICE } from './people.ts';

/** What a test starts from: drafts with sensible members, and records made of them. */

export const NO_LIMITS: OpenLimits = { perPrincipal: 1e6, perTenant: 1e6, total: 1e6 };
export const TTL_MS = 60_000;
export const LEASE_MS = 15_000;
export const BOOT = 'boot_one';

export type Draft = Partial<NewTask> & {
  readonly by?: Person;
  readonly request?: CreateTask['request'];
  readonly limits?: OpenLimits;
};

/** A create of a consequential call unless the draft says otherwise; a read gets no operation. */
export function draftTask({ by = ALICE, request, limits, ...members }: Draft = {}): CreateTask {
  const effect = members.effect ?? 'consequential';
  const id = newId('operation', systemRandom);
  const task: NewTask = {
    id: newId('task', systemRandom),
    ...by,
    origin: '2025-11-25',
    handle: 'pending',
    upstream: 'everything',
    tool: 'longRunningOperation',
    effect,
    ttlMs: TTL_MS,
    pollIntervalMs: 1000,
    asks: ['elicitation-form'],
    ...members,
    ...(effect === 'read' ? {} : { operationId: id }),
  };
  return {
    task,
    request: request ?? { arguments: { duration: 10 }, meta: {} },
    ...(effect === 'read' ? {} : { operation: { id, effect, argumentsDigest: `digest of ${id}` } }),
    attemptId: newId('attempt', systemRandom),
    limits: limits ?? NO_LIMITS,
  };
}

export async function givenTask(store: Store, draft: Draft = {}): Promise<Task> {
  const created = await store.tasks.create(draftTask(draft));
  invariant(created.kind === 'created', 'the limits let the task in');
  return created.task;
}

export interface RunningTask {
  readonly task: Task;
  readonly fence: Fence;
}

/** A task whose first attempt was claimed. Claims everything that waits. */
export async function givenRunning(store: Store, draft: Draft = {}): Promise<RunningTask> {
  const task = await givenTask(store, draft);
  return { task, fence: await givenClaim(store, task.id) };
}

export async function givenClaim(store: Store, taskId: string, owner = BOOT): Promise<Fence> {
  const claimed = await store.attempts.claim({
    owner,
    leaseMs: LEASE_MS,
    limit: 200,
    runningPerTool: {},
  });
  const attempt = claimed.map((one) => one.attempt).find((one) => one.taskId === taskId);
  invariant(attempt !== undefined, 'the task had an attempt that waited');
  return { taskId, attemptId: attempt.id, epoch: attempt.epoch };
}

export const RESULT: Outcome = {
  kind: 'result',
  result: { content: [{ type: 'text', text: 'x' }] },
};

/** A settlement by an answer of the upstream unless members say otherwise. */
export function settlement(taskId: string, members: Partial<SettleTask> = {}): SettleTask {
  return { taskId, outcome: RESULT, callEnd: 'answered', reason: 'answered', ...members };
}

export const question = (key: string, openMs = 10_000): NewInput => ({
  key,
  method: 'elicitation/create',
  params: { message: `about ${key}`, requestedSchema: { type: 'object', properties: {} } },
  openMs,
});

export const answerTo = (key: string, value = 'yes') =>
  ({
    key,
    answer: { kind: 'result', result: { action: 'accept', content: { value } } },
  }) as const;

export const freshAttemptId = (): string => newId('attempt', systemRandom);

/** What happened, oldest first, as `type` or `type reason`. */
export async function storyOf(store: Store, taskId: string): Promise<readonly string[]> {
  const events = await store.events.list({ limit: 1000, taskId });
  return events.map(({ type, reason }) => (reason === undefined ? type : `${type} ${reason}`));
}
