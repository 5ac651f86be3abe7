import { afterEach, beforeEach } from 'vitest';
import type { Clock } from '../../kernel/clock.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Store } from '../store.ts';

/** A clock that stands still until it is told to move, also backwards. Its timers never fire. */
export interface SetClock extends Clock {
  set(now: number): void;
  advance(byMs: number): void;
}

export const SCENE_START = Date.UTC(2026, 11, 1);

export function createSetClock(): SetClock {
  let now = SCENE_START;
  return {
    now: () => now,
    monotonic: () => now - SCENE_START,
    after: () => ({ cancel: () => undefined }),
    set: (to) => {
      now = to;
    },
    advance: (byMs) => {
      now += byMs;
    },
  };
}

/** A fresh, empty store with a settable clock: what each implementation hands to the contract suites. */
export interface OpenedScene {
  readonly store: Store;
  readonly clock: SetClock;
  /** Closes and opens the same records again; nothing where they die with the store. */
  readonly reopen?: () => Promise<Store>;
  /** Closes the store and takes its records away. */
  readonly dispose: () => Promise<void>;
}

export type OpenScene = () => Promise<OpenedScene>;

/** The scene of the test that runs now. */
export interface Scene {
  readonly store: Store;
  readonly clock: SetClock;
  /** Whether records outlive the store. */
  reopen(): Promise<void>;
}

/** Opens a scene for each test of the surrounding suite. */
export function useScene(open: OpenScene): Scene {
  let opened: OpenedScene | undefined;
  let store: Store | undefined;
  beforeEach(async () => {
    opened = await open();
    store = opened.store;
  });
  afterEach(() => opened?.dispose());
  const current = (): OpenedScene => {
    invariant(opened !== undefined, 'a scene is used inside a test');
    return opened;
  };
  return {
    get store() {
      return store ?? current().store;
    },
    get clock() {
      return current().clock;
    },
    reopen: async () => {
      store = (await current().reopen?.()) ?? current().store;
    },
  };
}
