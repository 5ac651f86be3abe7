import { posix } from 'node:path';
import {
  CLOCK_FILES,
  FORBIDDEN_PACKAGES,
  NODE_SQLITE_UNIT,
  UNIT_RULES,
  WIRE_CHOOSER,
  unitOf,
} from './import-table.ts';
import { codeOf, hasComputedImport, importsOf } from './source-scan.ts';
import type { FoundImport, Source } from './source-scan.ts';

/** Everything in the product's source that breaks the import table, as readable sentences. */
export function boundaryViolations(sources: readonly Source[]): readonly string[] {
  const product = sources.filter(({ path }) => !path.endsWith('.test.ts'));
  return [
    ...product.flatMap(importViolations),
    ...product.flatMap(clockViolations),
    ...folderCycles(product),
  ];
}

function importViolations(source: Source): readonly string[] {
  const unit = unitOf(source.path);
  if (unit === undefined) return [`${source.path}: lies in no folder of the import table`];
  const computed = hasComputedImport(source.text)
    ? [`${source.path}: imports a computed path, which nothing can check`]
    : [];
  const broken = importsOf(source.text).flatMap((found) => {
    const reason = found.specifier.startsWith('.')
      ? refusedFile(source.path, unit, found)
      : refusedPackage(unit, found.specifier);
    return reason === undefined ? [] : [`${source.path}: imports ${found.specifier}: ${reason}`];
  });
  return [...computed, ...broken];
}

/** The file under src/ that a relative specifier names. */
function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}

function refusedFile(path: string, unit: string, found: FoundImport): string | undefined {
  const target = targetOf(path, found.specifier);
  if (target.startsWith('..')) return 'lies outside src/';
  const targetUnit = unitOf(target);
  if (targetUnit === undefined) return 'lies in no folder of the import table';
  if (targetUnit === unit) return undefined;
  if (targetUnit.startsWith('protocol/wire-')) {
    return path === WIRE_CHOOSER ? undefined : `only ${WIRE_CHOOSER} may import a wire`;
  }
  const allowed = UNIT_RULES[unit]?.imports;
  const how = allowed?.[targetUnit] ?? allowed?.[target];
  if (how === undefined) return `${unit} may not import ${targetUnit}`;
  if (how === 'types' && !found.typeOnly) return `${unit} may import only types of ${targetUnit}`;
  return undefined;
}

function refusedPackage(unit: string, specifier: string): string | undefined {
  if (specifier === 'node:sqlite' || specifier === 'sqlite') {
    return unit === NODE_SQLITE_UNIT ? undefined : `only ${NODE_SQLITE_UNIT} may open SQLite`;
  }
  if (specifier.startsWith('node:')) return undefined;
  const name = packageName(specifier);
  if (FORBIDDEN_PACKAGES.includes(name)) return 'a second SQLite library corrupts shared files';
  const allowed = UNIT_RULES[unit]?.packages;
  if (allowed !== undefined && !allowed.includes(name)) return `${unit} may not use ${name}`;
  return undefined;
}

function packageName(specifier: string): string {
  const depth = specifier.startsWith('@') ? 2 : 1;
  return specifier.split('/').slice(0, depth).join('/');
}

const CLOCK_USES: readonly RegExp[] = [
  /\bDate\s*\.\s*now\b/,
  /\bDate\s*\(\s*\)/,
  /\bnew\s+Date\b(?!\s*[(.\w])/,
  /\bset(?:Timeout|Interval)\b/,
  /\bAbortSignal\s*\.\s*timeout\b/,
  /\bMath\s*\.\s*random\b/,
  /\bperformance\s*\.\s*now\b/,
  /\bprocess\s*\.\s*(?:hrtime|uptime)\b/,
  /\b(?:randomUUID|randomBytes|randomInt|randomFill|randomFillSync|getRandomValues)\b/,
];
const CLOCK_MODULES = /^(?:node:)?(?:timers|perf_hooks)(?:\/|$)/;

function clockViolations({ path, text }: Source): readonly string[] {
  if (CLOCK_FILES.includes(path)) return [];
  const code = codeOf(text);
  const uses = CLOCK_USES.flatMap((pattern) => pattern.exec(code)?.[0] ?? []);
  const modules = importsOf(text)
    .map(({ specifier }) => specifier)
    .filter((specifier) => CLOCK_MODULES.test(specifier));
  return [...uses, ...modules].map(
    (use) => `${path}: ${use}: clock and randomness live in ${CLOCK_FILES.join(' and ')}`,
  );
}

/** A folder on the first level, or the root file itself. */
function folderOf(path: string): string {
  return path.split('/')[0] ?? path;
}

/** Cycles among first-level folders, whatever the table says; each is reported once. */
function folderCycles(sources: readonly Source[]): readonly string[] {
  const graph = folderGraph(sources);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (folder: string, trail: readonly string[]): void => {
    const start = trail.indexOf(folder);
    if (start >= 0) cycles.push([...trail.slice(start), folder].join(' → '));
    if (start >= 0 || done.has(folder)) return;
    for (const next of graph.get(folder) ?? []) visit(next, [...trail, folder]);
    done.add(folder);
  };
  for (const folder of graph.keys()) visit(folder, []);
  return cycles.map((cycle) => `folders import each other in a circle: ${cycle}`);
}

function folderGraph(sources: readonly Source[]): ReadonlyMap<string, ReadonlySet<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { path, text } of sources) {
    const from = folderOf(path);
    const targets = importsOf(text)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => folderOf(targetOf(path, specifier)))
      .filter((to) => to !== from);
    graph.set(from, new Set([...(graph.get(from) ?? []), ...targets]));
  }
  return graph;
}
