/**
 * Who may import whom under src/, as data. ARCHITECTURE.md explains it; `oxlint.config.ts` and
 * `test/boundaries.test.ts` both enforce it, each in its own way.
 *
 * A unit is a folder (or a set of root files) with one row of rules. Files inside one unit may
 * always import each other. Test files are free: they may wire real parts together.
 */

/** `types` is `import type` only; `value` is any import. */
type Import = 'types' | 'value';

export interface UnitRule {
  /** Other units, or single files of them as `src/`-relative paths, with how they may be imported. */
  readonly imports: Readonly<Record<string, Import>>;
  /** npm packages this unit may import; undefined leaves them open. Builtins of Node are not listed here. */
  readonly packages?: readonly string[];
}

const PORTS = { kernel: 'value', stores: 'value' } as const;
const NEUTRAL = { kernel: 'value', protocol: 'value', ledger: 'value' } as const;
const STORE_TYPES = { protocol: 'types', ledger: 'types', identity: 'types' } as const;

/** A store applies the ledger's moves and reads words back that it wrote: pure tables and deciders, no more. */
const STORE_WORDS = {
  'protocol/model.ts': 'value',
  'ledger/operation.ts': 'value',
  identity: 'types',
} as const;

/** Everything but the two wires and the insides of stores and engine. */
const OUTER = {
  ...NEUTRAL,
  identity: 'value',
  stores: 'value',
  engine: 'value',
  runtime: 'value',
  requestor: 'value',
  faces: 'value',
  gateway: 'value',
  rollout: 'value',
} as const;

/** The concrete stores and engines, which only the composition root and entry points name. */
const CONCRETE = {
  'stores/sqlite': 'value',
  'stores/postgres': 'value',
  'stores/files': 'value',
  'engine/embedded': 'value',
  'engine/pg-boss': 'value',
} as const;

export const UNIT_RULES: Readonly<Record<string, UnitRule>> = {
  kernel: { imports: {}, packages: [] },
  protocol: { imports: { kernel: 'value' }, packages: ['zod'] },
  'protocol/wire-2025': { imports: { kernel: 'value', protocol: 'value' } },
  'protocol/wire-2026': { imports: { kernel: 'value', protocol: 'value' } },
  identity: { imports: { kernel: 'value' } },
  ledger: { imports: { kernel: 'value' }, packages: [] },
  stores: { imports: { kernel: 'value', ...STORE_TYPES }, packages: [] },
  'stores/contract': { imports: { ...PORTS, ...STORE_TYPES } },
  'stores/sqlite': { imports: { ...PORTS, ...STORE_WORDS }, packages: [] },
  'stores/postgres': { imports: { ...PORTS, ...STORE_WORDS }, packages: ['pg'] },
  'stores/files': { imports: PORTS, packages: [] },
  engine: { imports: PORTS, packages: [] },
  'engine/embedded': { imports: { ...PORTS, engine: 'value' }, packages: [] },
  'engine/pg-boss': { imports: { ...PORTS, engine: 'value' }, packages: ['pg', 'pg-boss'] },
  runtime: {
    imports: { ...NEUTRAL, identity: 'value', stores: 'value', 'engine/engine.ts': 'value' },
  },
  requestor: { imports: { ...NEUTRAL, stores: 'value' } },
  faces: { imports: { kernel: 'value', protocol: 'value', identity: 'value', runtime: 'value' } },
  rollout: { imports: { ...PORTS, 'runtime/admission.ts': 'value' } },
  gateway: {
    imports: {
      ...NEUTRAL,
      identity: 'value',
      stores: 'value',
      runtime: 'value',
      requestor: 'value',
    },
  },
  library: {
    imports: {
      ...NEUTRAL,
      identity: 'value',
      stores: 'value',
      runtime: 'value',
      requestor: 'value',
      gateway: 'value',
    },
  },
  background: { imports: { kernel: 'value', identity: 'value' }, packages: [] },
  verify: { imports: { kernel: 'value', entry: 'value' } },
  admin: { imports: OUTER },
  cli: {
    imports: { ...OUTER, background: 'value', admin: 'value', compose: 'value', verify: 'value' },
  },
  compose: {
    imports: { ...OUTER, ...CONCRETE, background: 'value', admin: 'value', library: 'value' },
  },
  entry: {
    imports: {
      ...OUTER,
      ...CONCRETE,
      admin: 'value',
      compose: 'value',
      library: 'value',
      'stores/contract': 'value',
    },
  },
};

/** The one file that may name the wires: it chooses a codec by negotiated version. */
export const WIRE_CHOOSER = 'protocol/select-codec.ts';

/** Files that may touch the clock and randomness. */
export const CLOCK_FILES: readonly string[] = ['kernel/clock.ts', 'kernel/random.ts'];

/** SQLite comes from `node:sqlite` alone: two SQLite libraries on one file in one process corrupt it. */
export const NODE_SQLITE_UNIT = 'stores/sqlite';
export const FORBIDDEN_PACKAGES: readonly string[] = [
  'better-sqlite3',
  'sqlite',
  'sqlite3',
  'sql.js',
  'libsql',
  '@libsql/client',
  '@electric-sql/pglite',
];

/**
 * Units that are files at the root: the package's entry points, and the composition root, which may have a folder
 * of its name beside it for what is its own.
 */
export const ROOT_UNITS: Readonly<Record<string, readonly string[]>> = {
  entry: ['index.ts', 'server.ts', 'client.ts', 'gateway.ts', 'testing.ts'],
  compose: ['compose.ts'],
};

/**
 * The unit of a file, by its path under src/ with `/` separators: the deepest row that covers it.
 * Undefined means that the file lies outside every unit, which is itself a mistake.
 */
export function unitOf(file: string): string | undefined {
  const [first, second] = file.split('/').slice(0, -1);
  if (first === undefined) {
    return Object.keys(ROOT_UNITS).find((unit) => ROOT_UNITS[unit]?.includes(file));
  }
  return [`${first}/${second}`, first].find((unit) => unit in UNIT_RULES);
}
