import { newId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import { systemRandom } from '../../kernel/random.ts';
import type { Json } from '../../kernel/json.ts';
import type { Outcome, Task } from '../../protocol/model.ts';
import type { Fence } from '../attempts.ts';
import type { NewInput } from '../inputs.ts';
import type { JournalFact, NewEffect } from '../journal.ts';
import type { Store } from '../store.ts';
import type {
  CreatedTask,
  CreateTask,
  NewTask,
  OpenLimits,
  RepeatGuard,
  SettleTask,
  StartClaim,
} from '../tasks.ts';
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
  readonly claim?: StartClaim;
  readonly guard?: RepeatGuard;
};

/** A create of a consequential call unless the draft says otherwise; a read gets no operation. */
export function draftTask(draft: Draft = {}): CreateTask {
  const { by = ALICE, request, limits, claim, guard, ...members } = draft;
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
    ...(effect === 'read'
      ? {}
      : {
          operation: {
            id,
            effect,
            argumentsDigest: (claim ?? guard)?.fingerprint ?? `digest of ${id}`,
          },
        }),
    ...(claim ? { claim } : {}),
    ...(guard ? { guard } : {}),
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

export type ExistingCall = Extract<CreatedTask, { readonly kind: 'existing' }>;

/** Starts a call that was made before. */
export async function givenExisting(store: Store, draft: Draft): Promise<ExistingCall> {
  const created = await store.tasks.create(draftTask(draft));
  invariant(created.kind === 'existing', `the call was made before, not ${created.kind}`);
  return created;
}

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

/** A question that a page has to confirm, with the hash of its confirmation. */
export const pageQuestion = (key: string, confirmationHash: string, openMs = 10_000): NewInput => ({
  key,
  method: 'elicitation/create',
  params: { mode: 'url', message: `about ${key}`, url: 'https://pay.example/', elicitationId: key },
  openMs,
  confirmationHash,
});

export const answerTo = (key: string, value = 'yes') =>
  ({
    key,
    answer: { kind: 'result', result: { action: 'accept', content: { value } } },
  }) as const;

export const freshAttemptId = (): string => newId('attempt', systemRandom);

/** An effect of a handler, with a row of its own in the ledger. */
export function effectOf({ operationId }: Task, name: string): NewEffect {
  invariant(operationId !== undefined, 'what has effects is no read');
  const id = newId('operation', systemRandom);
  const argumentsDigest = `digest of ${id}`;
  return { id, effect: 'consequential', argumentsDigest, name, parentId: operationId };
}

/** A step that began; an effect where an operation is named. */
export const begun = (position: number, name: string, operationId?: string): JournalFact => ({
  type: 'begun',
  position,
  name,
  ...(operationId === undefined ? { kind: 'step' } : { kind: 'effect', operationId }),
});

export const ended = (position: number, of: number, value?: Json): JournalFact => ({
  type: 'ended',
  position,
  of,
  ...(value === undefined ? {} : { value }),
});

/** A running task whose first effect was sent, as the first fact of its journal. */
export async function givenEffect(store: Store) {
  const running = await givenRunning(store);
  const effect = effectOf(running.task, 'pay');
  await store.journal.dispatchEffect(running.fence, effect, begun(0, 'pay', effect.id));
  return { ...running, effect };
}

/** What happened, oldest first, as `type` or `type reason`. */
export async function storyOf(store: Store, taskId: string): Promise<readonly string[]> {
  const events = await store.events.list({ limit: 1000, taskId });
  return events.map(({ type, reason }) => (reason === undefined ? type : `${type} ${reason}`));
}
