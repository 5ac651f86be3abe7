/** Lines of standard error that are kept to say why a process ended. */
const LINES_KEPT = 20;
/** What runtimes print around an error: stack frames, markers, their own version. */
const NOISE = /^\s*$|^\s+at |^\s*[\^~]+\s*$|^Node\.js v\d|^[{}\s]*$/;
const TELLING = /\b(error|cannot|could not|not found|denied|failed|missing|invalid)\b/i;

/** What a process said last on standard error, as far as it tells something. */
export interface LastWords {
  add(line: string): void;
  /** The last line that names a problem, else the last one that is no noise, else nothing. */
  telling(): string | undefined;
}

export function createLastWords(): LastWords {
  const lines: string[] = [];
  return {
    add(line) {
      if (NOISE.test(line)) return;
      lines.push(line);
      if (lines.length > LINES_KEPT) lines.shift();
    },
    telling: () => lines.findLast((line) => TELLING.test(line)) ?? lines.at(-1),
  };
}
