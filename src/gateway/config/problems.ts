import { LongcallError, type ErrorCode } from '../../kernel/errors.ts';

/** Keys from the root of the configuration to a value. */
export type ConfigPath = readonly (string | number)[];

/** One thing that is wrong with the configuration, and where. */
export interface ConfigProblem {
  /** `listen.mcp`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** Where it was written: `file:line:column`, a flag, or an environment variable. */
  readonly where: string;
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
}

export const pathText = (path: ConfigPath): string => path.join('.');

/** `longcall.yaml:3:5: listen.mcp: needs host:port`. */
export function formatProblem({ where, path, message }: ConfigProblem): string {
  return [where, path, message].filter((part) => part !== '').join(': ');
}

const byPlace = (a: ConfigProblem, b: ConfigProblem): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);

/** In the order of the file, with the first word about each value only: what follows from it says nothing new. */
export function orderProblems(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const seen = new Set<string>();
  const first = problems.filter(({ path }) => {
    const known = path !== '' && seen.has(path);
    seen.add(path);
    return !known;
  });
  return first.toSorted(byPlace);
}

/** A configuration that cannot be used: everything that is wrong with it, in the order of the file. */
export class ConfigInvalidError extends LongcallError {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[], code: ErrorCode = 'LONGCALL_CONFIG_INVALID') {
    const count = problems.length === 1 ? 'an error' : `${problems.length} errors`;
    super(code, `the configuration has ${count}`, {
      hint: 'docs/reference/configuration.md describes every key',
      data: { problems: problems.length },
    });
    this.problems = problems;
  }
}
