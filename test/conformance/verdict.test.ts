import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import type { Expectations } from './expectations.ts';
import { readExpectations } from './expectations.ts';
import { renderReport } from './report.ts';
import { NAMED_SCENARIOS, PARTS } from './scenarios.ts';
import type { Check, CheckStatus, ScenarioOutcome } from './suite.ts';
import { judgeRun } from './verdict.ts';

const NOTHING_EXPECTED: Expectations = { failures: [], skips: [] };

const check = (status: CheckStatus, id = 'a-check'): Check => ({
  id,
  status,
  description: 'says so',
});
const outcome = (...checks: Check[]): ScenarioOutcome => ({
  part: 'named',
  scenario: 'caching',
  checks,
});
const entry = (more: { check?: string } = {}) => ({
  part: 'named' as const,
  scenario: 'caching',
  reason: 'known',
  ...more,
});

describe('the verdict on a run', () => {
  test('a scenario whose checks all succeed is good', () => {
    const run = judgeRun([outcome(check('SUCCESS'), check('INFO'))], NOTHING_EXPECTED);
    expect(run).toMatchObject({ good: true, scenarios: [{ verdict: 'passed', passed: 1 }] });
  });

  test.each(['FAILURE', 'WARNING', 'SKIPPED'] as const)('an unlisted %s fails it', (status) => {
    const run = judgeRun([outcome(check('SUCCESS'), check(status))], NOTHING_EXPECTED);
    expect(run).toMatchObject({ good: false, scenarios: [{ verdict: 'failed' }] });
  });

  test('a scenario that left no results fails it', () => {
    const listed = { failures: [entry()], skips: [] };
    expect(judgeRun([outcome()], NOTHING_EXPECTED).good).toBe(false);
    expect(judgeRun([outcome()], listed).good).toBe(false);
  });

  test('a listed failure is known, and the run stays good', () => {
    const run = judgeRun([outcome(check('FAILURE'))], { failures: [entry()], skips: [] });
    expect(run).toMatchObject({ good: true, scenarios: [{ verdict: 'known failure' }] });
  });

  test('a listed check excuses no other check of its scenario', () => {
    const listed = { failures: [entry({ check: 'a-check' })], skips: [] };
    const run = judgeRun([outcome(check('FAILURE'), check('FAILURE', 'another'))], listed);
    expect(run).toMatchObject({ good: false, scenarios: [{ verdict: 'failed' }] });
  });

  test('a listed failure that passes fails the run', () => {
    const listed = { failures: [entry({ check: 'a-check' })], skips: [] };
    const run = judgeRun([outcome(check('SUCCESS'))], listed);
    expect(run.good).toBe(false);
    expect(run.outdated).toEqual(listed.failures);
    expect(renderReport(run)).toContain('out of date: named caching a-check');
  });

  test('a listed skip that is no longer skipped fails the run', () => {
    const run = judgeRun([outcome(check('SUCCESS'))], { failures: [], skips: [entry()] });
    expect(run.good).toBe(false);
  });

  test('an expectation about a part that was not run is left alone', () => {
    const other = { ...entry(), part: '2025-11-25' as const };
    expect(judgeRun([outcome(check('SUCCESS'))], { failures: [other], skips: [] }).good).toBe(true);
  });

  test('a scenario that is only skipped is not counted as passed', () => {
    const run = judgeRun([outcome(check('SKIPPED'))], { failures: [], skips: [entry()] });
    expect(run).toMatchObject({ good: true, scenarios: [{ verdict: 'skipped', passed: 0 }] });
  });
});

describe('the checked-in expectations', () => {
  test('give a reason for each entry and name parts that exist', async () => {
    const file = fileURLToPath(new URL('./expected-failures.yaml', import.meta.url));
    const { failures, skips } = await readExpectations(file);
    for (const { part, reason } of [...failures, ...skips]) {
      expect(PARTS).toContain(part);
      expect(reason.split(' ').length).toBeGreaterThan(3);
    }
  });

  test('the named scenarios are ten of tasks, four of transport and fourteen of input', () => {
    const startingWith = (prefix: string): number =>
      NAMED_SCENARIOS.filter((name) => name.startsWith(prefix)).length;
    expect(startingWith('tasks-')).toBe(10);
    expect(startingWith('input-required-result-')).toBe(14);
    expect(NAMED_SCENARIOS).toHaveLength(28);
  });
});
