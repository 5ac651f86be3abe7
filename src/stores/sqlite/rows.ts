import type { SQLOutputValue } from 'node:sqlite';
import { invariant } from '../../kernel/invariant.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { isJsonObject } from '../../kernel/json.ts';

/** Readers of single columns. A value of another kind than the schema promises is a broken invariant. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

export function textAt(row: Row, column: string): string {
  const value = row[column];
  invariant(typeof value === 'string', `column ${column} is text`);
  return value;
}

export function numberAt(row: Row, column: string): number {
  const value = row[column];
  invariant(typeof value === 'number', `column ${column} is a number`);
  return value;
}

export function optionalTextAt(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : textAt(row, column);
}

export function optionalNumberAt(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : numberAt(row, column);
}

export interface ClosedSet<T extends string> {
  readonly column: string;
  readonly of: readonly T[];
}

/** A word out of a closed set. */
export function wordAt<T extends string>(row: Row, { column, of }: ClosedSet<T>): T {
  const value = textAt(row, column);
  const word = of.find((one) => one === value);
  invariant(word !== undefined, `column ${column} is one of ${of.join(', ')}`);
  return word;
}

export function optionalWordAt<T extends string>(row: Row, set: ClosedSet<T>): T | undefined {
  return row[set.column] === null ? undefined : wordAt(row, set);
}

export function jsonAt(row: Row, column: string): Json {
  return JSON.parse(textAt(row, column)) as Json;
}

export function objectColumn(row: Row, column: string): JsonObject {
  const value = jsonAt(row, column);
  invariant(isJsonObject(value), `column ${column} is a JSON object`);
  return value;
}

/** Members that are `undefined` left out, as `exactOptionalPropertyTypes` wants optional members. */
export function present<T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
