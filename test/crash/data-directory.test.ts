import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { upstreamCommand } from '../fixtures/upstreams/launch.ts';
import { verifies } from '../requirements/verifies.ts';
import { connectFront } from './front.ts';
import { listenTo, spawnGateway } from './gateway-process.ts';
import { createEffects, createSite } from './site.ts';
import type { Site } from './site.ts';
import { until, untilTrue } from './until.ts';

const effects = createEffects();
afterAll(() => effects.remove());

let site: Site;

beforeEach(() => {
  const { command, args } = upstreamCommand('effects');
  const upstream = { command: [command, ...args], env: { EFFECTS_LOG: effects.file } };
  site = createSite({ effects, upstream });
});
afterEach(() => site.remove());

/** A process that has ended but was not collected by its parent yet is dead. */
function isAlive(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return false;
  const text = readFileSync(stat, 'utf8');
  return !text.slice(text.lastIndexOf(')') + 2).startsWith('Z');
}

test('a second gateway on the same data leaves with one clear line, and the first goes on', async () => {
  const { url } = await site.start();
  const second = spawnGateway({ config: site.config, data: site.data });
  const said = listenTo(second);
  const [code] = (await once(second, 'close')) as [number];
  expect(code).toBe(2);
  const lines = said().trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('LONGCALL_DATA_LOCKED');
  expect(lines[0]).toContain(site.data);
  const front = await connectFront(url);
  expect(await front.call('2026-plain', 'read_append', { tag: 'first' }).answer).toMatchObject({
    kind: 'result',
  });
});

test('a gateway that follows a killed one takes its data over', async () => {
  const first = await site.start();
  await first.kill();
  const { pid } = await site.start();
  expect(pid).not.toBe(first.pid);
  expect((await site.admin().tasks()).length).toBe(0);
});

verifies(
  ['G1-37', 'G2-43', 'T9'],
  'upstream processes that outlive their gateway are ended at the next start, before anything runs again',
  async () => {
    const first = await site.start();
    const front = await connectFront(first.url);
    const calls = (['do_slow', 'read_slow_once'] as const).map((name) =>
      front.call('2026-tasks', name, { tag: `orphan-${name}`, ms: 60_000 }),
    );
    const taskIds: string[] = [];
    for (const { answer, tag } of calls) {
      const given = await answer;
      if (given.kind === 'handle') taskIds.push(given.taskId);
      await untilTrue(
        () => effects.lines(tag).some(({ event }) => event === 'tick'),
        `work on ${tag}`,
      );
    }
    const orphans = calls.map(({ tag }) => effects.lines(tag)[0]?.pid ?? 0);
    await first.kill();
    expect(orphans.every(isAlive), 'the upstreams go on working').toBe(true);

    const second = await site.start();
    expect(orphans.filter(isAlive)).toEqual([]);
    const heir = await connectFront(second.url);
    const ends = await Promise.all(
      taskIds.map((taskId) =>
        until(async () => {
          const { status } = await heir.view('2026-tasks', taskId);
          return status === 'working' ? undefined : status;
        }, `the end of ${taskId}`),
      ),
    );
    expect(ends).toEqual(['failed', 'completed']);
    const lines = calls.map(({ tag }) => effects.lines(tag).map(({ event }) => event));
    expect(lines.map((events) => events.filter((event) => event === 'start').length)).toEqual([
      1, 2,
    ]);
    expect(lines[0]).not.toContain('finish');
  },
  60_000,
);
