import { readFileSync } from 'node:fs';
import { withoutComments } from '../boundaries/source-scan.ts';
import type { Source } from '../boundaries/source-scan.ts';

const TSV = new URL('./requirements.tsv', import.meta.url);
const READINGS = new URL('../../docs/reference/protocol-readings.md', import.meta.url);

export interface Requirement {
  readonly id: string;
  /** Must a test show it with what is built today? `later` waits for parts that are not there yet. */
  readonly owed: 'now' | 'later';
}

/** requirements.tsv: one row per requirement, with a header row. */
export function readRequirements(): readonly Requirement[] {
  const [header = '', ...rows] = readFileSync(TSV, 'utf8').trimEnd().split('\n');
  const columns = header.split('\t');
  return rows.map((row) => {
    const cells = row.split('\t');
    const id = cells[columns.indexOf('id')];
    const owed = cells[columns.indexOf('owed')];
    if (id === undefined || (owed !== 'now' && owed !== 'later')) {
      throw new Error(`requirements.tsv: not a requirement: ${row}`);
    }
    return { id, owed };
  });
}

/** The ids `T1`, `T2` … that have a reading in the documentation. */
export function readReadings(): readonly string[] {
  const text = readFileSync(READINGS, 'utf8');
  return [...text.matchAll(/^### (?<id>T\d+)\./gm)].map((match) => match.groups?.['id'] ?? '');
}

/** Ids that a file cites: the quoted ones, where it uses `verifies` or defines checks; comments do not count. */
export function citationsIn({ text }: Source): readonly string[] {
  const code = withoutComments(text);
  if (!/\b(?:verifies|defineCheck)\s*\(/.test(code)) return [];
  return [...code.matchAll(/'(?<id>(?:G\d-|T)\d+)'/g)].map((match) => match.groups?.['id'] ?? '');
}
