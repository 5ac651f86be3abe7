import type { ToolMode } from './tool.ts';

/** Who calls, as far as Tasks are concerned. `older`: a version without Tasks. `rest`: the REST job API. */
export const CALLER_KINDS = [
  '2025-plain',
  '2025-task',
  '2026-tasks',
  '2026-plain',
  'older',
  'rest',
] as const;
export type CallerKind = (typeof CALLER_KINDS)[number];

/**
 * What happens to a call. `forward`: passed on unrecorded. `bounded`: recorded, answered inline within the plain
 * limit. `handle`: the handle right after the commit. `window`: inline within the sync window, else the handle. `job`:
 * inline within the job window, else a handle for job tools.
 */
export type CallDecision =
  | { readonly kind: 'forward' | 'bounded' | 'handle' | 'window' | 'job' }
  | { readonly kind: 'refuse'; readonly reason: RefusalReason };

/** `no_task_support`: -32601 (G1-09). `task_required`: -32601 on 2025, -32021 on 2026 (G1-12, G2-05). `policy`: by policy. */
export type RefusalReason = 'no_task_support' | 'task_required' | 'policy';

const refuse = (reason: RefusalReason): CallDecision => ({ kind: 'refuse', reason });
const FORWARD: CallDecision = { kind: 'forward' };
const BOUNDED: CallDecision = { kind: 'bounded' };
const HANDLE: CallDecision = { kind: 'handle' };
const WINDOW: CallDecision = { kind: 'window' };
const JOB: CallDecision = { kind: 'job' };

/** The table of architecture §5 as data: mode by caller, without job tools. */
export const MODE_TABLE: Readonly<Record<ToolMode, Readonly<Record<CallerKind, CallDecision>>>> = {
  passthrough: {
    '2025-plain': FORWARD,
    '2025-task': refuse('no_task_support'),
    '2026-tasks': FORWARD,
    '2026-plain': FORWARD,
    older: FORWARD,
    rest: refuse('no_task_support'),
  },
  sync: {
    '2025-plain': BOUNDED,
    '2025-task': refuse('no_task_support'),
    '2026-tasks': BOUNDED,
    '2026-plain': BOUNDED,
    older: BOUNDED,
    rest: refuse('no_task_support'),
  },
  'task-optional': {
    '2025-plain': BOUNDED,
    '2025-task': HANDLE,
    '2026-tasks': WINDOW,
    '2026-plain': BOUNDED,
    older: BOUNDED,
    rest: HANDLE,
  },
  'task-required': {
    '2025-plain': refuse('task_required'),
    '2025-task': HANDLE,
    '2026-tasks': HANDLE,
    '2026-plain': refuse('task_required'),
    older: refuse('task_required'),
    rest: HANDLE,
  },
  refuse: {
    '2025-plain': refuse('policy'),
    '2025-task': refuse('policy'),
    '2026-tasks': refuse('policy'),
    '2026-plain': refuse('policy'),
    older: refuse('policy'),
    rest: refuse('policy'),
  },
};

/** What job tools put in the place of cells above, where a tool is served with them (`usesJobTools`). */
export const WITH_JOB_TOOLS: Partial<
  Readonly<Record<ToolMode, Partial<Readonly<Record<CallerKind, CallDecision>>>>>
> = {
  'task-optional': { '2025-plain': JOB, '2026-plain': JOB, older: JOB },
  'task-required': { '2025-plain': JOB, '2026-plain': JOB, older: JOB },
};

export const decideCall = (mode: ToolMode, caller: CallerKind, jobTools = false): CallDecision =>
  (jobTools ? WITH_JOB_TOOLS[mode]?.[caller] : undefined) ?? MODE_TABLE[mode][caller];

/**
 * `execution.taskSupport` as 2025-11-25 lists it (G1-07). `required` would oblige us to refuse plain calls (G1-12), so a
 * tool whose plain calls job tools take is listed as `optional`.
 */
export function taskSupportOf(
  mode: ToolMode,
  jobTools = false,
): 'forbidden' | 'optional' | 'required' {
  if (mode === 'task-required') return jobTools ? 'optional' : 'required';
  return mode === 'task-optional' ? 'optional' : 'forbidden';
}
