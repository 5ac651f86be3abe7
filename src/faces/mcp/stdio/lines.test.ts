import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLines } from './lines.ts';

type Heard = readonly (readonly [what: 'line' | 'bad' | 'end', value?: string])[];

async function hear(chunks: readonly (string | Uint8Array)[], maxBytes = 1000): Promise<Heard> {
  const input = new PassThrough();
  const heard: (readonly ['line' | 'bad' | 'end', string?])[] = [];
  const ended = new Promise<void>((resolve) => {
    readLines(input, maxBytes, {
      line: (text) => void heard.push(['line', text]),
      bad: (bad) =>
        void heard.push([
          'bad',
          bad.why === 'too_long' ? [bad.why, ...bad.ids].join(' ') : bad.why,
        ]),
      end() {
        heard.push(['end']);
        resolve();
      },
    });
  });
  for (const chunk of chunks) input.write(chunk);
  input.end();
  await ended;
  return heard;
}

test('lines are cut wherever the chunks are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc
          .string({ unit: 'grapheme', minLength: 1 })
          .filter((line) => !/[\n\r]/.test(line) && line.trim() !== ''),
        { maxLength: 6 },
      ),
      fc.integer({ min: 1, max: 7 }),
      async (lines, size) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        );
        expect(await hear(chunks)).toEqual([...lines.map((line) => ['line', line]), ['end']]);
      },
    ),
    { numRuns: 50 },
  );
});

test('a line that is too long is said once, and the next one is read', async () => {
  expect(await hear(['x'.repeat(50), 'x'.repeat(50), 'x\n', 'ok\n'], 20)).toEqual([
    ['bad', 'too_long'],
    ['line', 'ok'],
    ['end'],
  ]);
});

test('what is too long is refused under the ids of its requests, wherever they stand in it', async () => {
  const long = `{"jsonrpc":"2.0","method":"tools/call","params":{"x":"${'x'.repeat(80)}"},"id":"seven"}`;
  expect(await hear([long.slice(0, 60), long.slice(60), '\nok\n'], 20)).toEqual([
    ['bad', 'too_long "seven"'],
    ['line', 'ok'],
    ['end'],
  ]);
});

test('bytes that are no UTF-8 are said to be that; a last line needs no end', async () => {
  expect(await hear([new Uint8Array([0xff, 0x0a]), '\n  \n', 'last'])).toEqual([
    ['bad', 'not_utf8'],
    ['line', 'last'],
    ['end'],
  ]);
});
