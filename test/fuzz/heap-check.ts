import { expect } from 'vitest';
import { until } from '../crash/until.ts';
import type { FuzzedGateway } from './fuzzed-gateway.ts';

/** How much more may be in use after than before. */
const GROWTH_MAX = 1.1;

/** What still runs is cancelled, so that only what was left behind is counted. */
export async function cancelAll({ admin }: FuzzedGateway): Promise<void> {
  await until(
    async () => {
      const open = (await admin.tasks()).filter(({ protocol }) => protocol.phase !== 'ended');
      for (const { id } of open) await admin.cancel(id);
      return open.length === 0 ? true : undefined;
    },
    'the end of every task',
    60_000,
  );
}

/** Judges the heap after garbage was collected; what has to time out first is given its time. */
export async function expectNoLeak(gateway: FuzzedGateway, beforeBytes: number): Promise<void> {
  await cancelAll(gateway);
  let afterBytes = 0;
  await until(async () => {
    afterBytes = await gateway.heapBytes();
    return afterBytes <= beforeBytes * GROWTH_MAX ? true : undefined;
  }, 'the heap to shrink').catch(() => undefined);
  const mebibytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  process.stdout.write(`heap ${mebibytes(beforeBytes)} before, ${mebibytes(afterBytes)} after\n`);
  expect(afterBytes, 'bytes in use').toBeLessThanOrEqual(beforeBytes * GROWTH_MAX);
}
