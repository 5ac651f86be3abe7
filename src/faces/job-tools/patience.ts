import { isIdentified, type Principal } from '../../identity/principal.ts';
import type { Clock } from '../../kernel/clock.ts';

/** How long a lesson counts: hosts are configured anew, and people stop calls for reasons of their own. */
const REMEMBERED_MS = 10 * 60_000;
const REMEMBERED_MAX = 1_000;
/** A host that gave up is answered at this part of the time that it had waited. */
const SHARE = 0.6;
/** Sooner than that people press Stop. A deadline so short is believed when it comes twice. */
const DOUBTFUL_MS = 2_000;
/** How far two deadlines of the same host may lie apart. */
const SPREAD = 0.2;
/** Answering sooner than that would make a job of every call. */
const LEAST_MS = 300;

/**
 * How long callers wait before they give up. Nobody tells us: a host with a deadline below our window would never see a
 * handle (T4, L3). When one has given up, its next calls are answered before that time.
 */
export interface Patience {
  /** The time that this caller may be kept, at most `wantedMs`. */
  within(principal: Principal, wantedMs: number): number;
  /** It gave up after so long. */
  gaveUp(principal: Principal, afterMs: number): void;
}

interface Lesson {
  /** When it last gave up, from the start of its request. */
  readonly afterMs: number;
  readonly believed: boolean;
  readonly until: number;
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= SPREAD * Math.max(a, b);

/** Callers who cannot be told apart teach nothing: one of them would shorten the waits of all. */
export function createPatience(clock: Clock): Patience {
  const lessons = new Map<string, Lesson>();
  const lessonOf = ({ key }: Principal): Lesson | undefined => {
    const lesson = lessons.get(key);
    if (!lesson || lesson.until > clock.monotonic()) return lesson;
    lessons.delete(key);
    return undefined;
  };
  return {
    within(principal, wantedMs) {
      const lesson = lessonOf(principal);
      if (!lesson?.believed) return wantedMs;
      return Math.min(wantedMs, Math.max(LEAST_MS, Math.floor(lesson.afterMs * SHARE)));
    },
    gaveUp(principal, afterMs) {
      if (!isIdentified(principal)) return;
      const before = lessonOf(principal);
      const believed =
        afterMs >= DOUBTFUL_MS || (before && isNear(before.afterMs, afterMs)) === true;
      if (before?.believed && !believed) return;
      lessons.delete(principal.key);
      lessons.set(principal.key, { afterMs, believed, until: clock.monotonic() + REMEMBERED_MS });
      const [oldest] = lessons.keys();
      if (lessons.size > REMEMBERED_MAX && oldest !== undefined) lessons.delete(oldest);
    },
  };
}
