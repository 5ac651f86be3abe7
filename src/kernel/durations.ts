const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const UNIT_BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** `500ms`, `20s`, `15m`, `2h`, `7d` in ms; nothing where the text is no duration. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,13}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text);
  if (!match) return undefined;
  const [, amount, unit] = match;
  return Math.round(Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]);
}

/** `512B`, `256KiB`, `16MiB`, `1GiB` in bytes; nothing where the text is no size. */
export function parseSizeBytes(text: string): number | undefined {
  const match = /^(\d{1,12})(B|KiB|MiB|GiB)$/.exec(text);
  if (!match) return undefined;
  const [, amount, unit] = match;
  return Number(amount) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES];
}

/** The shortest exact form: 90000 → `90s`, 3600000 → `1h`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const size = UNIT_MS[unit];
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}
