import { AsyncLocalStorage } from 'node:async_hooks';
import { StepRefused } from './step-refused.ts';

const NAME_CHARS_MAX = 128;

/** The step whose work runs now, and the run that it belongs to: work may well call another tool of this process. */
interface Inside {
  readonly names: Names;
  readonly name: string;
}
const inside = new AsyncLocalStorage<Inside>();

/** The names that one run of a handler has used. They identify what is remembered, so each counts once. */
export interface Names {
  /** Why a name cannot be used, or nothing; then it is used from here on. */
  claim(name: string): StepRefused | undefined;
  /** Wraps the work of a step, so that nothing is begun inside of it: a replay would not come by there. */
  around<Args extends readonly unknown[], T>(
    name: string,
    work: (...args: Args) => T,
  ): (...args: Args) => T;
}

export function createNames(): Names {
  const used = new Set<string>();
  const names: Names = {
    claim(name) {
      const problem = problemOf(name) ?? nestingProblem() ?? repeatProblem(name);
      if (problem !== undefined) return new StepRefused(name, problem);
      used.add(name);
      return undefined;
    },
    around:
      (name, work) =>
      (...args) =>
        inside.run({ names, name }, () => work(...args)),
  };
  const nestingProblem = (): string | undefined => {
    const outer = inside.getStore();
    return outer?.names === names
      ? `is begun inside of the step ${JSON.stringify(outer.name)}: steps do not nest. Begin it after that one has ended`
      : undefined;
  };
  const repeatProblem = (name: string): string | undefined =>
    used.has(name)
      ? 'was used before in this call. Each name stands for one thing: number them in a loop'
      : undefined;
  return names;
}

function problemOf(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'has no name';
  if (name.length > NAME_CHARS_MAX) return `has a name of more than ${NAME_CHARS_MAX} characters`;
  // Stored as UTF-8 text, neither would come back as it is, and the next attempt would find another name.
  return !name.isWellFormed() || name.includes('\0')
    ? 'has a name with half a character or a NUL in it'
    : undefined;
}
