import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { FormQuestion } from '../../src/runtime/steps/context.ts';
import { verifies } from '../requirements/verifies.ts';
import { isMethod, resultOf, textOf } from '../faces/wire.ts';
import { freshPath, settleDown } from '../runtime/receiving-side.ts';
import {
  createTask2025,
  createTask2026,
  getTask,
  manualClock,
  openResult,
  openSite,
  questionOf,
  questionsOf,
  reaches,
  textResult,
  update,
  type Handler,
} from './input-kit.ts';
import { openPage } from './page.ts';

const MINUTE = 60_000;
const isQuestion = isMethod('elicitation/create');
const ACCEPT = { action: 'accept', content: { ok: true } };
const FORM: FormQuestion = {
  message: 'Go on?',
  schema: { type: 'object', properties: { ok: { type: 'boolean' } } },
};
const metaOf = (question: JsonObject): unknown => (question['params'] as JsonObject)['_meta'];

/** A tool that does something once, asks, and does something else once. */
function asking(done: string[]): Handler {
  return async (job) => {
    await job.step('before', () => void done.push('before'));
    const { action } = await job.ask('go on', FORM);
    await job.step('after', () => void done.push('after'));
    return textResult(action);
  };
}

describe('a question that was open when the process died', () => {
  verifies(
    ['G2-47', 'G2-48', 'G2-50'],
    'is shown again under the same key, is answered once, and no finished step is repeated (2026-07-28) [Q3]',
    async () => {
      const done: string[] = [];
      const path = freshPath();
      const first = await openSite({ path, handler: asking(done) });
      const taskId = await createTask2026(first.alice);
      const before = await questionsOf(first.alice, taskId);
      await settleDown();
      await first.kit.side.die();

      const second = await openSite({ path, handler: asking(done) });
      const after = await questionsOf(second.alice, taskId);
      expect(after).toEqual(before);
      const [key = ''] = Object.keys(after);
      resultOf(await update(second.alice, taskId, { [key]: ACCEPT }));
      await reaches(second.alice, taskId, 'completed');
      expect(done).toEqual(['before', 'after']);
    },
  );

  verifies(
    ['G1-42', 'G1-84', 'T3', 'T4'],
    'comes to a session’s standing stream by itself, once, under the same key, and to tasks/result where that opens instead (2025-11-25)',
    async () => {
      const done: string[] = [];
      const path = freshPath();
      const first = await openSite({ path, handler: asking(done) });
      const before = await first.alice2025();
      const taskId = await createTask2025(before);
      const events = await openResult(before, taskId);
      const question = await events.message(isQuestion);
      await events.cancel();
      await first.kit.side.die();

      const second = await openSite({ path, handler: asking(done) });
      const alice = await second.alice2025();
      const standing = await alice.listen();
      const again = await standing.message(isQuestion);
      expect(metaOf(again)).toEqual(metaOf(question));
      const result = await openResult(alice, taskId);
      expect((await alice.respond(again, ACCEPT)).status).toBe(202);
      const rest = await result.rest();
      expect(rest.filter(isQuestion)).toEqual([]);
      expect(textOf(resultOf(rest.at(-1) ?? {}))).toContain('accept');
      expect(done).toEqual(['before', 'after']);
      await standing.cancel();
    },
  );

  test('goes to nobody else’s standing stream', async () => {
    const path = freshPath();
    const first = await openSite({ path, handler: asking([]) });
    const taskId = await createTask2025(await first.alice2025());
    await questionsOf(first.alice, taskId);
    await first.kit.side.die();

    const second = await openSite({ path, handler: asking([]) });
    const [bob, alice] = [await second.bob2025(), await second.alice2025()];
    const his = await bob.listen();
    const hers = await alice.listen();
    await hers.message(isQuestion);
    second.kit.surface.emit({ kind: 'list_changed', list: 'tools' });
    expect((await his.message())['method']).toBe('notifications/tools/list_changed');
    await his.cancel();
    expect(await getTask(alice, taskId)).toMatchObject({ status: 'input_required' });
    await hers.cancel();
  });

  test('and whose page was open: the page confirms to the next process [Q6]', async () => {
    const path = freshPath();
    const place = { confirmUrl: '' };
    const callbackUrl = () => place.confirmUrl;
    const page = await openPage({ callbackUrl, content: { code: 'abc' } });
    const handler: Handler = async (job) => {
      const answer = await job.askUrl('connect', {
        message: 'Connect',
        url: ({ token }) => page.linkFor(token),
      });
      const sealed = answer.action === 'confirmed' ? answer.sealed : undefined;
      return textResult(String(await sealed?.use('read', ({ code }) => `got ${String(code)}`)));
    };
    const first = await openSite({ path, handler });
    const taskId = await createTask2026(first.alice);
    const { key, params } = await questionOf(first.alice, taskId);
    const link = String(params['url']);
    resultOf(await update(first.alice, taskId, { [key]: { action: 'accept' } }));
    await first.kit.side.die();

    const second = await openSite({ path, handler });
    place.confirmUrl = second.confirmUrl;
    expect(await page.visit(link, { as: 'bob', does: 'confirm' })).toBe(404);
    expect(await page.visit(link, { as: 'alice', does: 'confirm' })).toBe(200);
    await reaches(second.alice, taskId, 'completed');
    const result = (await getTask(second.alice, taskId))['result'] as JsonObject;
    expect(textOf(result)).toContain('got abc');
  });

  test('goes on using up the same allowance: a restart gives nobody more time to answer [Q1]', async () => {
    const path = freshPath();
    const handler: Handler = async (job) => {
      await job.ask('one', FORM);
      return textResult(JSON.stringify(await job.ask('two', FORM)));
    };
    const limits = { inputAllowanceMs: 60 * MINUTE, inputExpiryMs: 60 * MINUTE };
    const clock = manualClock();
    const first = await openSite({ path, handler, clock, tool: limits });
    const taskId = await createTask2026(first.alice);
    const { key: one } = await questionOf(first.alice, taskId);
    await settleDown();
    clock.advance(20 * MINUTE);
    await first.kit.side.die();

    const later = createManualClock(clock.now() + 20 * MINUTE);
    const second = await openSite({ path, handler, clock: later, tool: limits });
    resultOf(await update(second.alice, taskId, { [one]: ACCEPT }));
    const { key: two } = await questionOf(second.alice, taskId);
    const found = await second.kit.side.store.inputs.find(taskId, two);
    expect((found?.input.expiresAt ?? 0) - later.now()).toBe(20 * MINUTE);
  });
});
