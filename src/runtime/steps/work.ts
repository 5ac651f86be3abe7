import { createDeferred } from '../../kernel/deferred.ts';
import type { Json } from '../../kernel/json.ts';
import type { Deed, DeedEnd, EndedFact } from './deed.ts';
import { journalValue } from './journal-value.ts';
import { errorToKeep, errorToThrow } from './step-error.ts';

/** The promise that a handler holds of a deed. */
export interface Outcome {
  readonly promise: Promise<Json | undefined>;
  /** Settles it by a fact: with a copy, so that nothing that the handler does to it changes what is remembered. */
  readonly deliver: Deed['deliver'];
  readonly refuse: Deed['refuse'];
}

export function createOutcome(): Outcome {
  const outcome = createDeferred<Json | undefined>();
  outcome.promise.catch(() => undefined); // a handler need not wait for everything that it began
  return {
    promise: outcome.promise,
    deliver({ value, error }: EndedFact) {
      if (error) outcome.reject(errorToThrow(error));
      else outcome.resolve(structuredClone(value));
      return Promise.resolve();
    },
    refuse: outcome.reject,
  };
}

/** Somebody else's function, whatever it does: its end. `answered`: it returned. */
export async function endOfWork(name: string, work: () => unknown): Promise<DeedEnd> {
  let returned: unknown;
  try {
    returned = await work();
  } catch (thrown) {
    return { error: errorToKeep(thrown) };
  }
  try {
    const value = journalValue(name, returned);
    return { answered: true, ...(value === undefined ? {} : { value }) };
  } catch (thrown) {
    return { answered: true, error: errorToKeep(thrown) };
  }
}
