import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { OperationDocument, Page } from '../../src/admin/documents.ts';
import { verifies } from '../requirements/verifies.ts';
import { createClient2026, DECLARES_NO_TASKS, openSession } from '../wire/client.ts';
import { mustRefuse, objectAt, textOf } from '../wire/steps.ts';
import { connectFront } from './front.ts';
import type { Front, FrontKind } from './front.ts';
import { cleanEnv } from './gateway-process.ts';
import type { CrashAt } from './gateway-process.ts';
import { startMortalUpstream } from './mortal-upstream.ts';
import type { MortalUpstream } from './mortal-upstream.ts';
import { bearerOf } from './people.ts';
import { createEffects, createSite } from './site.ts';
import type { Site } from './site.ts';
import { until, untilTrue } from './until.ts';

const BIN = fileURLToPath(new URL('../../bin/longcall.js', import.meta.url));

const effects = createEffects();
let upstream: MortalUpstream;
let site: Site;
let front: Front;

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

async function start(crashAt?: CrashAt): Promise<void> {
  const { url } = await site.start(crashAt);
  front = await connectFront(url);
}

async function handleOf(
  kind: FrontKind,
  name: string,
  args: { tag: string; ms?: number },
): Promise<string> {
  const answer = await front.call(kind, name, args).answer;
  if (answer.kind !== 'handle') throw new Error(`no handle: ${JSON.stringify(answer)}`);
  return answer.taskId;
}

const sends = (tag: string): number =>
  effects.lines(tag).filter(({ event }) => event === 'start').length;
const started = (tag: string) => untilTrue(() => sends(tag) > 0, `a call of ${tag}`);

/** The keys of what the task asks now. */
const askedKeys = (taskId: string) =>
  until(async () => {
    const { keys } = await front.view('2026-tasks', taskId);
    return keys.length > 0 ? keys : undefined;
  }, `a question of ${taskId}`);

verifies(
  ['G1-99', 'G1-131', 'G1-132', 'G2-11', 'T12', 'T38'],
  'the old session is gone, and its owner reads the task from a new one and from the other generation',
  async () => {
    await start();
    const taskId = await handleOf('2025-task', 'do_append', { tag: 'session' });
    const old = front.session;
    await site.gateway().kill();
    await start();
    const own = { url: site.gateway().url, headers: bearerOf('alice') };
    const gone = await fetch(own.url, {
      method: 'POST',
      headers: {
        ...own.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': old.id,
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId } }),
    });
    expect(gone.status).toBe(404);
    const session = await openSession(own);
    const result = await session.request('tasks/result', { taskId });
    expect(textOf(result.result)).toBe('appended session');
    const modern = await createClient2026(own).request('tasks/get', { taskId });
    expect(modern.result).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'appended session' }] },
    });
    mustRefuse(
      await front.client.request('tasks/get', { taskId }),
      -32_602,
      'the task of somebody else',
    );
  },
  60_000,
);

verifies(
  ['G2-50', 'G2-54', 'T28'],
  'a read that had asked asks again under a new key, and an answer to the old one is nobody’s',
  async () => {
    await start();
    const taskId = await handleOf('2026-tasks', 'read_ask', { tag: 'asks-again' });
    const [oldKey = ''] = await askedKeys(taskId);
    await site.gateway().kill();
    await start();
    const [newKey = ''] = await askedKeys(taskId);
    expect(newKey).not.toBe(oldKey);
    const answer = (key: string, value: string) =>
      front.client.request('tasks/update', {
        taskId,
        inputResponses: { [key]: { action: 'accept', content: { answer: value } } },
      });
    expect((await answer(oldKey, 'late')).result).toMatchObject({ resultType: 'complete' });
    expect((await front.view('2026-tasks', taskId)).keys).toEqual([newKey]);
    await answer(newKey, 'in time');
    const view = await until(async () => {
      const seen = await front.view('2026-tasks', taskId);
      return seen.status === 'completed' ? seen : undefined;
    }, `the end of ${taskId}`);
    expect(textOf(view.result)).toContain('in time');
    const heard = effects.lines('asks-again').filter(({ event }) => event === 'answered');
    expect(JSON.stringify(heard.map(({ detail }) => detail))).not.toContain('late');
  },
  60_000,
);

verifies(
  ['G2-64', 'T9'],
  'a held call that died is not made again by the retry that answers it',
  async () => {
    await start();
    const params = { name: 'do_ask', arguments: { tag: 'held' } };
    const options = { capabilities: DECLARES_NO_TASKS };
    const { result: asked } = await front.client.request('tools/call', params, options);
    expect(asked).toMatchObject({ resultType: 'input_required' });
    const keys = Object.keys(objectAt(asked, 'inputRequests'));
    await site.gateway().kill();
    await start();
    const inputResponses = Object.fromEntries(
      keys.map((key) => [key, { action: 'accept', content: { answer: 'yes' } }]),
    );
    const retry = { ...params, inputResponses, requestState: asked?.['requestState'] };
    const reply = await front.client.request('tools/call', retry, options);
    expect(reply.error, JSON.stringify(reply.result)).toBeDefined();
    expect(sends('held')).toBe(1);
    expect((await site.admin().operations()).map(({ state }) => state)).toEqual(['unknown']);
  },
  60_000,
);

verifies(
  ['G1-37', 'G2-43'],
  'a read that kills every gateway that runs it is given up after three attempts',
  async () => {
    const poison: CrashAt = { point: 'after-upstream-answer', nth: 1 };
    await start(poison);
    const taskId = await handleOf('2026-tasks', 'read_append', { tag: 'poison' });
    await site.gateway().exited;
    for (let attempts = 2; attempts <= 3; attempts += 1) {
      const { exited } = await site.start(poison);
      expect(await exited).toMatchObject({ signal: 'SIGKILL' });
    }
    await start(poison);
    const view = await front.view('2026-tasks', taskId);
    expect(view).toMatchObject({
      status: 'failed',
      error: { data: { reason: 'attempts_exhausted' } },
    });
    expect(sends('poison')).toBe(3);
  },
  60_000,
);

verifies(
  ['G2-43', 'T9'],
  'the ledger says what is unknown, to people and to programs',
  async () => {
    await start();
    const taskId = await handleOf('2026-tasks', 'do_slow', { tag: 'ledger', ms: 20_000 });
    await started('ledger');
    await site.gateway().kill();
    await start();
    const ops = [BIN, 'ops', 'list', '--json', '--data', site.data];
    const { stdout } = await promisify(execFile)(process.execPath, ops, { env: cleanEnv() });
    const { items } = JSON.parse(stdout) as Page<OperationDocument>;
    expect(items).toMatchObject([{ taskId, tool: 'do_slow', state: 'unknown', tenant: 'south' }]);
  },
  60_000,
);
