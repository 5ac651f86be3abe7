import { z } from 'zod';
import { parseDurationMs, parseSizeBytes } from '../../kernel/durations.ts';
import { addressProblem, parseAddress } from './address.ts';

/** Scalars of the configuration file. Each says in its error what would have been right. */

const DURATION_PATTERN = /^\d{1,9}(\.\d{1,3})?(ms|s|m|h|d)$/;
const SIZE_PATTERN = /^\d{1,12}(B|KiB|MiB|GiB)$/;

export interface DurationBounds {
  readonly minMs?: number;
  readonly maxMs?: number;
  /** Names the bounds in the error. */
  readonly range?: string;
}

/** `500ms`, `20s`, `15m`, `2h`, `7d`, or the number 0; in ms. */
export function duration(about: string, bounds: DurationBounds = {}) {
  const { minMs = 0, maxMs = Number.MAX_SAFE_INTEGER, range } = bounds;
  const error = 'must be a duration such as 500ms, 20s, 15m, 2h or 7d';
  return z
    .union([z.literal(0), z.string().regex(DURATION_PATTERN, { error })], { error })
    .transform((value) => (value === 0 ? 0 : (parseDurationMs(value) ?? Number.NaN)))
    .refine((ms) => ms >= minMs && ms <= maxMs, { error: `must be ${range ?? 'a shorter time'}` })
    .meta({ description: about });
}

/** `512B`, `256KiB`, `16MiB`, `1GiB`; in bytes. */
export function size(about: string, bounds: { readonly minBytes: number; readonly range: string }) {
  return z
    .string({ error: 'must be a size such as 256KiB or 16MiB' })
    .regex(SIZE_PATTERN, { error: 'must be a size such as 256KiB or 16MiB' })
    .transform((text) => parseSizeBytes(text) ?? Number.NaN)
    .refine((bytes) => bytes >= bounds.minBytes, { error: `must be ${bounds.range}` })
    .meta({ description: about });
}

/** A whole number of things, at least one. */
export function count(about: string) {
  const error = 'must be a whole number from 1 to 1000000';
  return z.int({ error }).min(1, { error }).max(1_000_000, { error }).meta({ description: about });
}

/** `127.0.0.1:8787`, `[::1]:0`. */
export function address(about: string) {
  return z
    .string({ error: 'must be host:port, for example 127.0.0.1:8787' })
    .transform((text, context) => {
      const parsed = parseAddress(text);
      if (parsed) return parsed;
      context.addIssue({ code: 'custom', message: addressProblem(text) });
      return z.NEVER;
    })
    .meta({ description: about });
}

/** One word of a closed set. */
export function choice<const Words extends readonly [string, ...string[]]>(
  about: string,
  words: Words,
) {
  return z.enum(words).meta({ description: about });
}

export function flag(about: string) {
  return z.boolean({ error: 'must be true or false' }).meta({ description: about });
}
