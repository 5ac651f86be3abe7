import { test } from 'vitest';
import type { TestFunction } from 'vitest';

/**
 * A test that shows requirements: `verifies('G1-42', 'a late answer is ignored', async () => …)`.
 * Ids stand in requirements.tsv (`G1-…`, `G2-…`) or docs/reference/protocol-readings.md (`T…`); they are written
 * as literals, so that coverage.test.ts can read them from the source, and they end up in the test's name.
 */
export function verifies(
  ids: string | readonly string[],
  name: string,
  ...[fn, timeoutMs]: [fn: TestFunction, timeoutMs?: number]
): void {
  test(`${name} [${[ids].flat().join(', ')}]`, fn, timeoutMs);
}
