import type { OpenLimits } from '../stores/tasks.ts';
import type { Call } from './receiver.ts';

export type Admitted =
  | { readonly kind: 'admitted'; readonly limits: OpenLimits }
  | { readonly kind: 'refused'; readonly reason: string; readonly retryAfterMs?: number };

/** Says yes or no to a new call before anything is written; limits by count are checked inside the transaction. */
export interface Admission {
  admit(call: Call): Admitted;
}

/** Fixed limits: the defaults of architecture §7, with those of the tool that is called. */
export function createFixedAdmission(limits: OpenLimits): Admission {
  return { admit: ({ tool }) => ({ kind: 'admitted', limits: { ...limits, ...queueOf(tool) } }) };
}

const queueOf = ({ queueMax, concurrency }: Call['tool']): Partial<OpenLimits> =>
  queueMax === undefined ? {} : { queuedOfTool: queueMax, placesOfTool: concurrency };
