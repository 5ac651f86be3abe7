import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until, untilTrue } from '../crash/until.ts';
import type { HttpUpstream } from '../fixtures/upstreams/launch.ts';
import { objectAt, resultOf, textOf } from '../wire/steps.ts';
import { freePort, launchEverything } from './published.ts';
import { EVERYTHING_OVER_HTTP, ROWS } from './rows.ts';
import type { UpstreamRow } from './rows.ts';
import { createUpstreamSite } from './upstream-site.ts';
import type { UpstreamSite } from './upstream-site.ts';

const SITE_MS = 60_000;

let site: UpstreamSite;
let port: number;
let overHttp: HttpUpstream;

/** The one that is ended and started anew on its port, beside one over stdio. */
const RESTARTED: UpstreamRow = {
  ...EVERYTHING_OVER_HTTP,
  name: 'remote',
  async start() {
    port = await freePort();
    overHttp = await launchEverything(port);
    return { config: { url: overHttp.url }, stop: () => overHttp.stop() };
  },
};

beforeAll(async () => {
  const local = ROWS.filter(({ name }) => name === 'everything' || name === 'memory');
  site = await createUpstreamSite([RESTARTED, ...local]);
}, SITE_MS);
afterAll(() => site.remove(), SITE_MS);

const stateOf = async (name: string) =>
  (await site.operator().upstreams()).find((upstream) => upstream.name === name);
const untilState = (name: string, state: string) =>
  untilTrue(async () => (await stateOf(name))?.state === state, `${name} to be ${state}`);
const echo = (prefix: string) =>
  site.modern('tools/call', { name: `${prefix}_echo`, arguments: { message: 'anybody?' } });

/** What the gateway's log says of an upstream. */
const logged = (upstream: string): readonly string[] =>
  site
    .gateway()
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(`"upstream":"${upstream}"`))
    .map((line) => (JSON.parse(line) as { event: string }).event);

/** Every process that the gateway has started of a server, from its own notes. */
function childrenOf(server: string): readonly number[] {
  const file = join(site.data, 'children.json');
  const notes = JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly pid: number }[];
  return notes
    .map(({ pid }) => pid)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(server));
}

test('a server over stdio that dies in mid-call is brought back, and a read is done again', async () => {
  const params = { name: 'everything_simulate-research-query', arguments: { topic: 'tea' } };
  const { taskId } = resultOf(await site.modern('tools/call', params), 'tools/call');
  const task = () => site.operator().task(String(taskId));
  await untilTrue(
    async () => (await task()).attempts.some(({ observesUpstreamTask }) => observesUpstreamTask),
    'the task upstream',
  );
  const killed = childrenOf('server-everything');
  for (const pid of killed) process.kill(pid, 'SIGKILL');
  const ended = await until(async () => {
    const now = resultOf(await site.modern('tasks/get', { taskId }), 'tasks/get');
    return now['status'] === 'completed' ? now : undefined;
  }, 'the end of the task');
  expect(textOf(ended['result'])).toContain('tea');
  expect(childrenOf('server-everything').filter((pid) => killed.includes(pid))).toEqual([]);
  await untilState('everything', 'up');
  expect(logged('everything')).toEqual(expect.arrayContaining(['upstream.lost', 'upstream.up']));
  expect(textOf(resultOf(await echo('everything'), 'echo'))).toBe('Echo: anybody?');
});

test('a server over HTTP that is away is reported, costs the others nothing, and is found when it is back and asked', async () => {
  expect(textOf(resultOf(await echo('remote'), 'echo'))).toBe('Echo: anybody?');
  await overHttp.stop();
  await untilState('remote', 'down');
  expect((await stateOf('remote'))?.problem).toBeTruthy();

  const { error } = await echo('remote');
  expect(error?.data).toMatchObject({ reason: 'upstream_unreachable' });
  const names = resultOf(await site.session().request('tools/list'), 'tools/list')['tools'];
  expect(JSON.stringify(names)).toContain('remote_echo');
  const graph = await site.modern('tools/call', { name: 'memory_read_graph', arguments: {} });
  expect(objectAt(resultOf(graph, 'read_graph'), 'structuredContent')).toHaveProperty('entities');

  overHttp = await launchEverything(port);
  // A call hurries the next attempt along.
  const answered = await until(async () => (await echo('remote')).result, 'an answer');
  expect(textOf(answered)).toBe('Echo: anybody?');
  expect((await stateOf('remote'))?.state).toBe('up');
});
