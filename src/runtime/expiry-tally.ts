import { classOfQuestion } from '../protocol/field-class.ts';
import type { FieldClass, InputPolicy } from '../protocol/model.ts';

/** Keys that were counted lately: two parts of a process may find the same question expired. */
const REMEMBERED_MAX = 4096;

export type ByFieldClass = Readonly<Record<FieldClass, number>>;

/** Counts questions that nobody answered in time, by the most sensitive class of what they asked for. */
export interface ExpiryTally {
  count(key: string, policy: InputPolicy | undefined): void;
  byClass(): ByFieldClass;
}

const noneOfAnyClass = (): Record<FieldClass, number> => ({
  public: 0,
  personal: 0,
  secret: 0,
  payment: 0,
  credential: 0,
});

export function createExpiryTally(): ExpiryTally {
  const counts = noneOfAnyClass();
  const counted = new Set<string>();
  return {
    count(key, policy) {
      if (counted.has(key)) return;
      counted.add(key);
      const [oldest] = counted;
      if (counted.size > REMEMBERED_MAX && oldest !== undefined) counted.delete(oldest);
      counts[classOfQuestion(policy)] += 1;
    },
    byClass: () => ({ ...counts }),
  };
}

/** Questions by class, of counts by policy. */
export function sumByClass(
  counts: readonly { readonly policy?: InputPolicy; readonly count: number }[],
): ByFieldClass {
  const sums = noneOfAnyClass();
  for (const { policy, count } of counts) sums[classOfQuestion(policy)] += count;
  return sums;
}
