import type { Clock, Timer } from './clock.ts';

/** A clock that stands still until it is told to move: for tests and for replaying a history from a seed. */
export interface ManualClock extends Clock {
  /** Moves both times on and fires what falls due on the way, in order of due time, then of arming. */
  advance(ms: number): void;
  /** Moves the wall time alone, forward or back: what a time server or a person does to a machine. No timer fires. */
  jump(ms: number): void;
  /** How many timers are armed. */
  armed(): number;
}

interface Armed {
  readonly dueAt: number;
  readonly order: number;
  readonly fire: () => void;
}

/** `startAt`: the wall time to begin with, in ms since the epoch. */
export function createManualClock(startAt: number = Date.UTC(2026, 0, 1)): ManualClock {
  const timers = new Set<Armed>();
  let elapsedMs = 0;
  let jumpedMs = 0;
  let order = 0;
  const nextDue = (untilMs: number): Armed | undefined => {
    let next: Armed | undefined;
    for (const timer of timers) {
      if (timer.dueAt > untilMs) continue;
      if (
        !next ||
        timer.dueAt < next.dueAt ||
        (timer.dueAt === next.dueAt && timer.order < next.order)
      )
        next = timer;
    }
    return next;
  };
  return {
    now: () => startAt + elapsedMs + jumpedMs,
    monotonic: () => elapsedMs,
    after(delayMs, fire): Timer {
      const timer: Armed = { dueAt: elapsedMs + Math.max(0, delayMs), order: order++, fire };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    advance(ms) {
      const untilMs = elapsedMs + ms;
      for (let due = nextDue(untilMs); due; due = nextDue(untilMs)) {
        timers.delete(due);
        elapsedMs = Math.max(elapsedMs, due.dueAt);
        due.fire();
      }
      elapsedMs = untilMs;
    },
    jump(ms) {
      jumpedMs += ms;
    },
    armed: () => timers.size,
  };
}
