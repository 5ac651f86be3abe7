import { expect, test } from 'vitest';
import { EVERYBODY } from './connection-plan.ts';
import { createLogLevels } from './log-levels.ts';

test('the most talkative wish of a principal counts, and of all on a connection that all share', () => {
  const levels = createLogLevels();
  expect(levels.levelOf('alice')).toBeUndefined();
  expect(levels.want('alice', 'error')).toBe(true);
  expect(levels.want('alice', 'info')).toBe(true);
  expect(levels.want('alice', 'critical')).toBe(false);
  levels.want('bob', 'notice');
  expect([levels.levelOf('alice'), levels.levelOf('bob')]).toEqual(['info', 'notice']);
  expect(levels.levelOf(EVERYBODY)).toBe('info');
});
