import type { Expectation, Expectations } from './expectations.ts';
import type { Check, ScenarioOutcome } from './suite.ts';

/** How a scenario went, once the expectations are known. */
export const VERDICTS = ['passed', 'skipped', 'known failure', 'failed'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One scenario of the summary. */
export interface ScenarioVerdict {
  readonly outcome: ScenarioOutcome;
  readonly verdict: Verdict;
  readonly passed: number;
  /** What went wrong, was skipped or was known: one line each. */
  readonly remarks: readonly string[];
}

/** The whole run. It is good when nothing failed unexpectedly and no expectation is out of date. */
export interface RunVerdict {
  readonly scenarios: readonly ScenarioVerdict[];
  readonly outdated: readonly Expectation[];
  readonly good: boolean;
}

/** A warning is a SHOULD that does not hold; it must be listed like any failure. */
const isBad = (check: Check): boolean => check.status === 'FAILURE' || check.status === 'WARNING';
const isSkip = (check: Check): boolean => check.status === 'SKIPPED';

/** Compares what the suite said with what was expected of it. */
export function judgeRun(
  outcomes: readonly ScenarioOutcome[],
  expectations: Expectations,
): RunVerdict {
  const scenarios = outcomes.map((outcome) => judgeScenario(outcome, expectations));
  const outdated = [
    ...expectations.failures.filter((entry) => !holds(entry, outcomes, isBad)),
    ...expectations.skips.filter((entry) => !holds(entry, outcomes, isSkip)),
  ];
  const failed = scenarios.some(({ verdict }) => verdict === 'failed');
  return { scenarios, outdated, good: !failed && outdated.length === 0 };
}

function judgeScenario(outcome: ScenarioOutcome, expectations: Expectations): ScenarioVerdict {
  const { checks } = outcome;
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
  if (checks.length === 0) {
    return { outcome, verdict: 'failed', passed, remarks: ['the scenario left no results'] };
  }
  const bad = checks.filter(isBad);
  const skipped = checks.filter(isSkip);
  const unknown = [
    ...bad.filter((check) => !lists(expectations.failures, outcome, check)),
    ...skipped.filter((check) => !lists(expectations.skips, outcome, check)),
  ];
  const remarks = [...bad, ...skipped].map((check) => remark(check, unknown.includes(check)));
  if (unknown.length > 0) return { outcome, verdict: 'failed', passed, remarks };
  if (bad.length > 0) return { outcome, verdict: 'known failure', passed, remarks };
  return { outcome, verdict: passed > 0 ? 'passed' : 'skipped', passed, remarks };
}

const lists = (entries: readonly Expectation[], outcome: ScenarioOutcome, check: Check): boolean =>
  entries.some((entry) => concerns(entry, outcome) && (entry.check ?? check.id) === check.id);

const concerns = (entry: Expectation, { part, scenario }: ScenarioOutcome): boolean =>
  entry.part === part && entry.scenario === scenario;

/** An entry holds while a check that it speaks of is still in the state that it excuses. Parts that were not run say nothing. */
function holds(
  entry: Expectation,
  outcomes: readonly ScenarioOutcome[],
  state: (check: Check) => boolean,
): boolean {
  if (!outcomes.some(({ part }) => part === entry.part)) return true;
  return outcomes.some(
    (outcome) =>
      concerns(entry, outcome) &&
      outcome.checks.some((check) => (entry.check ?? check.id) === check.id && state(check)),
  );
}

function remark({ id, status, description, errorMessage }: Check, isUnknown: boolean): string {
  const origin = isUnknown ? '' : ' (listed)';
  return `${status.toLowerCase()}${origin} ${id}: ${errorMessage ?? description}`;
}
