import { describe, expect, test } from 'vitest';
import { boundaryViolations } from './boundaries/rules.ts';
import { readSources } from './boundaries/source-scan.ts';

const SRC = new URL('../src/', import.meta.url).pathname;

/** Judges one planted file as if it stood at `path` under src/. */
const judge = (path: string, text: string): readonly string[] =>
  boundaryViolations([{ path, text }]);

test('the source keeps to the import table, to one clock, and has no circles between folders', () => {
  const sources = readSources(SRC);
  expect(sources.length).toBeGreaterThan(5);
  expect(boundaryViolations(sources)).toEqual([]);
});

describe('what the import table refuses', () => {
  const refused: readonly (readonly [path: string, text: string, because: string])[] = [
    ['kernel/a.ts', `import { t } from '../protocol/model.ts';`, 'kernel may not import protocol'],
    ['kernel/a.ts', `import { z } from 'zod';`, 'kernel may not use zod'],
    [
      'protocol/a.ts',
      `import type { O } from '../ledger/operation.ts';`,
      'protocol may not import',
    ],
    ['ledger/a.ts', `export { T } from '../protocol/model.ts';`, 'ledger may not import protocol'],
    ['identity/a.ts', `import '../ledger/operation.ts';`, 'identity may not import ledger'],
    ['stores/tasks.ts', `import { T } from '../protocol/model.ts';`, 'only types of protocol'],
    ['stores/tasks.ts', `import { x } from './sqlite/tasks.ts';`, 'may not import stores/sqlite'],
    [
      'stores/sqlite/a.ts',
      `import { x } from '../postgres/a.ts';`,
      'may not import stores/postgres',
    ],
    ['runtime/a.ts', `import { r } from '../requestor/route.ts';`, 'may not import requestor'],
    ['runtime/a.ts', `import { r } from '../rollout/stages.ts';`, 'may not import rollout'],
    ['runtime/a.ts', `import { e } from '../engine/other.ts';`, 'may not import engine'],
    ['requestor/a.ts', `const r = await import('../runtime/create.ts');`, 'may not import runtime'],
    ['faces/mcp/a.ts', `import { s } from '../../stores/tasks.ts';`, 'may not import stores'],
    ['rollout/a.ts', `import { c } from '../runtime/create.ts';`, 'may not import runtime'],
    [
      'gateway/a.ts',
      `import { s } from '../stores/sqlite/tasks.ts';`,
      'may not import stores/sqlite',
    ],
    ['admin/a.ts', `import { e } from '../engine/embedded/engine.ts';`, 'engine/embedded'],
    ['compose.ts', `import { c } from './protocol/wire-2026/codec.ts';`, 'may import a wire'],
    ['protocol/codec.ts', `import { c } from './wire-2025/codec.ts';`, 'may import a wire'],
    ['protocol/wire-2026/a.ts', `import { c } from '../wire-2025/a.ts';`, 'may import a wire'],
    ['gateway/a.ts', `import { v } from '../verify/contract.ts';`, 'may not import verify'],
    ['faces/rest/a.ts', `import { s } from '../../cli/main.ts';`, 'may not import cli'],
    ['gateway/a.ts', `import { DatabaseSync } from 'node:sqlite';`, 'may open SQLite'],
    ['compose.ts', `import Database from 'better-sqlite3';`, 'a second SQLite library'],
    ['runtime/a.ts', `import { x } from '../../test/x.ts';`, 'outside src/'],
    ['misc/a.ts', `export const a = 1;`, 'no folder of the import table'],
    ['gateway/a.ts', 'await import(`./${name}.ts`);', 'imports a computed path'],
  ];

  test.each(refused)('%s with %s', (path, text, because) => {
    expect(judge(path, text).join('\n')).toContain(because);
  });

  test('two folders that import each other', () => {
    const sources = [
      { path: 'admin/a.ts', text: `import type { G } from '../gateway/g.ts';` },
      { path: 'gateway/g.ts', text: `import type { A } from '../admin/a.ts';` },
    ];
    expect(boundaryViolations(sources).join('\n')).toContain('admin → gateway → admin');
  });
});

describe('what the clock rule refuses outside the kernel', () => {
  const uses = [
    'Date.now()',
    'new Date()',
    'new Date',
    'Date()',
    'setTimeout(f, 1)',
    'setInterval(f, 1)',
    'Math.random()',
    'performance.now()',
    'process.hrtime.bigint()',
    'AbortSignal.timeout(5)',
    'crypto.randomUUID()',
    'randomBytes(16)',
    '`${Date.now()}`',
  ];

  test.each(uses)('%s', (use) => {
    expect(judge('runtime/a.ts', `const x = ${use};`)).toHaveLength(1);
    expect(judge('kernel/clock.ts', `const x = ${use};`)).toEqual([]);
  });

  test('a timer module', () => {
    const text = `import { setImmediate } from 'node:timers/promises';`;
    expect(judge('runtime/a.ts', text).join('\n')).toContain('node:timers/promises');
  });
});

describe('what the rules let pass', () => {
  const allowed: readonly (readonly [path: string, text: string])[] = [
    ['protocol/select-codec.ts', `import { c } from './wire-2026/codec.ts';`],
    ['stores/tasks.ts', `import type { T } from '../protocol/model.ts';`],
    ['stores/sqlite/open.ts', `import { DatabaseSync } from 'node:sqlite';`],
    ['runtime/a.ts', `import type { Engine } from '../engine/engine.ts';`],
    ['rollout/a.ts', `import type { Admission } from '../runtime/admission.ts';`],
    ['cli/verify.ts', `import { v } from '../verify/contract.ts';`],
    ['runtime/a.ts', `// Date.now() is for the kernel\nconst told = 'setTimeout';`],
    ['runtime/a.ts', `const then = new Date(ms).toISOString();`],
    ['runtime/a.ts', `/* import { r } from '../requestor/route.ts'; */`],
    ['runtime/create.test.ts', `import { open } from '../stores/sqlite/open.ts';`],
  ];

  test.each(allowed)('%s with %s', (path, text) => {
    expect(judge(path, text)).toEqual([]);
  });
});
