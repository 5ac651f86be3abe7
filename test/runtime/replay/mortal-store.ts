import type { Store } from '../../../src/stores/store.ts';

/** When a process dies: at that write of those that matter, counted from 0, before or after it has become durable. */
export interface StoreDeath {
  readonly atWrite: number;
  readonly durable: boolean;
}

/** Writes at whose edges a journalled call can be torn apart. */
const WRITES: readonly string[] = [
  'journal.append',
  'journal.dispatchEffect',
  'journal.recordReceipt',
  'inputs.ask',
  'attempts.claim',
  'attempts.park',
  'tasks.settle',
];

export interface MortalStore {
  readonly store: Store;
  isDead(): boolean;
  /** Its time has come, whatever it is doing. */
  kill(): void;
}

/**
 * A store as a process sees it that dies at one of its writes: from there on it is never answered again, and nothing of
 * it is written. What was written before is in the real store.
 */
export function createMortalStore(real: Store, death: StoreDeath | undefined): MortalStore {
  let writes = 0;
  let dead = false;
  const never = (): Promise<never> => new Promise(() => undefined);

  const mortal =
    (name: string, method: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]): Promise<unknown> => {
      if (dead) return never();
      if (!WRITES.includes(name)) return alive(await method(...args));
      const dies = death?.atWrite === writes;
      writes += 1;
      if (!dies) return alive(await method(...args));
      dead = true;
      if (death.durable) await method(...args);
      return never();
    };
  /** An answer that comes after the death reaches nobody. */
  const alive = <T>(answer: T): T | Promise<never> => (dead ? never() : answer);
  const aggregate = <T extends object>(kind: string, port: T): T =>
    Object.fromEntries(
      Object.entries(port).map(([name, method]) => [
        name,
        mortal(`${kind}.${name}`, method as (...args: never[]) => Promise<unknown>),
      ]),
    ) as T;

  const store: Store = {
    ...real,
    tasks: aggregate('tasks', real.tasks),
    attempts: aggregate('attempts', real.attempts),
    inputs: aggregate('inputs', real.inputs),
    operations: aggregate('operations', real.operations),
    journal: aggregate('journal', real.journal),
  };
  return { store, isDead: () => dead, kill: () => void (dead = true) };
}
