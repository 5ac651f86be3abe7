/**
 * Compiles src/ to dist/. The compiler writes into a folder of its own beside dist/; then files that differ
 * are moved into place one by one, and files without a source are removed. A process that starts from dist/
 * meanwhile never reads half a file.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

export interface BuildOptions {
  /** False emits without judging types. */
  readonly checkTypes: boolean;
}

/** Throws when the compiler refuses; dist/ then stays as it was. */
export function build({ checkTypes }: BuildOptions): void {
  const fresh = mkdtempSync(join(ROOT, '.dist-'));
  try {
    compile(fresh, checkTypes);
    moveChanged(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function compile(outDir: string, checkTypes: boolean): void {
  const flags = checkTypes ? [] : ['--noCheck'];
  const args = [TSC, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', outDir, ...flags];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`the compiler refused src/ (exit code ${status})`);
}

function moveChanged(fresh: string): void {
  const files = filesBelow(fresh);
  for (const file of files) {
    const target = join(DIST, file);
    mkdirSync(dirname(target), { recursive: true });
    if (contentOf(target) !== contentOf(join(fresh, file))) renameSync(join(fresh, file), target);
  }
  const wanted = new Set(files);
  for (const file of filesBelow(DIST)) if (!wanted.has(file)) rmSync(join(DIST, file));
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  try {
    build({ checkTypes: true });
  } catch (error) {
    process.stderr.write(`build failed: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
