import type { CrashPoint } from '../../src/kernel/crash-point.ts';
import type { OperationState } from '../../src/ledger/operation.ts';
import type { Answer, FrontKind } from './front.ts';
import { FRONT_KINDS } from './front.ts';
import type { ServedEffect } from './site.ts';

export const VICTIMS = ['gateway', 'upstream', 'both'] as const;
export type Victim = (typeof VICTIMS)[number];

/** When it dies, in the order of a call's life. */
export const MOMENTS = [
  'before-commit',
  'after-commit',
  'before-first-upstream-byte',
  'mid-call',
  'input-required',
  'after-cancel-request',
  'after-upstream-answer',
  'after-settlement',
] as const;
export type Moment = (typeof MOMENTS)[number];

/** Moments that only the gateway itself can hit exactly; at the others it is killed from outside. */
export const POINT_OF: Readonly<Partial<Record<Moment, CrashPoint>>> = {
  'before-commit': 'before-commit',
  'after-commit': 'after-commit',
  'before-first-upstream-byte': 'before-first-upstream-byte',
  'after-cancel-request': 'after-cancel-request',
  'after-upstream-answer': 'after-upstream-answer',
  'after-settlement': 'after-settlement',
};

/** How the record of a call ends. `nothing`: there is no record. */
export type Ending =
  'nothing' | 'result' | 'outcome_unknown' | 'upstream_unreachable' | 'cancelled';

/** One row of the crash table: what is true after the death, for every caller named. */
export interface CrashRow {
  readonly dies: Victim;
  readonly moment: Moment;
  readonly effect: ServedEffect;
  readonly callers: readonly FrontKind[];
  /** What the call's own request is answered with. */
  readonly request: Answer['kind'];
  /** How its owner finds the record afterwards: by the handle it got, in `tasks/list`, or not at all. */
  readonly found: 'by handle' | 'by list' | 'not';
  readonly ends: Ending;
  /** Where the ledger says it stands; reads have no row there. */
  readonly operation: OperationState | 'none';
  /** How often the upstream got the call. */
  readonly sends: number;
}

const TASKS: readonly FrontKind[] = ['2025-task', '2026-tasks'];
const PLAIN: readonly FrontKind[] = ['2025-plain', '2026-plain'];

/** How the caller fares: the response to the call itself, and how the record is found afterwards. */
type Fate = Pick<CrashRow, 'request' | 'found'>;
const HELD: Fate = { request: 'handle', found: 'by handle' };
const LISTED: Fate = { request: 'broken', found: 'by list' };
const CUT_OFF: Fate = { request: 'broken', found: 'not' };
const TOLD: Fate = { request: 'error', found: 'not' };
const ANSWERED: Fate = { request: 'result', found: 'not' };
const ASKED: Fate = { request: 'input_required', found: 'not' };

type Row = readonly [
  effect: ServedEffect,
  callers: readonly FrontKind[],
  fate: Fate,
  ends: Ending,
  operation: CrashRow['operation'],
  sends: number,
];

/** Reads are done again; of anything else nobody can say what became of it. */
const MID_CALL: readonly Row[] = [
  ['read', TASKS, HELD, 'result', 'none', 2],
  ['read', PLAIN, CUT_OFF, 'cancelled', 'none', 1],
  ['consequential', TASKS, HELD, 'outcome_unknown', 'unknown', 1],
  ['consequential', PLAIN, CUT_OFF, 'outcome_unknown', 'unknown', 1],
];

/** The wish to cancel is durable; what was sent may have happened all the same. A plain call has no task to cancel. */
const AFTER_CANCEL: readonly Row[] = [
  ['read', TASKS, HELD, 'cancelled', 'none', 1],
  ['consequential', TASKS, HELD, 'cancelled', 'unknown', 1],
];

type Table = Readonly<Record<Moment, readonly Row[]>>;

