import type { ServedTool } from './tool.ts';

/** The longest time a task may live, as the sum of all its parts (architecture §7: cap 30 d together). */
const TTL_MS_MAX = 30 * 86_400_000;

/** What the runtime holds itself to; durations in ms. Defaults are those of architecture §7. */
export interface RuntimeLimits {
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** How often a run looks for what was decided in another process: a cancel reaches its handler within twice that. */
  readonly lookEveryMs: number;
  /** How long a run that was told to stop may take to do so, before its task is settled without it. */
  readonly stopGraceMs: number;
  /** Least time between two writes of one task's status message. */
  readonly statusEveryMs: number;
  /** Longest time in the queue; what starts later than that is ended instead. */
  readonly queueAllowanceMs: number;
  readonly ttlMaxMs: number;
  /** Callers that cannot be told from others keep their records short (T12, G1-101). */
  readonly anonymous: {
    readonly runLimitMs: number;
    readonly inputAllowanceMs: number;
    readonly retentionMs: number;
  };
  /** The hard limit on a stored outcome, in bytes of its JSON. */
  readonly outcomeBytesMax: number;
  readonly pageSize: number;
  /** Most attempts that start the work; a call that kills its process must not loop (decision 6). */
  readonly attemptsMax: number;
  /** Most attempts in all where later ones only go on observing the upstream's own task. */
  readonly observationsMax: number;
  /** How old a status may be that is shown again to who asks often; changes in this process show at once. */
  readonly snapshotMs: number;
  readonly sweepEveryMs: number;
  /** Rows per sweep statement: more would hold the event loop. */
  readonly sweepBatch: number;
  /** How long after delivery a keyless repeat is the same call, where its tool says nothing else (decision 4). */
  readonly repeatWindowMs: number;
  /** The hint to a caller that was refused for capacity. */
  readonly retryAfterMs: number;
}

export const DEFAULT_LIMITS: RuntimeLimits = {
  leaseMs: 15_000,
  heartbeatMs: 5_000,
  lookEveryMs: 1_000,
  stopGraceMs: 5_000,
  statusEveryMs: 250,
  queueAllowanceMs: 3_600_000,
  ttlMaxMs: TTL_MS_MAX,
  anonymous: { runLimitMs: 900_000, inputAllowanceMs: 900_000, retentionMs: 3_600_000 },
  outcomeBytesMax: 16 * 1024 ** 2,
  pageSize: 50,
  attemptsMax: 3,
  observationsMax: 20,
  snapshotMs: 250,
  repeatWindowMs: 600_000,
  sweepEveryMs: 5_000,
  sweepBatch: 100,
  retryAfterMs: 5_000,
};

/** The time budgets of one call: those of its tool, shortened for callers without identity. */
export interface CallBudgets {
  readonly runLimitMs: number;
  readonly inputAllowanceMs: number;
  readonly inputExpiryMs: number;
  readonly retentionMs: number;
  /** How far a caller may move the retention. */
  readonly retentionMaxMs: number;
}

type BudgetedTool = Pick<
  ServedTool,
  'runLimitMs' | 'inputAllowanceMs' | 'inputExpiryMs' | 'retentionMs'
>;

export function budgetsOf(
  tool: BudgetedTool,
  anonymous: boolean,
  limits: RuntimeLimits,
): CallBudgets {
  const caps = anonymous
    ? limits.anonymous
    : { runLimitMs: Infinity, inputAllowanceMs: Infinity, retentionMs: Infinity };
  const inputAllowanceMs = Math.min(tool.inputAllowanceMs, caps.inputAllowanceMs);
  return {
    runLimitMs: Math.min(tool.runLimitMs, caps.runLimitMs),
    inputAllowanceMs,
    inputExpiryMs: Math.min(tool.inputExpiryMs, inputAllowanceMs),
    retentionMs: Math.min(tool.retentionMs, caps.retentionMs),
    retentionMaxMs: Math.min(limits.ttlMaxMs, caps.retentionMs),
  };
}

/**
 * The task's `ttl`: queue, run, input and retention together, never above the cap. What a caller asks for is the whole
 * (2025-11-25 counts from creation) and moves the retention alone; out of range it is clamped, not refused (T15).
 */
export function ttlMsOf(budgets: CallBudgets, limits: RuntimeLimits, wantedTtlMs?: number): number {
  const workMs = limits.queueAllowanceMs + budgets.runLimitMs + budgets.inputAllowanceMs;
  const retentionMs =
    wantedTtlMs === undefined
      ? budgets.retentionMs
      : Math.min(Math.max(0, wantedTtlMs - workMs), budgets.retentionMaxMs);
  return Math.round(Math.min(workMs + retentionMs, limits.ttlMaxMs));
}
