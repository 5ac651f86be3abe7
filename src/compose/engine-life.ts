import { existsSync } from 'node:fs';
import type { Clock } from '../kernel/clock.ts';
import { messageOf, type Logger } from '../kernel/logger.ts';
import type { Task } from '../protocol/model.ts';
import type { Store } from '../stores/store.ts';
import type { TaskPosition } from '../stores/tasks.ts';
import type { UpstreamSets } from './upstream-sets.ts';

const PAGE = 200;

/** Every open task, whosever it is. */
export async function* openTasks({ tasks }: Store): AsyncGenerator<Task> {
  const where = { phase: 'open', withHandle: false, limit: PAGE } as const;
  for (let after: TaskPosition | undefined; ;) {
    const page = await tasks.list('system', after ? { ...where, after } : where);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = { createdAt: last.createdAt, id: last.id };
  }
}

/** What a process would leave undone if it ended now. */
export interface OpenWork {
  /** Upstreams that open tasks need. */
  readonly upstreams: ReadonlySet<string>;
  readonly tasks: number;
  /** Tasks that wait for a window of their project. */
  readonly waiting: number;
  /** Whether a sleeper has to be woken at a time, by this process. */
  readonly sleepers: boolean;
}

/**
 * A task needs this process while it runs, queues, or holds an upstream connection with a question open. One that is
 * parked in the store until somebody answers does not: the answer comes through a window, which starts an engine. One
 * that sleeps until a time does: nobody else would wake it.
 */
export async function readOpenWork(
  store: Store,
  sets: Pick<UpstreamSets, 'absent'>,
): Promise<OpenWork> {
  const absent = new Set(sets.absent());
  const upstreams = new Set<string>();
  let [tasks, waiting] = [0, 0];
  for await (const task of openTasks(store)) {
    tasks += 1;
    if (absent.has(task.upstream)) waiting += 1;
    else if (!(await isParked(store, task))) upstreams.add(task.upstream);
  }
  const sleepers = (await store.attempts.nextWakeAt()) !== undefined;
  return { upstreams, tasks, waiting, sleepers };
}

async function isParked({ attempts }: Store, { id }: Task): Promise<boolean> {
  return (await attempts.listOf(id)).some(({ state }) => state === 'parked');
}

export const isBusy = ({ upstreams, sleepers }: OpenWork): boolean =>
  upstreams.size > 0 || sleepers;

const LOOKS_PER_IDLE_TIME = 5;
const LOOK_MS_MIN = 20;
const LOOK_MS_MAX = 15_000;

export interface IdleWatch {
  readonly clock: Clock;
  readonly logger: Logger;
  /** After this time without a window and without work, `onIdle` is told. */
  readonly idleMs: number;
  /** A file that is there as long as the data directory is. */
  readonly witness: string;
  look(): Promise<'idle' | 'busy'>;
  onIdle(why: 'idle' | 'no_directory'): void;
}

/** The answer stops it. */
export function watchIdle(watch: IdleWatch): () => void {
  const { clock, logger, idleMs, witness, look, onIdle } = watch;
  const everyMs = Math.min(LOOK_MS_MAX, Math.max(LOOK_MS_MIN, idleMs / LOOKS_PER_IDLE_TIME));
  let idleSince = clock.monotonic();
  let stopped = false;
  const take = (what: 'idle' | 'busy'): void => {
    if (what === 'busy') idleSince = clock.monotonic();
    else if (clock.monotonic() - idleSince >= idleMs) end('idle');
  };
  const end = (why: 'idle' | 'no_directory'): void => {
    stopped = true;
    onIdle(why);
  };
  const round = async (): Promise<void> => {
    if (stopped) return;
    if (!existsSync(witness)) return end('no_directory');
    await look().then(take, (thrown: unknown) =>
      logger.warn('engine.look_failed', { problem: messageOf(thrown) }),
    );
    arm();
  };
  const arm = (): void => {
    if (!stopped) clock.after(everyMs, () => void round());
  };
  arm();
  return () => void (stopped = true);
}
