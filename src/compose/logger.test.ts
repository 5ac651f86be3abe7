import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LogConfig } from '../gateway/config/config.ts';
import { createManualClock } from '../kernel/manual-clock.ts';
import { createLogger, openLogFile } from './logger.ts';

function record(log: Partial<LogConfig>, isTty = false) {
  const lines: string[] = [];
  const logger = createLogger({
    log: { level: 'info', format: 'auto', ...log },
    clock: createManualClock(Date.UTC(2026, 5, 1, 12)),
    write: (text) => void lines.push(text),
    isTty,
  });
  return { logger, lines };
}

describe('without a reader', () => {
  test('each event is one line of JSON with its time, level and fields', () => {
    const { logger, lines } = record({});
    logger.info('task.settled', { task: 'tsk_1', tookMs: 12, absent: undefined });
    logger.error('store.failed');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        level: 'info',
        time: '2026-06-01T12:00:00.000Z',
        event: 'task.settled',
        task: 'tsk_1',
        tookMs: 12,
      },
      { level: 'error', time: '2026-06-01T12:00:00.000Z', event: 'store.failed' },
    ]);
    expect(lines.every((line) => line.endsWith('\n'))).toBe(true);
  });

  test('text of peers cannot write lines of its own or show a secret', () => {
    const { logger, lines } = record({});
    logger.warn('upstream.said', {
      text: 'one\ntwo\u001b[31m Authorization: Bearer abcdefghijkl',
      token: 'hunter2',
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.trimEnd()).not.toMatch(/\n|\\n|u001b|abcdefghijkl|hunter2/);
  });

  test.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['silent', []],
  ] as const)('%s logs what is at least that severe', (level, wanted) => {
    const { logger, lines } = record({ level });
    for (const each of ['debug', 'info', 'warn', 'error'] as const) logger[each]('x');
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(wanted);
  });
});

describe('for the eye', () => {
  test.each([
    ['auto on a terminal', { format: 'auto' }, true],
    ['pretty anywhere', { format: 'pretty' }, false],
  ] as const)('%s is no JSON', (_, log, isTty) => {
    const { logger, lines } = record(log, isTty);
    logger.info('task.settled', { task: 'tsk_1' });
    expect(lines.join('')).toContain('task.settled');
    expect(lines.join('')).toContain('tsk_1');
    expect(lines.join('')).not.toMatch(/^\{/);
  });

  test('ndjson stays JSON on a terminal', () => {
    const { logger, lines } = record({ format: 'ndjson' }, true);
    logger.info('x');
    expect(JSON.parse(lines.join(''))).toMatchObject({ event: 'x' });
  });
});

test('a log file is private, goes on where it stopped, and is set aside when it has grown too large', () => {
  const directory = mkdtempSync(join(tmpdir(), 'longcall-log-'));
  const path = join(directory, 'longcall.log');
  const write = (text: string): void => {
    const file = openLogFile(path);
    file.write(text);
    file.close();
  };
  write('one\n');
  write('two\n');
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, '');
  truncateSync(path, 17 * 1024 ** 2);
  write('three\n');
  expect(readFileSync(path, 'utf8')).toBe('three\n');
  expect(statSync(`${path}.1`).size).toBe(17 * 1024 ** 2);
  const running = openLogFile(path);
  running.write('x'.repeat(16 * 1024 ** 2));
  running.write('after\n');
  running.close();
  expect(readFileSync(path, 'utf8')).toBe('after\n');
  rmSync(directory, { recursive: true });
});
