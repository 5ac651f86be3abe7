/**
 * Runs the official conformance suite against the gateway in front of our fixture upstream (`npm run conformance`),
 * or against any server: `--url URL`, with `--expected-failures FILE` for what is known of that one.
 * `--part named` (or a revision) runs one part of it. Ends with 0 only when everything went as listed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { readExpectations } from '../test/conformance/expectations.ts';
import { renderReport } from '../test/conformance/report.ts';
import { PARTS } from '../test/conformance/scenarios.ts';
import { runPart } from '../test/conformance/suite.ts';
import type { ScenarioOutcome } from '../test/conformance/suite.ts';
import { judgeRun } from '../test/conformance/verdict.ts';
import { launchHttp } from '../test/fixtures/upstreams/launch.ts';

const fromRoot = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Runs `use` against a gateway of its own, on free ports and with data that is thrown away. */
async function withGateway<T>(use: (url: string) => Promise<T>): Promise<T> {
  const data = await mkdtemp(join(tmpdir(), 'longcall-conformance-data-'));
  const options = ['--config', 'test/conformance/longcall.yaml', '--data', data];
  const addresses = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'];
  const command = {
    command: process.execPath,
    args: ['bin/longcall.js', 'gateway', ...options, ...addresses],
  };
  // The upstream is started as `node`: let that be the Node.js that runs this script.
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  process.chdir(fromRoot('.'));
  const gateway = await launchHttp(command, { PATH: path });
  try {
    return await use(gateway.url);
  } finally {
    await gateway.stop();
    await rm(data, { recursive: true, force: true });
  }
}

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    part: { type: 'string', multiple: true, default: [...PARTS] },
    'expected-failures': {
      type: 'string',
      default: fromRoot('test/conformance/expected-failures.yaml'),
    },
  },
});

async function runParts(url: string): Promise<ScenarioOutcome[]> {
  const outcomes: ScenarioOutcome[] = [];
  for (const part of PARTS.filter((name) => values.part.includes(name))) {
    process.stderr.write(`running ${part} against ${url}\n`);
    outcomes.push(...(await runPart(part, url)));
  }
  return outcomes;
}

const expectations = await readExpectations(values['expected-failures']);
const outcomes = await (values.url === undefined ? withGateway(runParts) : runParts(values.url));
const verdict = judgeRun(outcomes, expectations);
process.stdout.write(renderReport(verdict));
process.exitCode = verdict.good ? 0 : 1;
