import { describe, expect, test } from 'vitest';
import { didYouMean, suggest } from './suggest.ts';

describe('suggest', () => {
  test.each([
    ['lisen', ['listen', 'limits'], 'listen'],
    ['max_running', ['maxRunning', 'max'], 'maxRunning'],
    ['comand', ['command', 'connections'], 'command'],
    ['rulLimit', ['runLimit', 'plainLimit'], 'runLimit'],
    ['evn', ['env', 'url'], 'env'],
  ])('%s means one of %j: %s', (word, known, meant) => {
    expect(suggest(word, known)).toBe(meant);
  });

  test.each([
    ['zebra', ['listen', 'limits']],
    ['x', ['url']],
    ['anything', []],
  ])('%s is like none of %j', (word, known) => {
    expect(suggest(word, known)).toBeUndefined();
    expect(didYouMean(word, known)).toBe('');
  });

  test('a very long word is answered at once', () => {
    expect(suggest('a'.repeat(1_000_000), ['listen'])).toBeUndefined();
  });
});
