import { expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements/verifies.ts';
import { createEventLog } from './event-log.ts';

verifies(
  'G1-129',
  'events come again after the one that was named, in order, without what was taken back',
  () => {
    const log = createEventLog();
    expect(log.isEmpty()).toBe(true);
    const events = [1, 2, 3, 4].map(() => log.add((sequence) => `event ${sequence}`));
    log.takeBack(events[2]?.sequence ?? 0);
    expect(log.after(1)).toEqual(['event 2', 'event 4']);
    expect(log.after(4)).toEqual([]);
    log.clear();
    expect(log.after(0)).toEqual([]);
    expect(log.add((sequence) => `event ${sequence}`).sequence).toBe(5);
  },
);

test('what is kept is bounded in number and size, and the newest always stays', () => {
  const log = createEventLog();
  for (let count = 0; count < 1000; count += 1) log.add((sequence) => `event ${sequence}`);
  expect(log.after(0).length).toBeLessThanOrEqual(256);
  expect(log.after(0).at(-1)).toBe('event 1000');
  log.add(() => 'x'.repeat(300_000));
  expect(log.after(0)).toHaveLength(1);
  log.add(() => 'small');
  expect(log.after(0)).toEqual(['small']);
});
