/** Listeners of one kind of event. One that throws disturbs neither the others nor what it hears next. */
export interface Listeners<Event> {
  /** Returns the way to stop. */
  add(listener: (event: Event) => void): () => void;
  tell(event: Event): void;
}

/** `onFailed`: hears what a listener throws. */
export function createListeners<Event>(onFailed: (thrown: unknown) => void): Listeners<Event> {
  const listeners = new Set<(event: Event) => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell(event) {
      for (const listener of Array.from(listeners)) {
        try {
          listener(event);
        } catch (thrown) {
          onFailed(thrown);
        }
      }
    },
  };
}
