import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CrashPoint } from '../../src/kernel/crash-point.ts';
import { createClient2026, openSession } from '../wire/client.ts';
import type { Endpoint, Reply } from '../wire/client.ts';
import { objectAt, textOf } from '../wire/steps.ts';
import { startMortalUpstream } from './mortal-upstream.ts';
import type { MortalUpstream } from './mortal-upstream.ts';
import { bearerOf } from './people.ts';
import { createEffects, createSite } from './site.ts';
import type { Site } from './site.ts';
import { until, untilTrue } from './until.ts';

const effects = createEffects();
let upstream: MortalUpstream;
let site: Site;

beforeAll(async () => {
  upstream = await startMortalUpstream('effects', effects.file);
});
afterAll(async () => {
  await upstream.kill();
  effects.remove();
});
beforeEach(() => {
  site = createSite({ effects, upstream: { url: upstream.url } });
});
afterEach(() => site.remove());

const endpoint = (): Endpoint => ({ url: site.gateway().url, headers: bearerOf('alice') });

interface Repeated {
  readonly tag: string;
  readonly key?: string;
}

/** One call of a consequential tool, by a client that can hold a handle. */
function append({ tag, key }: Repeated): Promise<Reply> {
  const meta = key === undefined ? {} : { 'dev.longcall/idempotencyKey': key };
  const params = { name: 'do_append', arguments: { tag } };
  return createClient2026(endpoint()).request('tools/call', params, { meta });
}

const sends = (tag: string): number =>
  effects.lines(tag).filter(({ event }) => event === 'start').length;

/** The gateway dies during the call, and another one takes its place. The answer, where the client still got one. */
async function dieDuring(point: CrashPoint, call: Repeated): Promise<Reply | undefined> {
  const { exited } = await site.start({ point, nth: 1 });
  const answer = await append(call).catch(() => undefined);
  expect((await exited).signal).toBe('SIGKILL');
  await site.start();
  return answer;
}

async function endOf(taskId: string) {
  const client = createClient2026(endpoint());
  return until(async () => {
    const { result } = await client.request('tasks/get', { taskId });
    return result?.['status'] === 'working' ? undefined : result;
  }, `the end of ${taskId}`);
}

test.each([
  ['a key', { tag: 'with-key', key: 'k-1' }],
  ['no key', { tag: 'without-key' }],
] as const)(
  'the gateway dies between commit and answer: the repeat (%s) gets the task that was begun [D2, D4]',
  async (_how, call) => {
    expect(await dieDuring('after-commit', call)).toBeUndefined();
    const { result } = await append(call);
    const taskId = String(result?.['taskId']);
    expect(result?.['_meta']).toMatchObject({ 'dev.longcall/deduplicated': true });
    const end = await endOf(taskId);
    expect(textOf(objectAt(end, 'result'))).toBe(`appended ${call.tag}`);
    expect(sends(call.tag)).toBe(1);
    // The other generation is told of the same task.
    const session = await openSession(endpoint());
    const params = { name: 'do_append', arguments: { tag: call.tag }, task: {} };
    const meta = 'key' in call ? { 'dev.longcall/idempotencyKey': call.key } : {};
    const again = await session.request('tools/call', { ...params, _meta: meta });
    expect(objectAt(again.result, 'task')['taskId']).toBe(taskId);
    expect(sends(call.tag)).toBe(1);
  },
);

test('the gateway dies before the commit: the repeat is the first call that there is', async () => {
  const call = { tag: 'before-commit', key: 'k-2' };
  expect(await dieDuring('before-commit', call)).toBeUndefined();
  const { result } = await append(call);
  expect(objectAt({ meta: result?.['_meta'] ?? {} }, 'meta')).not.toHaveProperty([
    'dev.longcall/deduplicated',
  ]);
  await untilTrue(() => sends(call.tag) === 1, 'the call at the upstream');
});

test('the effect is committed and its answer is lost with the gateway: the repeat never sends it again [D1, D5]', async () => {
  const call = { tag: 'answer-lost', key: 'k-3' };
  await dieDuring('after-upstream-answer', call);
  const { error } = await append(call);
  expect(error).toMatchObject({
    message: expect.stringContaining('do not repeat it') as string,
    data: { reason: 'outcome_unknown', 'dev.longcall/deduplicated': true },
  });
  expect(sends(call.tag)).toBe(1);
});
