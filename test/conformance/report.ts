import type { RunVerdict, ScenarioVerdict, Verdict } from './verdict.ts';

const SIGNS: Readonly<Record<Verdict, string>> = {
  passed: '✓',
  skipped: '-',
  'known failure': '~',
  failed: '✗',
};
const REMARK_WIDTH = 200;

/** The summary: one line per scenario, what each remarked, and the totals. */
export function renderReport({ scenarios, outdated, good }: RunVerdict): string {
  const width = Math.max(...scenarios.map(({ outcome }) => outcome.scenario.length));
  const parts = Map.groupBy(scenarios, ({ outcome }) => outcome.part);
  const tables = [...parts].flatMap(([part, rows]) => [
    `\n${part === 'named' ? 'named scenarios' : `requirements ${part}`}`,
    ...rows.flatMap((row) => renderScenario(row, width)),
  ]);
  const stale = outdated.map(
    (entry) =>
      `out of date: ${[entry.part, entry.scenario, entry.check].filter(Boolean).join(' ')} is listed but does not happen`,
  );
  return [
    ...tables,
    '',
    ...stale,
    totals(scenarios),
    good ? 'conformance: good' : 'conformance: NOT good',
    '',
  ].join('\n');
}

function renderScenario(
  { outcome, verdict, passed, remarks }: ScenarioVerdict,
  width: number,
): string[] {
  const line = `  ${SIGNS[verdict]} ${outcome.scenario.padEnd(width)}  ${String(passed).padStart(3)} passed  ${verdict}`;
  return [line, ...remarks.map((remark) => `      ${remark.slice(0, REMARK_WIDTH)}`)];
}

function totals(scenarios: readonly ScenarioVerdict[]): string {
  const checks = scenarios.reduce((sum, { passed }) => sum + passed, 0);
  const counts = Object.entries(SIGNS).map(([verdict]) => {
    const count = scenarios.filter((scenario) => scenario.verdict === verdict).length;
    return `${count} ${verdict}`;
  });
  return `${scenarios.length} scenario runs: ${counts.join(', ')}; ${checks} checks passed`;
}
