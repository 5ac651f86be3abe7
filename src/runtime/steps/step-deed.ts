import { crashPoint } from '../../kernel/crash-point.ts';
import type { StepSite } from './context.ts';
import type { Deed } from './deed.ts';
import { endOfWork, type Outcome } from './work.ts';

export interface StepDeedOptions {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly work: (at: StepSite) => unknown;
  readonly outcome: Outcome;
}

/** Work whose end is remembered. A death in the middle leaves it open, and it is done again. */
export function createStepDeed({ name, signal, work, outcome }: StepDeedOptions): Deed {
  return {
    kind: 'step',
    name,
    plan: () => Promise.resolve({}),
    pursue(_begun, interrupted) {
      crashPoint('step-begun');
      const done = endOfWork(name, () => work({ signal, interrupted })).then((end) => {
        crashPoint('step-done');
        return end;
      });
      return { kind: 'working', done };
    },
    deliver: outcome.deliver,
    refuse: outcome.refuse,
  };
}
