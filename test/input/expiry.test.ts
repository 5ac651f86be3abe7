import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { ManualClock } from '../../src/kernel/manual-clock.ts';
import type { FormQuestion } from '../../src/runtime/steps/context.ts';
import { verifies } from '../requirements/verifies.ts';
import { isMethod, resultOf, textOf } from '../faces/wire.ts';
import { ALICE } from '../runtime/receiving-side.ts';
import {
  ASKABLE,
  createTask2025,
  createTask2026,
  getTask,
  manualClock,
  openResult,
  openSite,
  questionOf,
  questionsOf,
  reaches,
  storyOf,
  textResult,
  TOOL,
  update,
  type InputSite,
  type InputSiteOptions,
} from './input-kit.ts';

const MINUTE = 60_000;
const isQuestion = isMethod('elicitation/create');
const isCancelled = isMethod('notifications/cancelled');
const ACCEPT = { action: 'accept', content: { ok: true } };

const FORM: FormQuestion = {
  message: 'Go on?',
  schema: { type: 'object', properties: { ok: { type: 'boolean' } } },
  expiresInMs: 10 * MINUTE,
};

interface Scene {
  readonly site: InputSite;
  readonly clock: ManualClock;
  /** Lets that time pass, and the machine notice it. */
  pass(ms: number): Promise<void>;
}

/** A tool that asks one thing and tells what came of it. */
async function scene(
  form: Partial<FormQuestion> = {},
  options: Partial<InputSiteOptions> = {},
): Promise<Scene> {
  const clock = manualClock();
  const site = await openSite({
    clock,
    handler: async (job) =>
      textResult(JSON.stringify(await job.ask('go on', { ...FORM, ...form }))),
    ...options,
  });
  return {
    site,
    clock,
    async pass(ms) {
      clock.advance(ms);
      await site.kit.side.runtime.sweep();
    },
  };
}

const resultText = async (site: InputSite, taskId: string): Promise<string> =>
  textOf((await getTask(site.alice, taskId))['result'] as JsonObject);

describe('a question that nobody answers', () => {
  verifies(
    ['G1-49', 'G2-68'],
    'ends the call with an error that says so: it does not hang until the client gives up [Q4]',
    async () => {
      const { site, pass } = await scene();
      const taskId = await createTask2026(site.alice);
      await questionsOf(site.alice, taskId);
      await pass(9 * MINUTE);
      expect(await getTask(site.alice, taskId)).toMatchObject({ status: 'input_required' });
      await pass(MINUTE);
      await reaches(site.alice, taskId, 'failed');
      expect((await getTask(site.alice, taskId))['error']).toMatchObject({
        message: 'nobody answered in time',
        data: { reason: 'input_expired' },
      });
    },
  );

  test('cancels the call where its author says so [Q4]', async () => {
    const { site, pass } = await scene({ onExpiry: 'cancel' });
    const taskId = await createTask2026(site.alice);
    await questionsOf(site.alice, taskId);
    await pass(10 * MINUTE);
    await reaches(site.alice, taskId, 'cancelled');
  });

  test('goes on with the declared content where that approves nothing, and the record says that nobody answered [Q4]', async () => {
    const { site, pass } = await scene({
      onExpiry: 'default',
      defaultContent: { ok: false },
      approval: false,
    });
    const taskId = await createTask2026(site.alice);
    const { key } = await questionOf(site.alice, taskId);
    await pass(10 * MINUTE);
    await reaches(site.alice, taskId, 'completed');
    const text = JSON.parse(await resultText(site, taskId)) as string;
    expect(JSON.parse(text)).toEqual({ action: 'nobody', content: { ok: false } });
    expect(await storyOf(site, taskId)).toContain(`task.input_nobody_answered ${key}`);
  });

  test.each([
    ['an approval', { approval: true }, 'read'],
    ['of a consequential tool', { approval: false }, 'consequential'],
  ] as const)('is never a yes: %s', async (_what, form, effect) => {
    const { site, pass } = await scene(
      { onExpiry: 'default', defaultContent: { ok: true }, ...form },
      { tool: { effect } },
    );
    const taskId = await createTask2026(site.alice);
    await questionsOf(site.alice, taskId);
    await pass(10 * MINUTE);
    await reaches(site.alice, taskId, 'completed');
    const text = JSON.parse(await resultText(site, taskId)) as string;
    expect(JSON.parse(text)).toEqual({ action: 'nobody' });
  });

  test('is counted, by what it asked for', async () => {
    const { site, pass } = await scene();
    const taskId = await createTask2026(site.alice);
    await questionsOf(site.alice, taskId);
    expect(await site.kit.side.store.inputs.countOpen()).toMatchObject([{ count: 1 }]);
    await pass(10 * MINUTE);
    await reaches(site.alice, taskId, 'failed');
    expect(site.kit.side.runtime.stats().inputsExpired).toMatchObject({ personal: 1, secret: 0 });
    expect(await site.kit.side.store.inputs.countOpen()).toEqual([]);
  });

  test('a page that was opened and then left alone ends the call too [Q6]', async () => {
    const { site, pass } = await scene(
      {},
      {
        handler: (job) =>
          job.askUrl('connect', {
            message: 'Connect',
            url: ({ token }) => `https://page.example/?c=${token}`,
            expiresInMs: 5 * MINUTE,
          }),
      },
    );
    const taskId = await createTask2026(site.alice);
    const { key } = await questionOf(site.alice, taskId);
    resultOf(await update(site.alice, taskId, { [key]: { action: 'accept' } }));
    await pass(4 * MINUTE);
    expect(await getTask(site.alice, taskId)).toMatchObject({ status: 'working' });
    await pass(MINUTE);
    await reaches(site.alice, taskId, 'failed');
    expect(JSON.stringify(await getTask(site.alice, taskId))).toContain('input_expired');
  });
});

