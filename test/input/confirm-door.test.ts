import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { createPrincipal } from '../../src/identity/principal.ts';
import { moreTokens } from '../faces/face-kit.ts';
import { caller2026, resultOf, textOf } from '../faces/wire.ts';
import { verifies } from '../requirements/verifies.ts';
import { ALICE, BOB } from '../runtime/receiving-side.ts';
import {
  ASKABLE_2026,
  createTask2026,
  getTask,
  openSite,
  questionsOf,
  reaches,
  textResult,
  type InputSite,
} from './input-kit.ts';

interface Scene {
  readonly site: InputSite;
  readonly taskId: string;
  readonly token: string;
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** A task of alice's that waits for its page. */
async function scene(): Promise<Scene> {
  const site = await openSite({
    handler: async (job) => {
      const answer = await job.askUrl('connect', {
        message: 'Connect',
        url: ({ token, callbackUrl }) =>
          `https://page.example/?c=${token}&at=${encodeURIComponent(callbackUrl ?? '')}`,
      });
      return textResult(answer.action);
    },
  });
  const taskId = await createTask2026(site.alice);
  const [request] = Object.values(await questionsOf(site.alice, taskId));
  const params = (request as JsonObject)['params'] as JsonObject;
  const { searchParams } = new URL(String(params['url']));
  expect(searchParams.get('at')).toBe(site.confirmUrl);
  return {
    site,
    taskId,
    token: searchParams.get('c') ?? '',
    post: (body, headers = {}) =>
      fetch(site.confirmUrl, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: 'Bearer alice',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

const isWaiting = async ({ site, taskId }: Scene): Promise<void> =>
  expect(await getTask(site.alice, taskId)).toMatchObject({ status: 'input_required' });

describe('POST /confirm', () => {
  verifies(
    ['G1-61', 'G2-80', 'G1-107'],
    'asks for the same credential as /mcp, and for the right one',
    async () => {
      const all = await scene();
      const word = { token: all.token, action: 'confirm' };
      for (const [authorization, status] of [
        ['', 401],
        ['Bearer nobody', 401],
        ['Bearer bob', 404],
      ] as const)
        expect((await all.post(word, { authorization })).status).toBe(status);
      await isWaiting(all);
      const confirmed = await all.post(word);
      expect([confirmed.status, await confirmed.json()]).toEqual([200, { status: 'confirmed' }]);
      await reaches(all.site.alice, all.taskId, 'completed');
    },
  );

  verifies(
    ['G1-133', 'G2-162'],
    'is closed to pages in browsers: foreign hosts and origins are turned away, and no CORS header is sent',
    async () => {
      const all = await scene();
      const word = { token: all.token, action: 'confirm' };
      const foreign = await all.post(word, { origin: 'https://page.example' });
      expect(foreign.status).toBe(403);
      const preflight = await fetch(all.site.confirmUrl, {
        method: 'OPTIONS',
        headers: { authorization: 'Bearer alice' },
      });
      expect(preflight.status).toBe(405);
      for (const answer of [foreign, preflight, await all.post({})])
        expect(Array.from(answer.headers.keys()).join()).not.toContain('access-control');
      await isWaiting(all);
    },
  );

  test.each([
    ['no JSON', 'nope', 400],
    ['no object', [], 400],
    ['no token', { action: 'confirm' }, 400],
    ['a token that is none', { token: 5, action: 'confirm' }, 400],
    ['an endless token', { token: 'x'.repeat(201), action: 'confirm' }, 400],
    ['an unknown action', { token: 'x', action: 'accept' }, 400],
    [
      'content that is no object',
      { token: 'x', action: 'confirm', content: 'secret-content' },
      400,
    ],
    [
      'more than 64 KiB',
      { token: 'x', action: 'confirm', content: { a: 'x'.repeat(70_000) } },
      413,
    ],
    ['an unknown token', { token: 'x', action: 'confirm' }, 404],
  ] as const)('refuses %s', async (_what, body, status) => {
    const all = await scene();
    const answer = await all.post(body);
    expect(answer.status).toBe(status);
    const { error } = (await answer.json()) as { error: JsonObject };
    expect(error['code']).toMatch(/^LONGCALL_/);
    expect(JSON.stringify(error)).not.toContain('secret-content');
    await isWaiting(all);
  });

  test('takes nothing but JSON, and nothing but POST', async () => {
    const all = await scene();
    const word = { token: all.token, action: 'confirm' };
    expect((await all.post(word, { 'content-type': 'text/plain' })).status).toBe(415);
    const got = await fetch(all.site.confirmUrl, { headers: { authorization: 'Bearer alice' } });
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    await isWaiting(all);
  });

  test('wants the scope to answer', async () => {
    moreTokens.set(
      'alice-reads',
      createPrincipal({
        issuer: 'https://login.example',
        tenant: 'acme',
        subject: 'alice',
        method: 'token',
        scopes: ['task.read'],
      }),
    );
    const all = await scene();
    const word = { token: all.token, action: 'confirm' };
    const refused = await all.post(word, { authorization: 'Bearer alice-reads' });
    expect(refused.status).toBe(403);
    await isWaiting(all);
  });
});

verifies(
  ['G1-61', 'G2-80'],
  'a caller whom nothing tells from others is sent to no page: nobody could say who stands there',
  async () => {
    const site = await openSite({
      allowAnonymous: true,
      handler: (job) =>
        job.askUrl('connect', { message: 'Connect', url: () => 'https://page.example/' }),
    });
    const anyone = caller2026(site.url, undefined, ASKABLE_2026);
    const taskId = String(resultOf(await anyone.tool('works'))['taskId']);
    await reaches(anyone, taskId, 'failed');
    expect(JSON.stringify(await getTask(anyone, taskId))).toContain('a caller with an identity');
  },
);

test('the owner’s program may confirm without HTTP, with the same rules', async () => {
  const { site, taskId, token } = await scene();
  const { receiver } = site.kit.side.runtime;
  const word = { action: 'confirm' } as const;
  expect(await receiver.confirm(BOB, token, word)).toEqual({ kind: 'unknown' });
  expect(await receiver.confirm(ALICE, `${token}x`, word)).toEqual({ kind: 'unknown' });
  expect(await receiver.confirm(ALICE, token, word)).toEqual({ kind: 'confirmed' });
  expect(await receiver.confirm(ALICE, token, word)).toEqual({ kind: 'unknown' });
  await reaches(site.alice, taskId, 'completed');
  expect(textOf((await getTask(site.alice, taskId))['result'] as JsonObject)).toContain(
    'confirmed',
  );
});
