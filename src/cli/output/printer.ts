import type { CliIo } from '../io.ts';
import { jsonText } from './json.ts';
import { createStyle } from './style.ts';
import type { Style } from './style.ts';
import { renderFacts, renderTable } from './table.ts';
import type { Cell, Column, Fact } from './table.ts';
import { formatMoment } from './time.ts';
import type { TimeFormat } from './time.ts';

/** The output options that every reading command has. */
export interface OutputFlags {
  readonly json?: boolean | undefined;
  /** False with `--no-color`. */
  readonly color?: boolean | undefined;
  readonly ascii?: boolean | undefined;
  readonly time?: TimeFormat | undefined;
}

/** Writes what a command found: one JSON document, or words for people. Data on stdout, everything else on stderr. */
export interface Printer {
  readonly style: Style;
  readonly json: boolean;
  /** The document with `--json`; otherwise what `words` writes. */
  answer(document: object, words: () => void): void;
  table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void;
  facts(facts: readonly Fact[]): void;
  line(text: string): void;
  /** A remark for the person at the terminal; never data. */
  note(text: string): void;
  /** An RFC 3339 time as the reader wants it. */
  moment(iso: string): string;
}

export function createPrinter(io: CliIo, flags: OutputFlags): Printer {
  const json = flags.json === true;
  const style = createStyle({
    env: io.env,
    isTty: io.isTty,
    columns: io.columns,
    noColour: flags.color === false,
    ascii: flags.ascii === true,
  });
  const time = flags.time ?? 'relative';
  return {
    style,
    json,
    answer(document, words) {
      if (json) io.stdout(jsonText(document, io.isTty));
      else words();
    },
    table: (columns, rows) => io.stdout(renderTable(columns, rows, style)),
    facts: (facts) => io.stdout(renderFacts(facts, style)),
    line: (text) => io.stdout(`${text}\n`),
    note: (text) => io.stderr(`${text}\n`),
    moment: (iso) => formatMoment(iso, io.clock.now(), time),
  };
}
