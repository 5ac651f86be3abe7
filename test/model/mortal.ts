import type { Clock } from '../../src/kernel/clock.ts';
import type { Store } from '../../src/stores/store.ts';

/** Records and time as one process has them: after its death it reads and writes nothing, and no timer of it fires. */
export interface Mortal {
  readonly store: Store;
  readonly clock: Clock;
  die(): void;
}

const NEVER = new Promise<never>(() => undefined);

type Methods = Readonly<Record<string, (...asked: never[]) => unknown>>;

function mortalPort<Port extends object>(port: Port, isDead: () => boolean): Port {
  const methods = Object.entries(port as unknown as Methods).map(([name, method]) => [
    name,
    (...asked: never[]) => (isDead() ? NEVER : method(...asked)),
  ]);
  return Object.fromEntries(methods) as Port;
}

export function createMortal(shared: Store, clock: Clock): Mortal {
  let dead = false;
  const mortal = <Port extends object>(port: Port): Port => mortalPort(port, () => dead);
  return {
    store: {
      ...shared,
      tasks: mortal(shared.tasks),
      attempts: mortal(shared.attempts),
      inputs: mortal(shared.inputs),
      operations: mortal(shared.operations),
      journal: mortal(shared.journal),
      artifacts: mortal(shared.artifacts),
      events: mortal(shared.events),
      manifests: mortal(shared.manifests),
      close: () => Promise.resolve(),
    },
    clock: {
      now: clock.now,
      monotonic: clock.monotonic,
      after: (delayMs, fire) => clock.after(delayMs, () => (dead ? undefined : fire())),
    },
    die: () => void (dead = true),
  };
}
