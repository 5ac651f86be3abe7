/** Runs one piece of work at a time; requests that come meanwhile are joined into one more run after it. */
export interface Rounds {
  request(): void;
  /** Resolves when no round runs. */
  idle(): Promise<void>;
}

/** `work` must not reject. */
export function createRounds(work: () => Promise<void>): Rounds {
  let current: Promise<void> | undefined;
  let again = false;
  const play = async (): Promise<void> => {
    do {
      again = false;
      await work();
    } while (again);
    current = undefined;
  };
  return {
    request() {
      again = true;
      current ??= play();
    },
    idle: () => current ?? Promise.resolve(),
  };
}
