import { describe, expect, test } from 'vitest';
import { jsonText } from './json.ts';
import { createStyle, wantsColour } from './style.ts';
import type { StyleOptions } from './style.ts';
import { renderFacts, renderTable } from './table.ts';
import { oneLine, textWidth, truncate } from './text-width.ts';
import { formatClock, formatMoment, formatSpan } from './time.ts';

const OPTIONS: StyleOptions = { env: {}, isTty: true, columns: 80, noColour: false, ascii: false };
const styleOf = (options: Partial<StyleOptions> = {}) => createStyle({ ...OPTIONS, ...options });

describe('colour', () => {
  const cases: readonly (readonly [Partial<StyleOptions>, boolean])[] = [
    [{}, true],
    [{ isTty: false }, false],
    [{ env: { TERM: 'dumb' } }, false],
    [{ env: { NO_COLOR: '1' } }, false],
    [{ env: { NO_COLOR: '' } }, true],
    [{ env: { NO_COLOR: '1', FORCE_COLOR: '1' } }, false],
    [{ env: { FORCE_COLOR: '1' }, isTty: false }, true],
    [{ env: { FORCE_COLOR: '0' }, isTty: false }, false],
    [{ env: { CLICOLOR_FORCE: '1' }, isTty: false }, true],
    [{ env: { FORCE_COLOR: '1' }, noColour: true }, false],
  ];

  test.each(cases)('%j is %s', (options, wanted) => {
    expect(wantsColour({ ...OPTIONS, ...options })).toBe(wanted);
    expect(styleOf(options).paint('good', 'x').includes('\u001b')).toBe(wanted);
  });
});

describe('width', () => {
  test.each([
    ['abc', 3],
    ['задача', 6],
    ['日本', 4],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['', 0],
  ])('%s takes %i columns', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  test('a text that fits is left alone, a longer one ends with the mark and never exceeds the width', () => {
    expect(truncate('abcdef', 6, '…')).toBe('abcdef');
    expect(truncate('abcdef', 4, '…')).toBe('abc…');
    expect(truncate('日本語', 4, '…')).toBe('日…');
    expect(textWidth(truncate('日本語', 4, '…'))).toBeLessThanOrEqual(4);
  });

  test('one line holds no escape sequence, no line end and no bidi override', () => {
    expect(oneLine('\u001b[31mred\u001b[0m\nnext\t\u202eevil\u0007')).toBe('red next evil');
  });
});

describe('a table', () => {
  const columns = [
    { title: 'ID', narrowest: 5 },
    { title: 'STATE' },
    { title: 'WORDS', narrowest: 6 },
  ];
  const rows = [
    [{ text: 'tsk_0123456789' }, { text: 'working' }, { text: 'not known: reconcile first' }],
  ];
  const linesAt = (options: Partial<StyleOptions>) =>
    renderTable(columns, rows, styleOf({ noColour: true, ...options }))
      .trimEnd()
      .split('\n');

  test('is as wide as its content where there is room', () => {
    expect(linesAt({})).toEqual([
      'ID              STATE    WORDS',
      'tsk_0123456789  working  not known: reconcile first',
    ]);
  });

  test.each([50, 40, 30])('keeps to %i columns and cuts no state', (width) => {
    const lines = linesAt({ columns: width });
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
    expect(lines[1]).toContain('working');
    expect(lines[1]).toContain('…');
  });

  test('stops shrinking where nothing gives any more', () => {
    expect(linesAt({ columns: 5 })[1]).toBe('tsk_…  working  not k…');
  });

  test('is whole where no terminal shows it', () => {
    expect(linesAt({ isTty: false, columns: 10 })[1]).toContain('not known: reconcile first');
  });

  test('marks a cut in plain ASCII on request', () => {
    const text = linesAt({ columns: 30, ascii: true }).join('\n');
    expect(text).toContain('~');
    expect(text).toMatch(/^[\x20-\x7e\n]*$/);
  });

  test('never lets a cell move the cursor or forge a row', () => {
    const evil = [[{ text: 'a\nforged' }, { text: '\u001b[2J' }, { text: 'b' }]];
    const lines = renderTable(columns, evil, styleOf({ noColour: true }))
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(2);
    expect(lines.join('')).not.toContain('\u001b');
  });
});

test('facts stand under each other, and those without a line are left out', () => {
  const text = renderFacts(
    [
      ['task', { text: 'tsk_1' }],
      ['none'],
      ['outcome', { text: 'done' }, { text: 'it is confirmed' }],
    ],
    styleOf({ noColour: true }),
  );
  expect(text).toBe('task     tsk_1\noutcome  done\n         it is confirmed\n');
});

describe('time', () => {
  test.each([
    [0, '0s'],
    [18_900, '18s'],
    [120_000, '2m'],
    [3 * 3_600_000, '3h'],
    [49 * 3_600_000, '2d'],
    [-5_000, '0s'],
  ])('a span of %i ms is %s', (ms, text) => {
    expect(formatSpan(ms)).toBe(text);
  });

  test('a moment is relative, exact, or in seconds', () => {
    const iso = '2026-12-01T12:00:00.000Z';
    const noon = Date.parse(iso);
    expect(formatMoment(iso, noon + 120_000, 'relative')).toBe('2m ago');
    expect(formatMoment(iso, noon - 540_000, 'relative')).toBe('in 9m');
    expect(formatMoment(iso, noon, 'iso')).toBe(iso);
    expect(formatMoment(iso, noon, 'unix')).toBe(String(noon / 1000));
  });

  test('a running clock counts hours, minutes and seconds', () => {
    expect(formatClock(3_723_400)).toBe('01:02:03');
  });
});

describe('JSON', () => {
  test('is one line for programs and the same value for people', () => {
    const value = { a: [1, { b: 'x' }] };
    expect(jsonText(value, false)).toBe('{"a":[1,{"b":"x"}]}\n');
    expect(JSON.parse(jsonText(value, true))).toEqual(value);
  });

  test('hides nothing and lets nothing act: what could mislead a terminal is escaped', () => {
    const value = { text: '\u009b31m \u202e \u200b \u001b[2J' };
    const text = jsonText(value, false);
    expect(text).toMatch(/^[\x20-\x7e]*\n$/);
    expect(JSON.parse(text)).toEqual(value);
  });
});