describe('an answer that comes too late', () => {
  verifies(
    ['G1-125', 'T4'],
    'gets a clear "expired" reply, never a silent drop (2025-11-25) [Q1]',
    async () => {
      const { site, pass } = await scene();
      const alice = await site.alice2025();
      const taskId = await createTask2025(alice);
      const events = await openResult(alice, taskId);
      const question = await events.message(isQuestion);
      await pass(10 * MINUTE);
      const cancelled = await events.message(isCancelled);
      expect(cancelled['params']).toMatchObject({
        requestId: question['id'],
        reason: expect.stringContaining('expired'),
      });
      const late = await alice.respond(question, ACCEPT);
      expect(late.status).toBe(400);
      expect(await late.json()).toMatchObject({
        error: { message: expect.stringContaining('expired'), data: { reason: 'input_expired' } },
      });
      await events.cancel();
    },
  );

  test('hears it too where the machine has not noticed the time yet (2025-11-25) [Q1]', async () => {
    const { site, clock } = await scene();
    const alice = await site.alice2025();
    const taskId = await createTask2025(alice);
    const events = await openResult(alice, taskId);
    const question = await events.message(isQuestion);
    clock.advance(10 * MINUTE);
    const late = await alice.respond(question, ACCEPT);
    expect(late.status).toBe(400);
    expect(await late.text()).toContain('expired');
    await events.cancel();
  });

  test('is told by the cancel of its question over stdio, where an answer has no reply [Q1]', async () => {
    const { site, pass } = await scene();
    const pipe = site.kit.stdio(ALICE);
    const say = (message: JsonObject) => pipe.send({ jsonrpc: '2.0', ...message });
    say({
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: ASKABLE,
        clientInfo: { name: 'test', version: '1' },
      },
    });
    await pipe.next(({ id }) => id === 1);
    say({ method: 'notifications/initialized' });
    say({ id: 2, method: 'tools/call', params: { name: TOOL, arguments: {}, task: {} } });
    const question = await pipe.next(isQuestion);
    await pass(10 * MINUTE);
    const { params } = await pipe.next(isCancelled);
    expect(params).toMatchObject({
      requestId: question['id'],
      reason: expect.stringContaining('expired'),
    });
    say({ id: question['id'], result: ACCEPT });
    say({ id: 3, method: 'ping' });
    expect(await pipe.next(({ id }) => id === 3)).toMatchObject({ result: {} });
  });

  verifies(
    'G2-54',
    'is acknowledged and ignored (2026-07-28), and whoever asks the receiver itself hears that it was late [Q1]',
    async () => {
      const { site, pass } = await scene();
      const taskId = await createTask2026(site.alice);
      const { key } = await questionOf(site.alice, taskId);
      await pass(10 * MINUTE);
      await reaches(site.alice, taskId, 'failed');
      resultOf(await update(site.alice, taskId, { [key]: ACCEPT }));
      expect(await getTask(site.alice, taskId)).toMatchObject({ status: 'failed' });
      const { receiver } = site.kit.side.runtime;
      const { owner, tenant } = (await site.kit.side.store.tasks.get('system', taskId)) ?? {};
      const answered = await receiver.answer(
        { key: String(owner), tenant: String(tenant), scopes: ['*'] } as never,
        taskId,
        { [key]: { kind: 'result', result: ACCEPT } },
      );
      expect(answered).toMatchObject({ kind: 'taken', taken: [], ignored: [key], expired: [key] });
    },
  );
});

describe('the time that a person takes', () => {
  test('is not the run’s: an hour of thought leaves the run limit as it was [Q1]', async () => {
    const { site, clock } = await scene(
      { expiresInMs: 24 * 60 * MINUTE },
      { tool: { runLimitMs: MINUTE, inputExpiryMs: 24 * 60 * MINUTE } },
    );
    const taskId = await createTask2026(site.alice);
    const { key } = await questionOf(site.alice, taskId);
    clock.advance(23 * 60 * MINUTE);
    resultOf(await update(site.alice, taskId, { [key]: ACCEPT }));
    await reaches(site.alice, taskId, 'completed');
  });

  test('has an allowance of its own, which all questions of a call share [Q1]', async () => {
    const asked: number[] = [];
    const { site, clock, pass } = await scene(
      {},
      {
        tool: { inputAllowanceMs: 60 * MINUTE, inputExpiryMs: 60 * MINUTE },
        handler: async (job) => {
          await job.ask('one', { ...FORM, expiresInMs: 24 * 60 * MINUTE });
          asked.push(1);
          return textResult(JSON.stringify(await job.ask('two', FORM)));
        },
      },
    );
    const taskId = await createTask2026(site.alice);
    const { key: one } = await questionOf(site.alice, taskId);
    clock.advance(55 * MINUTE);
    resultOf(await update(site.alice, taskId, { [one]: ACCEPT }));
    const { key: two } = await questionOf(site.alice, taskId);
    const { inputs } = site.kit.side.store;
    const found = await inputs.find(taskId, two);
    expect((found?.input.expiresAt ?? 0) - clock.now()).toBe(5 * MINUTE);
    await pass(5 * MINUTE);
    await reaches(site.alice, taskId, 'failed');
    expect(asked).not.toEqual([]);
  });
});
