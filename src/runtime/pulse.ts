/** Tells those who wait in one run that something outside of it may have happened. Says nothing about what. */
export interface Pulse {
  beat(): void;
  /** Returns the way to stop. */
  listen(listener: () => void): () => void;
}

export function createPulse(): Pulse {
  const listeners = new Set<() => void>();
  return {
    beat() {
      for (const listener of Array.from(listeners)) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
