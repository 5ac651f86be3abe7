import { messageOf, type Logger } from '../kernel/logger.ts';

/** What has been started and must be ended, last first. */
export interface Teardown {
  /** `end` gets the time that it may take, in ms. */
  add(name: string, end: (graceMs: number) => Promise<void> | void): void;
  /** Ends everything, each step although one before it failed. Further calls wait for the first. */
  run(graceMs: number): Promise<void>;
}

export function createTeardown(logger: Pick<Logger, 'error'>): Teardown {
  const steps: {
    readonly name: string;
    readonly end: (graceMs: number) => Promise<void> | void;
  }[] = [];
  let running: Promise<void> | undefined;
  const runAll = async (graceMs: number): Promise<void> => {
    for (const { name, end } of steps.toReversed()) {
      try {
        await end(graceMs);
      } catch (error) {
        logger.error('stop.step_failed', { step: name, problem: messageOf(error) });
      }
    }
  };
  return {
    add: (name, end) => void steps.push({ name, end }),
    run: (graceMs) => (running ??= runAll(graceMs)),
  };
}
