import type { ToolMode } from './tool.ts';

/** Who calls, as far as Tasks are concerned. `older`: a version without Tasks. */
export const CALLER_KINDS = [
  '2025-plain',
  '2025-task',
  '2026-tasks',
  '2026-plain',
  'older',
] as const;
export type CallerKind = (typeof CALLER_KINDS)[number];

/**
 * What happens to a call. `forward`: passed on unrecorded. `bounded`: recorded, answered inline within the plain
 * limit. `handle`: the handle right after the commit. `window`: inline within the sync window, else the handle.
 */
export type CallDecision =
  | { readonly kind: 'forward' | 'bounded' | 'handle' | 'window' }
  | { readonly kind: 'refuse'; readonly reason: RefusalReason };

/** `no_task_support`: -32601 (G1-09). `task_required`: -32601 on 2025, -32021 on 2026 (G1-12, G2-05). `policy`: by policy. */
export type RefusalReason = 'no_task_support' | 'task_required' | 'policy';

const refuse = (reason: RefusalReason): CallDecision => ({ kind: 'refuse', reason });
const FORWARD: CallDecision = { kind: 'forward' };
const BOUNDED: CallDecision = { kind: 'bounded' };
const HANDLE: CallDecision = { kind: 'handle' };
const WINDOW: CallDecision = { kind: 'window' };

/** The table of architecture §5 as data: mode by caller. */
export const MODE_TABLE: Readonly<Record<ToolMode, Readonly<Record<CallerKind, CallDecision>>>> = {
  passthrough: {
    '2025-plain': FORWARD,
    '2025-task': refuse('no_task_support'),
    '2026-tasks': FORWARD,
    '2026-plain': FORWARD,
    older: FORWARD,
  },
  sync: {
    '2025-plain': BOUNDED,
    '2025-task': refuse('no_task_support'),
    '2026-tasks': BOUNDED,
    '2026-plain': BOUNDED,
    older: BOUNDED,
  },
  'task-optional': {
    '2025-plain': BOUNDED,
    '2025-task': HANDLE,
    '2026-tasks': WINDOW,
    '2026-plain': BOUNDED,
    older: BOUNDED,
  },
  'task-required': {
    '2025-plain': refuse('task_required'),
    '2025-task': HANDLE,
    '2026-tasks': HANDLE,
    '2026-plain': refuse('task_required'),
    older: refuse('task_required'),
  },
  refuse: {
    '2025-plain': refuse('policy'),
    '2025-task': refuse('policy'),
    '2026-tasks': refuse('policy'),
    '2026-plain': refuse('policy'),
    older: refuse('policy'),
  },
};

export const decideCall = (mode: ToolMode, caller: CallerKind): CallDecision =>
  MODE_TABLE[mode][caller];

/** `execution.taskSupport` as 2025-11-25 lists it (G1-07). */
export function taskSupportOf(mode: ToolMode): 'forbidden' | 'optional' | 'required' {
  if (mode === 'task-required') return 'required';
  return mode === 'task-optional' ? 'optional' : 'forbidden';
}
