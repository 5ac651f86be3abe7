import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const CONFIG = [
  `import { ClosingLineReporter } from '${join(ROOT, 'test/reporter.ts')}';`,
  'export default { test: { reporters: [new ClosingLineReporter()] } };',
].join('\n');

/** Runs a planted test file in a project of its own that reports as ours does. */
function report(text: string): { readonly status: number | null; readonly lastLine: string } {
  const home = mkdtempSync(join(tmpdir(), 'longcall-reporter-'));
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
    writeFileSync(join(home, 'package.json'), '{"type":"module"}');
    writeFileSync(join(home, 'vitest.config.ts'), CONFIG);
    writeFileSync(join(home, 'a.test.ts'), `import { test } from 'vitest';\n${text}`);
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const { status, stdout } = spawnSync(process.execPath, [vitest, 'run'], {
      cwd: home,
      encoding: 'utf8',
    });
    return { status, lastLine: stdout.trimEnd().split('\n').at(-1) ?? '' };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

test.each([
  ['1 passed, 0 failed', 0, "test('a', () => {});"],
  ['1 passed, 0 failed, 2 skipped', 0, "test('a', () => {}); test.skip('b'); test.todo('c');"],
  ['1 passed, 1 failed', 1, "test('a', () => {}); test('b', () => { throw new Error('no'); });"],
  ['0 passed, 1 failed', 1, "throw new Error('cannot be loaded');"],
  ['1 passed, 1 failed', 1, "test('a', () => { void Promise.reject(new Error('uncaught')); });"],
])('the last line is "%s" and the exit code %i', (lastLine, status, text) => {
  expect(report(text)).toEqual({ lastLine, status });
});
