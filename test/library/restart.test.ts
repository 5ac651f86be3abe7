import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../wire/check.ts';
import { createClient2026 } from '../wire/client.ts';
import { callAsTask, objectAt, reaches, textOf } from '../wire/steps.ts';
import { KINDS } from './servers/kinds.ts';
import { createSite, type Site } from './site.ts';

const opened: Site[] = [];
const openSite = (...site: Parameters<typeof createSite>): Site => {
  const created = createSite(...site);
  opened.push(created);
  return created;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((site) => site.stop()));
});

const deedsOf = ({ effects }: Site, tag: string): readonly unknown[] =>
  effects.lines(tag).map(({ detail }) => detail);
const until = (holds: () => boolean, what: string): Promise<true> =>
  eventually(() => holds() || undefined, what);

describe.each(KINDS)(
  'a server of kind %s that is killed with SIGKILL and started again',
  (kind) => {
    test('goes on behind the last finished step, under the same handle', async () => {
      const site = openSite(kind, 'http');
      const gate = join(site.folder, 'gate');
      const before = createClient2026(await site.enter());
      const taskId = await callAsTask(before, 'report', { args: { tag: 'may', gate } });
      await until(() => deedsOf(site, 'may').includes('wait'), 'the second step');
      await site.kill();
      writeFileSync(gate, '');
      const after = createClient2026(await site.enter());
      const done = await reaches(after, taskId, 'completed');
      expect(textOf(done['result'])).toBe('report: rows of may');
      expect(deedsOf(site, 'may')).toEqual(['query', 'wait', 'wait', 'write']);
    });

    test('still has the question that it had asked, and takes the answer', async () => {
      const site = openSite(kind, 'http');
      const before = createClient2026(await site.enter());
      const taskId = await callAsTask(before, 'deploy', { args: { tag: 'v2' } });
      const asked = await reaches(before, taskId, 'input_required');
      await site.kill();
      const after = createClient2026(await site.enter());
      const still = await reaches(after, taskId, 'input_required');
      const keys = Object.keys(objectAt(still, 'inputRequests'));
      expect(keys).toEqual(Object.keys(objectAt(asked, 'inputRequests')));
      const answer = { action: 'accept', content: { approved: true } };
      const inputResponses = Object.fromEntries(keys.map((key) => [key, answer]));
      await after.request('tasks/update', { taskId, inputResponses });
      const done = await reaches(after, taskId, 'completed');
      expect(textOf(done['result'])).toBe('deployed v2');
      expect(deedsOf(site, 'v2')).toEqual(['prepare', 'deployed']);
    });

    test('runs an adopted read again, and says of an adopted change that nobody knows', async () => {
      const site = openSite(kind, 'http');
      const before = createClient2026(await site.enter());
      const slow = await callAsTask(before, 'slow', { args: { ms: 1_000 } });
      const asking = await callAsTask(before, 'ask');
      await reaches(before, asking, 'input_required');
      await site.kill();
      const after = createClient2026(await site.enter());
      expect(textOf((await reaches(after, slow, 'completed'))['result'])).toBe('slept 1000');
      const lost = await reaches(after, asking, 'failed');
      expect(objectAt(objectAt(lost, 'error'), 'data')['reason']).toBe('outcome_unknown');
    });
  },
);

test('over stdio, what one process left unfinished the next one of the same directory finishes', async () => {
  const site = openSite('sdk-v2', 'stdio');
  const gate = join(site.folder, 'gate');
  const first = await site.enterStdio('same');
  const taskId = await callAsTask(createClient2026(first.endpoint), 'report', {
    args: { tag: 'may', gate },
  });
  await until(() => deedsOf(site, 'may').includes('wait'), 'the second step');
  await first.leave();
  writeFileSync(gate, '');
  const second = await site.enterStdio('same');
  const done = await reaches(createClient2026(second.endpoint), taskId, 'completed');
  expect(textOf(done['result'])).toBe('report: rows of may');
  expect(deedsOf(site, 'may')).toEqual(['query', 'wait', 'wait', 'write']);
});
