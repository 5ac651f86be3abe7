import { sleep, type Clock } from '../../kernel/clock.ts';
import { createDeferred } from '../../kernel/deferred.ts';
import type { Slot } from '../engine.ts';

export interface PlacesOptions {
  readonly slots: number;
  readonly parkedMax: number;
  /** A slot may have become free. */
  readonly onFree: () => void;
}

interface Place {
  readonly tool: string;
  parked: boolean;
}

/** Who runs in this process, and who waits for input without taking up a slot. */
export interface Places {
  take(tool: string): { readonly slot: Slot; readonly leave: () => void };
  free(): number;
  runningCount(): number;
  parkedCount(): number;
  /**
   * The caps per tool with what is parked here added: the store counts a parked attempt as running, and a question
   * that nobody answers must not keep others of the same tool waiting.
   */
  withParked(caps: Readonly<Record<string, number>>): Readonly<Record<string, number>>;
  /** Resolves when everybody has left, at the latest after `forMs`. */
  emptied(clock: Clock, forMs: number): Promise<void>;
}

export function createPlaces({ slots, parkedMax, onFree }: PlacesOptions): Places {
  const taken = new Set<Place>();
  let empty = createDeferred<void>();
  const parkedCount = (): number => Array.from(taken).filter((place) => place.parked).length;
  const runningCount = (): number => taken.size - parkedCount();

  const slotOf = (place: Place): Slot => ({
    park() {
      if (place.parked) return true;
      if (!taken.has(place) || parkedCount() >= parkedMax) return false;
      place.parked = true;
      onFree();
      return true;
    },
    unpark() {
      place.parked = false;
    },
  });

  return {
    take(tool) {
      const place: Place = { tool, parked: false };
      taken.add(place);
      const leave = (): void => {
        taken.delete(place);
        if (taken.size === 0) {
          empty.resolve();
          empty = createDeferred();
        }
        onFree();
      };
      return { slot: slotOf(place), leave };
    },
    free: () => Math.max(0, slots - runningCount()),
    runningCount,
    parkedCount,
    withParked(caps) {
      const raised: Record<string, number> = { ...caps };
      for (const { tool, parked } of taken) {
        const cap = raised[tool];
        if (parked && cap !== undefined) raised[tool] = cap + 1;
      }
      return raised;
    },
    async emptied(clock, forMs) {
      if (taken.size === 0) return;
      const waited = new AbortController();
      await Promise.race([empty.promise, sleep(clock, forMs, waited.signal)]);
      waited.abort();
    },
  };
}
