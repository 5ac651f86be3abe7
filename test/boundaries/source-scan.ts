import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** One source file: its path relative to the scanned root, with `/` separators, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

export interface FoundImport {
  readonly specifier: string;
  /** True for `import type` and `export type`, which leave nothing behind at run time. */
  readonly typeOnly: boolean;
}

/** Every TypeScript file below `root`, sorted by path. A root that is not there has none. */
export function readSources(root: string): readonly Source[] {
  return listFiles(root)
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** Paths of all files below `root`, relative to it, with `/` separators, sorted. */
export function listFiles(root: string): readonly string[] {
  try {
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const COMMENT = String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`;
const QUOTED = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"`;
const TEMPLATE = '`(?:\\\\.|[^`\\\\])*`';
const REGEX = String.raw`(?<=[(,=:[!&|?{};]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/`;
const TOKEN = new RegExp(`(${COMMENT})|(${QUOTED})|(${REGEX})|${TEMPLATE}`, 'g');

/** The text without comments. Strings stay, so that import specifiers can be read from it. */
export function withoutComments(text: string): string {
  return text.replace(TOKEN, (token: string, comment?: string) => (comment ? ' ' : token));
}

/** The code alone: no comments, quoted strings and patterns emptied. Templates stay: they may hold calls. */
export function codeOf(text: string): string {
  return text.replace(
    TOKEN,
    (token: string, ...[comment, quoted, pattern]: (string | undefined)[]) => {
      if (comment) return ' ';
      if (quoted) return "''";
      return pattern ? '/./' : token;
    },
  );
}

const FROM_IMPORT =
  /\b(?:import|export)\s+(?<type>type\s)?[^'"();]*?\bfrom\s*['"](?<specifier>[^'"]+)['"]/g;
const BARE_IMPORT = /\bimport\s*\(?\s*['"](?<specifier>[^'"]+)['"]/g;

/** All imports and re-exports that the text names, static and dynamic. */
export function importsOf(text: string): readonly FoundImport[] {
  const code = withoutComments(text);
  return [...code.matchAll(FROM_IMPORT), ...code.matchAll(BARE_IMPORT)].map((match) => ({
    specifier: match.groups?.['specifier'] ?? '',
    typeOnly: match.groups?.['type'] !== undefined,
  }));
}

/** True when some `import(…)` computes its target, which no reader of the text can follow. */
export function hasComputedImport(text: string): boolean {
  return /\bimport\s*\(\s*(?!'')/.test(codeOf(text));
}
