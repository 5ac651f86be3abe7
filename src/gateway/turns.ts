/** Runs changes of one thing one after the other, in the order asked, whatever became of those before. */
export interface Turns {
  take<T>(key: string, change: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    take(key, change) {
      const before = last.get(key) ?? Promise.resolve();
      const done = before.then(change, change);
      last.set(key, done);
      const tidy = (): void => void (last.get(key) === done && last.delete(key));
      done.then(tidy, tidy);
      return done;
    },
  };
}
