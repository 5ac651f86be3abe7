import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { UrlAnswer } from '../../src/runtime/steps/context.ts';
import { createKit } from '../faces/face-kit.ts';
import {
  caller2025,
  caller2026,
  errorOf,
  isMethod,
  nextId,
  resultOf,
  stream,
  textOf,
} from '../faces/wire.ts';
import { until } from '../runtime/receiving-side.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  createTask2025,
  createTask2026,
  getTask,
  openResult,
  openSite,
  questionOf,
  reaches,
  storyOf,
  textResult,
  TOOL,
  update,
  type Handler,
  type InputSite,
} from './input-kit.ts';
import { openPage, type Page } from './page.ts';

interface Scene {
  readonly site: InputSite;
  readonly page: Page;
  /** How often the handler got past its question. */
  readonly passed: () => number;
}

/** A tool that connects an account: the page hands over a code that only the server may see. */
async function scene(open: { readonly content?: JsonObject } = {}): Promise<Scene> {
  let passed = 0;
  const page = await openPage({ callbackUrl: (): string => site.confirmUrl, ...open });
  const handler: Handler = async (job) => {
    const answer: UrlAnswer = await job.askUrl('connect', {
      message: 'Connect your calendar',
      url: ({ token }) => page.linkFor(token),
      expiresInMs: 60_000,
    });
    passed += 1;
    if (answer.action !== 'confirmed') return textResult(`not connected: ${answer.action}`);
    const length = await answer.sealed?.use(
      'store the code',
      (code) => Object.values(code).join('').length,
    );
    return textResult(`connected with ${length ?? 'nothing'}`);
  };
  const site = await openSite({ handler });
  return { site, page, passed: () => passed };
}

const ACCEPT = { action: 'accept' };
const isQuestion = isMethod('elicitation/create');
const isComplete = isMethod('notifications/elicitation/complete');
const paramsOf = (message: JsonObject): JsonObject => message['params'] as JsonObject;

interface Asked {
  readonly taskId: string;
  readonly key: string;
  readonly link: string;
}

async function asked2026({ site }: Scene): Promise<Asked> {
  const taskId = await createTask2026(site.alice);
  const { key, params } = await questionOf(site.alice, taskId);
  return { taskId, key, link: String(params['url']) };
}

describe('an upstream’s own word that a page has to be visited first', () => {
  const NEEDED = {
    code: -32_042,
    message: 'This request requires more information.',
    data: {
      elicitations: [
        { mode: 'url', elicitationId: 'e-1', url: 'https://page.example/', message: 'Sign in' },
      ],
    },
  };

  verifies(
    ['G1-55', 'G2-74', 'T45'],
    'passes to a caller of 2025-11-25 as it came; 2026-07-28 has no such code and gets an internal error with its words',
    async () => {
      const kit = await createKit();
      const { url } = await kit.http();
      const alice = await caller2025(url, 'alice');
      const end = {
        outcome: { kind: 'error', error: NEEDED },
        end: 'error',
        reason: 'error',
      } as const;
      const plain = alice.tool('gated');
      kit.gate.end(await kit.gate.next(), end);
      expect(errorOf(await plain)).toEqual(NEEDED);
      const modern = caller2026(url, 'alice', {}).tool('gated');
      kit.gate.end(await kit.gate.next(), end);
      expect(errorOf(await modern)).toEqual({ ...NEEDED, code: -32_603 });
    },
  );
});

