import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Source } from '../boundaries/source-scan.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SNIPPET_MS_MAX = 60_000;

/** A fenced block marked `sh run` or `ts run`: documentation that is executed. */
export interface Snippet {
  readonly language: 'sh' | 'ts';
  readonly code: string;
  /** File and line of the fence, for the test's name. */
  readonly where: string;
}

export interface Ran {
  readonly ok: boolean;
  /** Everything that the snippet and its checks printed. */
  readonly output: string;
}

export function snippetsIn({ path, text }: Source): readonly Snippet[] {
  const fences = text.matchAll(/^```(?<language>sh|ts) run\n(?<code>[\s\S]*?)^```$/gm);
  return [...fences].map(({ groups, index }) => ({
    language: groups?.['language'] === 'ts' ? 'ts' : 'sh',
    code: groups?.['code'] ?? '',
    where: `${path}:${text.slice(0, index).split('\n').length}`,
  }));
}

/** Runs a snippet in a folder of its own, where `longcall` is both a command and a package. */
export function runSnippet({ language, code }: Snippet): Ran {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'longcall-snippet-')));
  try {
    furnish(home);
    return language === 'sh' ? runShell(home, code) : runTypeScript(home, code);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function furnish(home: string): void {
  for (const folder of ['bin', 'node_modules']) mkdirSync(join(home, folder));
  symlinkSync(join(ROOT, 'bin/longcall.js'), join(home, 'bin/longcall'));
  symlinkSync(ROOT, join(home, 'node_modules/longcall'));
  symlinkSync(join(ROOT, 'node_modules/@types'), join(home, 'node_modules/@types'));
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
}

const runShell = (home: string, code: string): Ran =>
  run(home, ['bash', '-euo', 'pipefail', '-c', code]);

function runTypeScript(home: string, code: string): Ran {
  const config = { extends: join(ROOT, 'tsconfig.json'), include: ['snippet.ts'] };
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(home, 'snippet.ts'), code);
  const checked = run(home, [process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc')]);
  if (!checked.ok) return checked;
  const quiet = ['--disable-warning=ExperimentalWarning', '--experimental-strip-types'];
  return run(home, [process.execPath, ...quiet, 'snippet.ts']);
}

function run(home: string, [command = '', ...args]: readonly string[]): Ran {
  const path = [join(home, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter);
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: home,
    env: { ...process.env, PATH: path, HOME: home },
    encoding: 'utf8',
    timeout: SNIPPET_MS_MAX,
    input: '',
  });
  return { ok: status === 0, output: `${stdout}${stderr}` };
}
