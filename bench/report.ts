import { arch, cpus, platform } from 'node:os';
import type { LoadResult } from './load.ts';

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Several rounds of one measurement, by their medians. */
export interface Row {
  readonly name: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export const rowOf = (name: string, rounds: readonly LoadResult[]): Row => ({
  name,
  perSecond: median(rounds.map((round) => round.perSecond)),
  p50Ms: median(rounds.map((round) => round.p50Ms)),
  p99Ms: median(rounds.map((round) => round.p99Ms)),
});

const write = (line: string): void => void process.stdout.write(`${line}\n`);

export function printMachine(rounds: number): void {
  const model = cpus()[0]?.model ?? 'unknown processor';
  write(`node ${process.version} · ${platform()} ${arch()} · ${cpus().length} × ${model}`);
  write(
    `medians of ${rounds} interleaved rounds; load from a process of its own on the same machine`,
  );
}

/** A table with each row's ratio to the row named `base`. */
export function printTable(title: string, rows: readonly Row[], base: string): void {
  const reference = rows.find(({ name }) => name === base)?.perSecond ?? Number.NaN;
  write(`\n${title}`);
  write(
    `  ${'server'.padEnd(34)}${'req/s'.padStart(9)}${'p50 ms'.padStart(9)}${'p99 ms'.padStart(9)}   × ${base}`,
  );
  for (const { name, perSecond, p50Ms, p99Ms } of rows) {
    const numbers = [perSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2)].map((text) =>
      text.padStart(9),
    );
    write(`  ${name.padEnd(34)}${numbers.join('')}   ${(perSecond / reference).toFixed(2)}`);
  }
}

export const printLine = write;
