/** How times are written for people. JSON always has RFC 3339. */
export const TIME_FORMATS = ['relative', 'iso', 'unix'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

const STEPS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/** `18s`, `2m`, `3h`, `5d`: whole units, rounded down. A clock that is off never makes it negative. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  for (const [unit, size] of STEPS) {
    if (seconds >= size) return `${Math.floor(seconds / size)}${unit}`;
  }
  return `${seconds}s`;
}

/** A moment, as seen from `now` (ms since the epoch): `2m ago`, `in 9m`. */
export function formatMoment(iso: string, now: number, format: TimeFormat): string {
  const at = Date.parse(iso);
  if (format === 'iso') return iso;
  if (format === 'unix') return String(Math.floor(at / 1000));
  return at > now ? `in ${formatSpan(at - now)}` : `${formatSpan(now - at)} ago`;
}

/** `1:02:03`, for a line that counts up. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
