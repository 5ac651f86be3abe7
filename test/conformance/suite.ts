import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { parse } from 'yaml';

import type { Part } from './scenarios.ts';
import { NAMED_SCENARIOS } from './scenarios.ts';

/** The statuses that the suite gives to its checks. */
export const CHECK_STATUSES = ['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

/** One check as the suite reports it. Several checks of a scenario may share an id. */
export interface Check {
  readonly id: string;
  readonly status: CheckStatus;
  readonly description: string;
  readonly errorMessage?: string;
}

/** What one scenario said; no checks at all means that the scenario never came to an end. */
export interface ScenarioOutcome {
  readonly part: Part;
  readonly scenario: string;
  readonly checks: readonly Check[];
}

const require = createRequire(import.meta.url);
const fromSuite = (path: string): string =>
  require.resolve(`@modelcontextprotocol/conformance/${path}`);

/** Where the suite writes the checks of one scenario: `server-<scenario>-<time>/checks.json`. */
const RESULT_FOLDER = /^server-(?<scenario>.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/;

/** Runs one part of the suite against a server and returns what each scenario said, in the suite's order. */
export async function runPart(part: Part, url: string): Promise<ScenarioOutcome[]> {
  const results = await mkdtemp(join(tmpdir(), 'longcall-conformance-'));
  try {
    const expected = part === 'named' ? [...NAMED_SCENARIOS] : await requiredScenarios(part);
    const runs =
      part === 'named' ? expected.map((name) => ['--scenario', name]) : [['--requirements', part]];
    for (const run of runs) await suite('server', '--url', url, ...run, '-o', results);
    const found = await readResults(results);
    return expected.map((scenario) => ({ part, scenario, checks: found.get(scenario) ?? [] }));
  } finally {
    await rm(results, { recursive: true });
  }
}

/** What we read of a requirement set. */
interface RequirementSet {
  readonly server: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
}

/** Names every server scenario that the suite runs for a requirement set: first the scored ones, then the others. */
async function requiredScenarios(revision: string): Promise<string[]> {
  const file = fromSuite(`requirements/${revision}.yaml`);
  const set = parse(await readFile(file, 'utf8')) as RequirementSet;
  const unscored = set.not_scored.filter(({ leg }) => leg === 'server');
  return [...set.server, ...unscored.map(({ scenario }) => scenario)];
}

/** Runs the suite's command line. Its exit code is not consulted: the checks that it wrote say more. */
async function suite(...args: string[]): Promise<void> {
  const command = [fromSuite('dist/index.js'), ...args];
  await once(spawn(process.execPath, command, { stdio: 'ignore' }), 'close');
}

async function readResults(folder: string): Promise<Map<string, Check[]>> {
  const found = new Map<string, Check[]>();
  for (const name of await readdir(folder)) {
    const scenario = RESULT_FOLDER.exec(name)?.groups?.['scenario'];
    if (scenario === undefined) continue;
    const checks = await readFile(join(folder, name, 'checks.json'), 'utf8').catch(() => '[]');
    found.set(scenario, JSON.parse(checks) as Check[]);
  }
  return found;
}
