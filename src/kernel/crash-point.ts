/**
 * Moments at which a death is hardest to survive. A test process that starts with `LONGCALL_CRASH_AT=<name>` or
 * `<name>#<n>` dies there by SIGKILL, at the n-th pass (from 1): no handler runs, nothing is flushed.
 */
export const CRASH_POINTS = [
  'before-commit',
  'after-commit',
  'before-first-upstream-byte',
  'after-upstream-answer',
  'after-cancel-request',
  'before-blob-named',
  'after-blob',
  'after-artifact',
  'step-begun',
  'step-done',
  'step-ended',
  'effect-dispatched',
  'effect-done',
  'receipt-written',
  'parked',
  'after-settlement',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

const [wanted, nth] = (process.env['LONGCALL_CRASH_AT'] ?? '').split('#');
let passesLeft = Number(nth ?? 1);

/** Dies here if this process was told to; otherwise nothing. */
export function crashPoint(point: CrashPoint): void {
  if (point !== wanted) return;
  passesLeft -= 1;
  if (passesLeft <= 0) process.kill(process.pid, 'SIGKILL');
}