describe('a page to open', () => {
  verifies(
    ['G2-70', 'G2-71', 'G2-79', 'G2-80', 'G2-72', 'T34'],
    '"accept" only opened the page: the call goes on when the page itself has confirmed (2026-07-28) [Q6]',
    async () => {
      const all = await scene({ content: { code: 'c-123' } });
      const { site, page } = all;
      const taskId = await createTask2026(site.alice);
      const { key, params } = await questionOf(site.alice, taskId);
      expect(params).toMatchObject({ mode: 'url', message: 'Connect your calendar' });
      expect(params).not.toHaveProperty('elicitationId');

      resultOf(await update(site.alice, taskId, { [key]: ACCEPT }));
      const waiting = await getTask(site.alice, taskId);
      expect(waiting).toMatchObject({
        status: 'working',
        statusMessage: 'waiting for the page to confirm',
      });
      expect(waiting).not.toHaveProperty('inputRequests');
      expect(all.passed()).toBe(0);

      const link = String(params['url']);
      expect(await page.visit(link, { as: 'alice', does: 'confirm' })).toBe(200);
      await reaches(site.alice, taskId, 'completed');
      const result = (await getTask(site.alice, taskId))['result'] as JsonObject;
      expect(textOf(result)).toContain('connected with 5');
      expect(all.passed()).toBeGreaterThan(0);
    },
  );

  verifies(
    ['G1-51', 'G1-52', 'G1-53', 'G1-60', 'G1-61', 'T34'],
    '"accept" only opened the page: the call goes on when the page itself has confirmed, and the client hears it (2025-11-25) [Q6]',
    async () => {
      const { site, page } = await scene({ content: { code: 'c-123' } });
      const alice = await site.alice2025();
      const taskId = await createTask2025(alice);
      const events = await openResult(alice, taskId);
      const question = await events.message(isQuestion);
      const params = paramsOf(question);
      expect(params).toMatchObject({ mode: 'url', message: 'Connect your calendar' });
      const elicitationId = String(params['elicitationId']);
      expect(elicitationId).toMatch(/^in_/);

      expect((await alice.respond(question, ACCEPT)).status).toBe(202);
      expect(await getTask(alice, taskId)).toMatchObject({ status: 'working' });
      expect(await page.visit(String(params['url']), { as: 'alice', does: 'confirm' })).toBe(200);
      const complete = await events.message(isComplete);
      expect(paramsOf(complete)).toEqual({ elicitationId });
      const [answer] = await events.rest();
      expect(textOf(resultOf(answer ?? {}))).toContain('connected with 5');
    },
  );

  verifies(
    ['G1-55', 'G1-51', 'T45'],
    'a plain call waits for its page on its own stream: nobody is sent away with an error to come back later [Q6]',
    async () => {
      const { site, page } = await scene({ content: { code: 'plain' } });
      const alice = await site.alice2025();
      const call = { name: TOOL, arguments: {} };
      const events = await stream(alice.open('tools/call', call, { id: nextId() }));
      const question = await events.message(isQuestion);
      await alice.respond(question, ACCEPT);
      const link = String(paramsOf(question)['url']);
      expect(await page.visit(link, { as: 'alice', does: 'confirm' })).toBe(200);
      const rest = await events.rest();
      expect(JSON.stringify(rest)).not.toContain('-32042');
      expect(textOf(resultOf(rest.at(-1) ?? {}))).toContain('connected with 5');
    },
  );

  test('a page that confirms before the client has said "accept" is taken, and the late "accept" does no harm [Q6]', async () => {
    const all = await scene({ content: { code: 'early' } });
    const { site, page } = all;
    const { taskId, key, link } = await asked2026(all);
    expect(await page.visit(link, { as: 'alice', does: 'confirm' })).toBe(200);
    resultOf(await update(site.alice, taskId, { [key]: ACCEPT }));
    await reaches(site.alice, taskId, 'completed');
  });

  verifies(
    ['G1-61', 'G2-80'],
    'somebody else at the page changes nothing: for them the confirmation does not exist, and the owner can still give it [Q6]',
    async () => {
      const all = await scene({ content: { code: 'stolen' } });
      const { site, page } = all;
      const { taskId, key, link } = await asked2026(all);
      resultOf(await update(site.alice, taskId, { [key]: ACCEPT }));

      for (const who of ['bob', 'carol']) {
        expect(await page.visit(link, { as: who, does: 'confirm' })).toBe(404);
        expect(await page.visit(page.linkFor('nobodys'), { as: who, does: 'confirm' })).toBe(404);
      }
      const [foreign, unknown] = page.answers;
      expect(JSON.stringify(foreign)).toBe(JSON.stringify(unknown));
      expect(await getTask(site.alice, taskId)).toMatchObject({ status: 'working' });
      const refused = (await site.kit.side.store.events.list({ taskId, limit: 1000 })).filter(
        ({ type }) => type === 'task.confirmation_refused',
      );
      expect(refused).toHaveLength(2);
      expect(new Set(refused.map(({ actor }) => actor)).size).toBe(2);

      expect(await page.visit(link, { as: 'alice', does: 'confirm' })).toBe(200);
      await reaches(site.alice, taskId, 'completed');
    },
  );

  test('its confirmation works once, also when two come at the same moment', async () => {
    const all = await scene({ content: { code: 'once' } });
    const { site, page } = all;
    const { taskId, link } = await asked2026(all);
    const visit = () => page.visit(link, { as: 'alice', does: 'confirm' });
    expect((await Promise.all([visit(), visit(), visit()])).toSorted((a, b) => a - b)).toEqual([
      200, 404, 404,
    ]);
    await reaches(site.alice, taskId, 'completed');
    expect(await visit()).toBe(404);
    const story = await storyOf(site, taskId);
    expect(story.filter((line) => line.startsWith('task.input_answered'))).toHaveLength(1);
  });

  test.each(['decline', 'cancel'] as const)(
    'the visitor may %s there, and the handler hears it',
    async (does) => {
      const all = await scene();
      const { site, page } = all;
      const { taskId, key, link } = await asked2026(all);
      resultOf(await update(site.alice, taskId, { [key]: ACCEPT }));
      expect(await page.visit(link, { as: 'alice', does })).toBe(200);
      await reaches(site.alice, taskId, 'completed');
      const result = (await getTask(site.alice, taskId))['result'] as JsonObject;
      expect(textOf(result)).toContain(`not connected: ${does}`);
    },
  );

  test('who declines in the client goes to no page, and its confirmation is worth nothing from then on', async () => {
    const all = await scene();
    const { site, page } = all;
    const { taskId, key, link } = await asked2026(all);
    resultOf(await update(site.alice, taskId, { [key]: { action: 'decline' } }));
    await reaches(site.alice, taskId, 'completed');
    expect(await page.visit(link, { as: 'alice', does: 'confirm' })).toBe(404);
  });

  test('a task that was cancelled takes no confirmation any more', async () => {
    const all = await scene();
    const { site, page } = all;
    const { taskId, key, link } = await asked2026(all);
    resultOf(await update(site.alice, taskId, { [key]: ACCEPT }));
    resultOf(await site.alice.call('tasks/cancel', { taskId }));
    await reaches(site.alice, taskId, 'cancelled');
    expect(await page.visit(link, { as: 'alice', does: 'confirm' })).toBe(404);
  });

  test('neither its address nor its confirmation is in the status, the list, the events or the record of the task', async () => {
    const all = await scene();
    const { site } = all;
    const { taskId, key, link } = await asked2026(all);
    resultOf(await update(site.alice, taskId, { [key]: ACCEPT }));
    const alice = await site.alice2025();
    const seen = JSON.stringify([
      await getTask(site.alice, taskId),
      resultOf(await alice.call('tasks/list')),
      await site.kit.side.store.events.list({ taskId, limit: 1000 }),
      await site.kit.side.store.tasks.get('system', taskId),
    ]);
    const token = new URL(link).searchParams.get('confirm') ?? '';
    expect(token.length).toBeGreaterThan(40);
    for (const secret of [token, '/connect']) expect(seen).not.toContain(secret);
  });

  test('a client that cannot open pages is never sent to one: the handler hears why', async () => {
    const { site } = await scene();
    const forms = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const created = resultOf(await site.alice.tool('works', {}, { capabilities: forms }));
    const taskId = String(created['taskId']);
    await until(async () => {
      const { status } = await getTask(site.alice, taskId);
      return status !== 'working';
    });
    expect(JSON.stringify(await getTask(site.alice, taskId))).toContain('elicitation-url');
  });
});
