import { basename } from 'node:path';
import { LongcallError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';

/** `--upstream` and LONGCALL_UPSTREAM: an upstream in one text, a URL or a command line. */

const WORD = /(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g;

/**
 * Splits a command line at white space; quotes keep words together, a backslash keeps the next character. Nothing
 * else is special: no shell runs. Throws LONGCALL_USAGE where a quote is left open or nothing is named.
 */
export function splitCommand(text: string): readonly string[] {
  const words = text.match(WORD) ?? [];
  if (words.length === 0 || text.replaceAll(WORD, '').trim() !== '')
    throw new LongcallError(
      'LONGCALL_USAGE',
      'an upstream needs a URL or a command line with balanced quotes',
      {
        hint: 'for example --upstream "npx -y @modelcontextprotocol/server-everything"',
      },
    );
  return words.map(unquote);
}

const QUOTED = /"(?:\\.|[^"\\])*"|'[^']*'|\\./g;

function unquote(word: string): string {
  return word.replace(QUOTED, (whole: string) => {
    if (whole.startsWith('"')) return whole.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
    return whole.startsWith("'") ? whole.slice(1, -1) : whole.slice(1);
  });
}

const isUrl = (text: string): boolean => /^https?:\/\//i.test(text);

/** Programs that run another one: the name of interest is their first argument that is no option. */
const RUNNERS = new Set([
  'npx',
  'npm',
  'pnpm',
  'yarn',
  'bunx',
  'bun',
  'deno',
  'node',
  'python',
  'python3',
  'uvx',
  'uv',
  'tsx',
  'docker',
  'exec',
  'dlx',
  'run',
]);

const NAME_CHARS_MAX = 40;

function cleanName(text: string): string {
  const name = text
    .replace(/\.(?:[cm]?[jt]s|py|exe)$/, '')
    .replace(/(?<=.)@[^/@]*$/, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name.slice(0, NAME_CHARS_MAX) || 'upstream';
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : 'upstream';
}

/** A short name for an upstream that was given without one: the host, or what the command runs. */
export function nameOfUpstream(text: string): string {
  if (isUrl(text)) return cleanName(hostOf(text));
  const words = splitCommand(text);
  const telling =
    words.find((word) => !word.startsWith('-') && !RUNNERS.has(basename(word))) ?? words[0] ?? '';
  return cleanName(basename(telling));
}

/** Entries as the file would have them; names that come twice get a number. */
export function upstreamsFromTexts(texts: readonly string[]): JsonObject {
  const entries = new Map<string, JsonObject>();
  for (const text of texts) {
    const name = nameOfUpstream(text);
    const taken = Array.from(entries.keys()).filter(
      (other) => other === name || other.startsWith(`${name}-`),
    ).length;
    const entry: JsonObject = isUrl(text) ? { url: text } : { command: splitCommand(text) };
    entries.set(taken === 0 ? name : `${name}-${taken + 1}`, entry);
  }
  return Object.fromEntries(entries);
}
