import { expect, test } from 'vitest';
import { silentLogger } from '../kernel/logger.ts';
import { createTeardown } from './teardown.ts';

test('what was started last ends first, each after the one before, although one fails', async () => {
  const teardown = createTeardown(silentLogger);
  const ended: string[] = [];
  teardown.add('store', () => void ended.push('store'));
  teardown.add('broken', () => {
    ended.push('broken');
    throw new Error('no');
  });
  teardown.add('slow', async (graceMs) => {
    await Promise.resolve();
    ended.push(`slow ${graceMs}`);
  });
  await teardown.run(7);
  expect(ended).toEqual(['slow 7', 'broken', 'store']);
});

test('it runs once, whoever asks', async () => {
  const teardown = createTeardown(silentLogger);
  let times = 0;
  teardown.add('once', async () => {
    await Promise.resolve();
    times += 1;
  });
  await Promise.all([teardown.run(1), teardown.run(2)]);
  expect(times).toBe(1);
});
