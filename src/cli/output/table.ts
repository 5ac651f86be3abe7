import type { Style, Tone } from './style.ts';
import { oneLine, textWidth, truncate } from './text-width.ts';

export interface Cell {
  readonly text: string;
  readonly tone?: Tone;
}

export interface Column {
  readonly title: string;
  /** May be cut down to this many columns when the terminal is narrow; absent: never cut. */
  readonly narrowest?: number;
}

const GAP = '  ';

/** The widest shrinkable column first, one step at a time, until the line fits or nothing gives any more. */
function fitWidths(
  natural: readonly number[],
  columns: readonly Column[],
  width: number,
): readonly number[] {
  const widths = natural.slice();
  const total = (): number =>
    widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1);
  while (total() > width) {
    let widest = -1;
    widths.forEach((one, place) => {
      const canShrink = one > (columns[place]?.narrowest ?? Number.POSITIVE_INFINITY);
      if (canShrink && one > (widths[widest] ?? 0)) widest = place;
    });
    if (widest === -1) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** A table for people: a title line, then one line per row; cells are cut where the terminal is too narrow. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  style: Style,
): string {
  const titles = columns.map(({ title }): Cell => ({ text: title, tone: 'title' }));
  const lines = [titles, ...rows].map((row) =>
    row.map((cell) => ({ ...cell, text: oneLine(cell.text) })),
  );
  const natural = columns.map((_, place) =>
    Math.max(...lines.map((line) => textWidth(line[place]?.text ?? ''))),
  );
  const widths = fitWidths(natural, columns, style.width);
  return lines.map((line) => `${renderLine(line, widths, style)}\n`).join('');
}

function renderLine(line: readonly Cell[], widths: readonly number[], style: Style): string {
  return line
    .map(({ text, tone = 'plain' }, place) => {
      const width = widths[place] ?? 0;
      const shown = truncate(text, width, style.ellipsis);
      const isLast = place === line.length - 1;
      const padding = isLast ? '' : ' '.repeat(Math.max(0, width - textWidth(shown)));
      return style.paint(tone, shown) + padding;
    })
    .join(GAP)
    .trimEnd();
}

/** One fact: a name and one or more lines. */
export type Fact = readonly [name: string, ...lines: readonly Cell[]];

/** Facts under each other, names in a column of their own. Facts without a line are left out. */
export function renderFacts(facts: readonly Fact[], style: Style): string {
  const shown = facts.filter(([, ...lines]) => lines.length > 0);
  const width = Math.max(0, ...shown.map(([name]) => textWidth(name)));
  return shown
    .flatMap(([name, ...lines]) =>
      lines.map(({ text, tone = 'plain' }, place) => {
        const head = (place === 0 ? name : '').padEnd(width);
        return `${style.paint('quiet', head)}${GAP}${style.paint(tone, oneLine(text))}`.trimEnd();
      }),
    )
    .map((line) => `${line}\n`)
    .join('');
}
