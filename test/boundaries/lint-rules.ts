import { FORBIDDEN_PACKAGES, NODE_SQLITE_UNIT, ROOT_UNITS, UNIT_RULES } from './import-table.ts';

/** The import table in the terms of the linter's `no-restricted-imports`, which sees specifiers only. */

interface RestrictedPattern {
  readonly group: string[];
  readonly message: string;
  readonly allowTypeImports?: boolean;
}
interface Restricted {
  readonly paths: { name: string; message: string }[];
  readonly patterns: RestrictedPattern[];
}

/** Outer folders before the ones inside them, so that the deepest rule is the last to apply. */
export const UNITS: readonly string[] = Object.keys(UNIT_RULES).toSorted(
  (a, b) => depthOf(a) - depthOf(b),
);

/** Globs of a unit's files: its folder, and its root files if it has any. */
export function filesOf(unit: string): string[] {
  return [`src/${unit}/**/*.ts`, ...(ROOT_UNITS[unit] ?? []).map((file) => `src/${file}`)];
}

export function restrictedImports(unit: string): Restricted {
  return { paths: restrictedPackages(unit), patterns: restrictedUnits(unit) };
}

function restrictedPackages(unit: string): Restricted['paths'] {
  const names =
    unit === NODE_SQLITE_UNIT ? FORBIDDEN_PACKAGES : [...FORBIDDEN_PACKAGES, 'node:sqlite'];
  return names.map((name) => ({ name, message: `only ${NODE_SQLITE_UNIT}, through node:sqlite` }));
}

function restrictedUnits(unit: string): RestrictedPattern[] {
  const allowed = UNIT_RULES[unit]?.imports ?? {};
  return UNITS.filter((other) => other !== unit && allowed[other] !== 'value')
    .filter((other) => !(other in ROOT_UNITS))
    .map((other) => ({
      group: specifiersOf({ from: unit, to: other }),
      message: `${unit} may not import ${other}: see ARCHITECTURE.md`,
      ...(allowed[other] === 'types' ? { allowTypeImports: true } : {}),
    }));
}

/** Specifiers that lead from one unit into another, less the few files that are allowed on their own. */
function specifiersOf({ from, to }: { from: string; to: string }): string[] {
  const parent = to.split('/')[0] ?? to;
  const sibling = to !== parent && from.split('/')[0] === parent;
  const folder = sibling ? to.slice(parent.length + 1) : to;
  const allowedFiles = Object.keys(UNIT_RULES[from]?.imports ?? {}).filter(
    (path) => path.endsWith('.ts') && path.startsWith(`${to}/`),
  );
  return [`**/${folder}/**`, ...allowedFiles.map((path) => `!**/${path}`)];
}

function depthOf(unit: string): number {
  return unit.split('/').length;
}
