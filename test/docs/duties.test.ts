import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { DEFAULTS } from '../../src/gateway/config/defaults.ts';
import { formatDuration } from '../../src/kernel/durations.ts';
import { DEFAULT_LIMITS } from '../../src/runtime/limits.ts';
import { verifies } from '../requirements/verifies.ts';

/** A page as one line, so that words are found wherever its lines break. */
const read = (page: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), 'utf8').replaceAll(
    /\s+/g,
    ' ',
  );

verifies('G1-102', 'the limits of callers who cannot be told apart are documented', () => {
  const page = read('explanation/without-identity.md');
  for (const limit of [
    'The id is the only key',
    'There is no listing',
    'Records are kept for less time',
  ])
    expect(page).toContain(`**${limit}`);
  const { runLimitMs, inputAllowanceMs, retentionMs } = DEFAULT_LIMITS.anonymous;
  expect([runLimitMs, inputAllowanceMs].map((ms) => ms / 60_000)).toEqual([15, 15]);
  expect(retentionMs / 3_600_000).toBe(1);
  expect(page).toContain('run limit and input allowance 15 minutes each, retention 1 hour');
});

verifies('G1-120', 'the longest ttl and the most open tasks of a requestor are documented', () => {
  const page = read('reference/configuration.md');
  expect(page).toContain(`come to ${formatDuration(DEFAULT_LIMITS.ttlMaxMs)} at most`);
  expect(page).toContain(
    `| \`limits.perPrincipal.open\` | \`${DEFAULTS.limits.perPrincipal.open}\` | Open tasks of one principal. |`,
  );
});
