import type { DeedEnd, Waiting } from './deed.ts';
import type { OpenDeed } from './history.ts';

/** A deed that has come to its end, which is not written yet. */
export interface DoneDeed {
  readonly position: number;
  readonly open: OpenDeed;
  readonly end: DeedEnd;
}

/** When a run that only waits has to go on. */
export interface Wake {
  readonly onAnswers: boolean;
  readonly at?: number;
}

/** What of a run is under way: work in this process, and waits in the store. */
export interface Pursuits {
  start(position: number, open: OpenDeed): void;
  /** Ends that came since the last time: of works in the order in which they came, then of waits. */
  takeDone(): Promise<readonly DoneDeed[]>;
  /** How many works are under way; of that kind alone where one is named. */
  working(kind?: 'effect'): number;
  /** Nothing where nothing waits. */
  wake(): Wake | undefined;
  /** Something may have happened that a wait is for. */
  lookAgain(): void;
  /** Forgets the waits, and tells each. */
  giveUpWaits(tell: (open: OpenDeed) => void): void;
  /** Forgets everything. What still comes goes to `late`. */
  close(): void;
}

export interface PursuitsOptions {
  /** There is something to take. */
  readonly ring: () => void;
  readonly late: (done: DoneDeed) => void;
}

interface Wait {
  readonly open: OpenDeed;
  readonly waiting: Waiting;
}

export function createPursuits({ ring, late }: PursuitsOptions): Pursuits {
  const working = new Map<number, OpenDeed>();
  const waits = new Map<number, Wait>();
  let done: DoneDeed[] = [];
  let stale = false;
  let closed = false;

  const finish = (ended: DoneDeed): void => {
    working.delete(ended.position);
    if (closed) return late(ended);
    done.push(ended);
    ring();
  };
  /** In order of position, so that what ended while nobody looked ends in one order. */
  const endedWaits = async (): Promise<readonly DoneDeed[]> => {
    if (!stale) return [];
    stale = false;
    const ended: DoneDeed[] = [];
    for (const [position, { open, waiting }] of waits) {
      const end = await waiting.look();
      if (end === undefined) continue;
      waits.delete(position);
      ended.push({ position, open, end });
    }
    return ended;
  };

  return {
    start(position, open) {
      const pursuit = open.deed.pursue(open.begun, open.replayed);
      if (pursuit.kind === 'waiting') {
        waits.set(position, { open, waiting: pursuit });
        stale = true;
        return;
      }
      working.set(position, open);
      void pursuit.done.then((end) => finish({ position, open, end }));
    },
    async takeDone() {
      const waited = await endedWaits();
      const taken = [...done, ...waited];
      done = [];
      return taken;
    },
    working: (kind) =>
      kind === undefined
        ? working.size
        : Array.from(working.values()).filter(({ deed }) => deed.kind === kind).length,
    wake() {
      if (waits.size === 0) return undefined;
      const all = Array.from(waits.values(), ({ waiting }) => waiting);
      const times = all.flatMap(({ at }) => at ?? []);
      const onAnswers = all.some((waiting) => waiting.onAnswers);
      return times.length === 0 ? { onAnswers } : { onAnswers, at: Math.min(...times) };
    },
    lookAgain() {
      if (waits.size === 0) return;
      stale = true;
      ring();
    },
    giveUpWaits(tell) {
      for (const { open } of waits.values()) tell(open);
      waits.clear();
    },
    close() {
      closed = true;
      waits.clear();
      done = [];
    },
  };
}
