import type { CliIo } from './io.ts';

export interface StopRequest {
  readonly asked: Promise<void>;
  release(): void;
}

/**
 * The first signal asks for an orderly end; `onAsked` may say so. From then on a signal does what it does by itself: it
 * ends the process.
 */
export function listenForStop(io: Pick<CliIo, 'onSignal'>, onAsked: () => void): StopRequest {
  const releases: (() => void)[] = [];
  const release = (): void => {
    for (const each of releases.splice(0)) each();
  };
  const asked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      releases.push(
        io.onSignal(signal, () => {
          release();
          onAsked();
          resolve();
        }),
      );
  });
  return { asked, release };
}