const WHEN_GATEWAY_DIES: Table = {
  // What was never committed was never promised: there is nothing to find, and nothing happened.
  'before-commit': [
    ['read', FRONT_KINDS, CUT_OFF, 'nothing', 'none', 0],
    ['consequential', FRONT_KINDS, CUT_OFF, 'nothing', 'none', 0],
  ],
  // What was committed runs once, whether or not its handle was read; a plain call has nobody to run for any more.
  'after-commit': [
    ['read', ['2025-task'], LISTED, 'result', 'none', 1],
    ['read', ['2026-tasks'], CUT_OFF, 'result', 'none', 1],
    ['read', PLAIN, CUT_OFF, 'cancelled', 'none', 0],
    ['consequential', ['2025-task'], LISTED, 'result', 'acknowledged', 1],
    ['consequential', ['2026-tasks'], CUT_OFF, 'result', 'acknowledged', 1],
    ['consequential', PLAIN, CUT_OFF, 'cancelled', 'abandoned', 0],
  ],
  // It is on record that it was about to be sent: nobody can know that it was not, so it is not sent again.
  'before-first-upstream-byte': [
    ['read', TASKS, HELD, 'result', 'none', 1],
    ['read', PLAIN, CUT_OFF, 'cancelled', 'none', 0],
    ['consequential', TASKS, HELD, 'outcome_unknown', 'unknown', 0],
    ['consequential', PLAIN, CUT_OFF, 'outcome_unknown', 'unknown', 0],
  ],
  'mid-call': MID_CALL,
  // The question is withdrawn with the connection that it came on; a read asks anew, under a new key.
  'input-required': [
    ['read', TASKS, HELD, 'result', 'none', 2],
    ['read', ['2025-plain'], CUT_OFF, 'cancelled', 'none', 1],
    ['read', ['2026-plain'], ASKED, 'cancelled', 'none', 1],
    ['consequential', TASKS, HELD, 'outcome_unknown', 'unknown', 1],
    ['consequential', ['2025-plain'], CUT_OFF, 'outcome_unknown', 'unknown', 1],
    ['consequential', ['2026-plain'], ASKED, 'outcome_unknown', 'unknown', 1],
  ],
  'after-cancel-request': AFTER_CANCEL,
  // An answer that was not stored was not heard.
  'after-upstream-answer': MID_CALL,
  // What was stored is there.
  'after-settlement': [
    ['read', TASKS, HELD, 'result', 'none', 1],
    ['read', PLAIN, CUT_OFF, 'result', 'none', 1],
    ['consequential', TASKS, HELD, 'result', 'acknowledged', 1],
    ['consequential', PLAIN, CUT_OFF, 'result', 'acknowledged', 1],
  ],
};

/** Nothing was sent, and nobody is there to send it to: that is said, after a few tries. */
const NEVER_REACHED: readonly Row[] = [
  ['read', TASKS, HELD, 'upstream_unreachable', 'none', 0],
  ['read', PLAIN, TOLD, 'upstream_unreachable', 'none', 0],
  ['consequential', TASKS, HELD, 'upstream_unreachable', 'abandoned', 0],
  ['consequential', PLAIN, TOLD, 'upstream_unreachable', 'abandoned', 0],
];

/** The death of an upstream changes nothing about what it has answered. */
const HEARD: readonly Row[] = [
  ['read', TASKS, HELD, 'result', 'none', 1],
  ['read', PLAIN, ANSWERED, 'result', 'none', 1],
  ['consequential', TASKS, HELD, 'result', 'acknowledged', 1],
  ['consequential', PLAIN, ANSWERED, 'result', 'acknowledged', 1],
];

const WHEN_UPSTREAM_DIES: Table = {
  'before-commit': NEVER_REACHED,
  'after-commit': NEVER_REACHED,
  // The bytes had left, but were never read: that is not to be known here.
  'before-first-upstream-byte': [
    ['read', TASKS, HELD, 'upstream_unreachable', 'none', 0],
    ['read', PLAIN, TOLD, 'upstream_unreachable', 'none', 0],
    ['consequential', TASKS, HELD, 'outcome_unknown', 'unknown', 0],
    ['consequential', PLAIN, TOLD, 'outcome_unknown', 'unknown', 0],
  ],
  // The gateway lives and starts its upstream again: a read is repeated there and then, also for plain callers.
  'mid-call': [
    ['read', TASKS, HELD, 'result', 'none', 2],
    ['read', PLAIN, ANSWERED, 'result', 'none', 2],
    ['consequential', TASKS, HELD, 'outcome_unknown', 'unknown', 1],
    ['consequential', PLAIN, TOLD, 'outcome_unknown', 'unknown', 1],
  ],
  // The question dies with the process that asked it: a read asks again, also on the stream of a plain call.
  'input-required': [
    ['read', TASKS, HELD, 'result', 'none', 2],
    ['read', ['2025-plain'], ANSWERED, 'result', 'none', 2],
    ['read', ['2026-plain'], ASKED, 'result', 'none', 2],
    ['consequential', TASKS, HELD, 'outcome_unknown', 'unknown', 1],
    ['consequential', ['2025-plain'], TOLD, 'outcome_unknown', 'unknown', 1],
    ['consequential', ['2026-plain'], ASKED, 'outcome_unknown', 'unknown', 1],
  ],
  'after-cancel-request': AFTER_CANCEL,
  'after-upstream-answer': HEARD,
  'after-settlement': HEARD,
};

/** An upstream that is new after the gateway's death changes nothing: what it forgot, it was not asked about. */
const TABLES: Readonly<Record<Victim, Table>> = {
  gateway: WHEN_GATEWAY_DIES,
  upstream: WHEN_UPSTREAM_DIES,
  both: WHEN_GATEWAY_DIES,
};

/** The crash table: who dies, when, and what is true afterwards. */
export const rowsWhere = (dies: Victim): readonly CrashRow[] =>
  MOMENTS.flatMap((moment) =>
    TABLES[dies][moment].map(([effect, callers, fate, ends, operation, sends]) => ({
      dies,
      moment,
      effect,
      callers,
      ...fate,
      ends,
      operation,
      sends,
    })),
  );
