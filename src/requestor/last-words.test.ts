import { expect, test } from 'vitest';
import { createLastWords } from './last-words.ts';

function toldBy(text: string): string | undefined {
  const words = createLastWords();
  for (const line of text.split('\n')) words.add(line);
  return words.telling();
}

test('the error is told, not the stack under it nor the version after it', () => {
  const crash = `node:internal/modules/cjs/loader:1386
  throw err;
  ^

Error: Cannot find module '/x/nothing.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1383:15) {
}

Node.js v24.21.0`;
  expect(toldBy(crash)).toBe("Error: Cannot find module '/x/nothing.js'");
});

test('where no line names a problem the last one is told, and nothing where nothing was said', () => {
  expect(toldBy('starting\nbye')).toBe('bye');
  expect(toldBy('\n')).toBeUndefined();
});

test('an old complaint is forgotten after enough other lines', () => {
  expect(
    toldBy(['an error of old', ...Array.from({ length: 20 }, (_, n) => `line ${n}`)].join('\n')),
  ).toBe('line 19');
});
