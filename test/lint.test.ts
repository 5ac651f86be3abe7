import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LONG_FUNCTION = `export function long(): void {\n${'  void 0;\n'.repeat(71)}}\n`;
const LONG_FILE = `export const r = 1;\n${'// one more line\n'.repeat(401)}`;
const PROMISE = 'const later = async (): Promise<void> => undefined;\n';
const SWITCH = `export function f(x: 'a' | 'b'): void { switch (x) { case 'a': break; } }`;

type Planted = readonly [rule: string, path: string, text: string];

/** A rule, a file that breaks it, and where that file stands. */
const BAD_CODE: readonly Planted[] = [
  ['typescript(no-explicit-any)', 'src/kernel/any.ts', 'export const x = (y: any) => y;'],
  ['typescript(no-non-null-assertion)', 'src/kernel/bang.ts', 'export const x = (y?: 1) => y!;'],
  ['typescript(no-floating-promises)', 'src/runtime/floating.ts', `${PROMISE}later();`],
  ['typescript(no-misused-promises)', 'src/runtime/misused.ts', `${PROMISE}[1].forEach(later);`],
  ['typescript(switch-exhaustiveness-check)', 'src/runtime/switch.ts', SWITCH],
  [
    'typescript(consistent-type-imports)',
    'src/runtime/type.ts',
    `import { A } from './a.ts';\nexport type B = A;`,
  ],
  ['import(no-default-export)', 'src/kernel/default.ts', 'export default 1;'],
  ['import(no-cycle)', 'src/runtime/circle-a.ts', `export { b as a } from './circle-b.ts';`],
  ['import(no-cycle)', 'src/runtime/circle-b.ts', `export { a as b } from './circle-a.ts';`],
  ['unicorn(no-process-exit)', 'src/cli/exit.ts', 'process.exit(1);'],
  ['eslint(no-console)', 'src/cli/console.ts', `console.log('hello');`],
  [
    'eslint(max-params)',
    'src/runtime/params.ts',
    'export const f = (a: 1, b: 1, c: 1, d: 1) => a;',
  ],
  ['eslint(max-lines)', 'src/runtime/lines.ts', LONG_FILE],
  ['eslint(max-lines-per-function)', 'src/runtime/function.ts', LONG_FUNCTION],
  ['eslint(no-restricted-globals)', 'src/runtime/timer.ts', 'setTimeout(() => undefined, 1);'],
  ['eslint(no-restricted-globals)', 'src/compose.ts', 'setInterval(() => undefined, 1);'],
  ['eslint(no-restricted-properties)', 'src/runtime/now.ts', 'export const x = Date.now();'],
  ['eslint(no-restricted-properties)', 'src/runtime/random.ts', 'export const x = Math.random();'],
];

/** Files with one forbidden import each: where the file stands, and what it imports. */
const BAD_IMPORTS: readonly (readonly [path: string, specifier: string])[] = [
  ['src/kernel/protocol.ts', '../protocol/o.ts'],
  ['src/protocol/ledger.ts', '../ledger/o.ts'],
  ['src/ledger/protocol.ts', '../protocol/o.ts'],
  ['src/stores/values.ts', '../protocol/o.ts'],
  ['src/stores/inside.ts', './sqlite/o.ts'],
  ['src/stores/sqlite/sibling.ts', '../postgres/o.ts'],
  ['src/runtime/requestor.ts', '../requestor/o.ts'],
  ['src/requestor/runtime.ts', '../runtime/o.ts'],
  ['src/faces/mcp/stores.ts', '../../stores/o.ts'],
  ['src/rollout/runtime.ts', '../runtime/o.ts'],
  ['src/runtime/embedded.ts', '../engine/embedded/o.ts'],
  ['src/gateway/wire.ts', '../protocol/wire-2026/o.ts'],
  ['src/protocol/wire.ts', './wire-2025/o.ts'],
  ['src/gateway/verify.ts', '../verify/o.ts'],
  ['src/runtime/sqlite.ts', 'node:sqlite'],
  ['src/stores/sqlite/other.ts', 'better-sqlite3'],
];

const PLANTED: readonly Planted[] = [
  ...BAD_CODE,
  ...BAD_IMPORTS.map(([path, from]): Planted => [
    'eslint(no-restricted-imports)',
    path,
    `export { O } from '${from}';`,
  ]),
];

const ALLOWED: readonly (readonly [path: string, text: string])[] = [
  ['src/kernel/clock.ts', 'export const now = () => Date.now();\nsetTimeout(() => undefined, 1);'],
  ['src/protocol/select-codec.ts', `export { O } from './wire-2025/o.ts';`],
  ['src/stores/types.ts', `import type { O } from '../protocol/o.ts';\nexport type P = O;`],
  ['src/stores/sqlite/open.ts', `export { DatabaseSync } from 'node:sqlite';`],
  ['src/runtime/engine.ts', `export type { E } from '../engine/engine.ts';`],
  ['src/rollout/admission.ts', `export type { A } from '../runtime/admission.ts';`],
  [
    'src/runtime/create.test.ts',
    `export { O } from '../stores/sqlite/o.ts';\nsetTimeout(() => undefined, 1);`,
  ],
];

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

let home = '';
let diagnostics: readonly Diagnostic[] = [];

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'longcall-lint-'));
  for (const file of ['oxlint.config.ts', 'tsconfig.json', 'package.json', 'test/boundaries']) {
    cpSync(join(ROOT, file), join(home, file), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
  for (const [path, text] of [...PLANTED.map(([, ...file]) => file), ...ALLOWED]) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), `${text}\n`);
  }
  diagnostics = lint();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The linter reads its TypeScript configuration itself, so it runs on the project's own Node.js. */
function lint(): readonly Diagnostic[] {
  const node = join(ROOT, 'node_modules/node/bin/node');
  const args = [join(ROOT, 'node_modules/oxlint/bin/oxlint'), '-f', 'json', 'src'];
  const { stdout, stderr } = spawnSync(node, args, { cwd: home, encoding: 'utf8' });
  if (!stdout.startsWith('{')) throw new Error(`the linter did not run: ${stdout}${stderr}`);
  return (JSON.parse(stdout) as { diagnostics: readonly Diagnostic[] }).diagnostics;
}

const rulesBrokenIn = (path: string): readonly string[] =>
  diagnostics.filter(({ filename }) => filename.endsWith(path)).map(({ code }) => code);

test.each(PLANTED)('%s fires in %s', (rule, path) => {
  expect(rulesBrokenIn(path)).toContain(rule);
});

test.each(ALLOWED)('%s passes', (path) => {
  expect(rulesBrokenIn(path)).toEqual([]);
});
