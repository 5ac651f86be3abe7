import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { toIso } from '../../kernel/clock.ts';
import { formatSpan } from '../output/time.ts';
import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

/** The oldest Node.js that has everything longcall uses. */
const NODE_NEEDED = [22, 13, 0] as const;

export function nodeFinding(version: string): Finding {
  const have = version.split('.').map(Number);
  const differing = NODE_NEEDED.findIndex((needed, place) => have[place] !== needed);
  const isEnough = differing === -1 || (have[differing] ?? 0) > (NODE_NEEDED[differing] ?? 0);
  if (isEnough) return ok('node', version);
  const needed = NODE_NEEDED.join('.');
  return fail('node', {
    detail: `${version} is too old`,
    hint: `install Node.js ${needed} or newer`,
  });
}

/** Before this no version of longcall existed. */
const EARLIEST = Date.parse('2026-01-01T00:00:00Z');
const SKEW_MS_MAX = 30_000;

export interface ClockFacts {
  /** This process's clock, in ms since the epoch. */
  readonly now: number;
  /** The gateway's, where one answered. */
  readonly gatewayNow: number | undefined;
  readonly data: string | undefined;
}

/** Leases and expiry compare times of one clock, so one that was set back keeps dead leases alive. */
export function clockFinding({ now, gatewayNow, data }: ClockFacts): Finding {
  const hint = 'set the clock of this machine, and keep it set (NTP)';
  if (now < EARLIEST) return fail('clock', { detail: `it is ${toIso(now)} here`, hint });
  const skewMs = gatewayNow === undefined ? 0 : Math.abs(gatewayNow - now);
  if (skewMs > SKEW_MS_MAX) {
    return warn('clock', { detail: `${formatSpan(skewMs)} away from the gateway's clock`, hint });
  }
  const aheadMs = newestChange(data) - now;
  if (aheadMs > SKEW_MS_MAX) {
    const detail = `files of the data directory were changed ${formatSpan(aheadMs)} from now`;
    return warn('clock', { detail, hint });
  }
  return ok('clock', toIso(now));
}

function newestChange(data: string | undefined): number {
  if (data === undefined) return 0;
  try {
    const changes = readdirSync(data).map((name) => statSync(join(data, name)).mtimeMs);
    return Math.max(0, ...changes);
  } catch {
    return 0; // what is wrong with the directory is another check's to say
  }
}
