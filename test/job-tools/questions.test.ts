import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { FormQuestion } from '../../src/runtime/steps/context.ts';
import type { HandleJob } from '../../src/runtime/steps/with-journal.ts';
import { tool } from '../faces/face-kit.ts';
import {
  caller2025,
  caller2026,
  isMethod,
  resultOf,
  stream,
  WITH_FORMS,
  WITH_TASKS,
} from '../faces/wire.ts';
import { until } from '../runtime/receiving-side.ts';
import { createJobSite, factsOf, jobOf, plainHost, textsOf, WIRES } from './hosts.ts';

const SIZE: FormQuestion = {
  message: 'Which size?',
  schema: {
    type: 'object',
    properties: { size: { type: 'string', enum: ['small', 'large'] } },
    required: ['size'],
  },
  answerableByModel: ['size'],
};
const APPROVAL: FormQuestion = {
  message: 'Delete everything?',
  schema: { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] },
};
const MIXED: FormQuestion = {
  message: 'Size and name?',
  schema: {
    type: 'object',
    properties: { size: { type: 'string' }, name: { type: 'string' } },
    required: ['size'],
  },
  answerableByModel: ['size'],
};

/** A handler that asks what it is told to, and says what it heard. */
const asking =
  (...forms: readonly FormQuestion[]): HandleJob =>
  async ({ context }) => {
    const heard: unknown[] = [];
    for (const [place, form] of forms.entries())
      heard.push(await context.ask(`question ${place}`, form));
    return { content: [{ type: 'text', text: JSON.stringify(heard) }] };
  };

const ASKER = tool('asker', { journalled: true, jobWindowMs: 10_000 });
const tools = [ASKER, tool('asks', { jobWindowMs: 10_000 })];
const questionsOf = (result: JsonObject): readonly JsonObject[] =>
  (factsOf(result)['questions'] ?? []) as readonly JsonObject[];

describe.each(WIRES)('a question to the model, on %s', (wire) => {
  test('comes back at once with the call that answers it, and the answer brings the result in the same turn', async () => {
    const { url } = await createJobSite({ tools, handle: asking(SIZE) });
    const host = await plainHost(url, wire);
    const started = await host.call('asker');
    expect(factsOf(started)).toMatchObject({ status: 'input_required' });
    const [question] = questionsOf(started);
    expect(question).toMatchObject({ answeredBy: 'model', message: 'Which size?' });
    expect(textsOf(started)[0]).toContain('> Which size?');
    const job = jobOf(started);
    const wrong = await host.call('longcall_answer', { job, content: { size: 'huge' } });
    expect(wrong['isError']).toBe(true);
    expect(textsOf(wrong)[0]).toContain('still open');
    const more = { size: 'large', approved: true };
    const beyond = await host.call('longcall_answer', { job, content: more });
    expect(beyond['isError']).toBe(true);
    expect(textsOf(beyond)[0]).toContain('only these fields: size');
    const ended = await host.call('longcall_answer', { job, content: { size: 'large' } });
    expect(textsOf(ended).at(-1)).toBe('[{"action":"accept","content":{"size":"large"}}]');
    const late = await host.call('longcall_answer', {
      job,
      question: String(question?.['question']),
      content: { size: 'small' },
    });
    expect(late['isError']).toBe(true);
  });

  test.each([
    ['an approval', APPROVAL, { sure: true }],
    ['a form of which only a part is for the model', MIXED, { size: 'large' }],
  ])('%s is refused to it: only the person may say that', async (_what, form, content) => {
    const { url } = await createJobSite({ tools, handle: asking(form) });
    const host = await plainHost(url, wire);
    const started = await host.call('asker');
    expect(questionsOf(started)).toMatchObject([{ answeredBy: 'person' }]);
    expect(textsOf(started)[0]).toContain('Do not answer for them');
    const job = jobOf(started);
    const [question] = questionsOf(started);
    for (const named of [{}, { question: String(question?.['question']) }]) {
      const refused = await host.call('longcall_answer', { job, content, ...named });
      expect(refused['isError']).toBe(true);
      expect(textsOf(refused)[0]).toContain('Only the person may answer');
    }
    // It still waits, and a host of the same person that has Tasks can bring the answer.
    const modern = caller2026(url, 'alice', { ...WITH_TASKS, ...WITH_FORMS });
    const view = resultOf(await modern.call('tasks/get', { taskId: job }));
    const [key] = Object.keys(view['inputRequests'] as JsonObject);
    await modern.call('tasks/update', {
      taskId: job,
      inputResponses: { [String(key)]: { action: 'decline' } },
    });
    expect(textsOf(await host.call('longcall_wait', { job })).at(-1)).toContain('decline');
  });

  test('of an upstream is none: a host that cannot be asked is not', async () => {
    const { url } = await createJobSite({ tools });
    const host = await plainHost(url, wire);
    expect(textsOf(await host.call('asks'))[0]).toContain('undeclared');
  });
});

describe('a question to the person', () => {
  const YES = { action: 'accept', content: { sure: true } };

  test('is asked by a session’s host on the stream of the call, and the model only waits', async () => {
    const { url } = await createJobSite({ tools, handle: asking(APPROVAL) });
    const host = await caller2025(url, 'alice', { capabilities: WITH_FORMS });
    const call = await stream(host.open('tools/call', { name: 'asker', arguments: {} }));
    const asked = await call.message(isMethod('elicitation/create'));
    expect(asked['params']).toMatchObject({ message: 'Delete everything?' });
    expect(JSON.stringify(asked)).not.toContain('related-task');
    await host.respond(asked, YES);
    const [ended] = (await call.rest()).slice(-1);
    expect(textsOf(resultOf(ended ?? {})).at(-1)).toContain('accept');
  });

  test('that is still open when the call has its handle is asked once, and a late answer counts', async () => {
    const brief = { ...ASKER, jobWindowMs: 100 };
    const { url } = await createJobSite({ tools: [brief], handle: asking(APPROVAL) });
    const host = await caller2025(url, 'alice', { capabilities: WITH_FORMS });
    const call = await stream(host.open('tools/call', { name: 'asker', arguments: {} }));
    const asked = await call.message(isMethod('elicitation/create'));
    const [answer] = (await call.rest()).slice(-1);
    const started = resultOf(answer ?? {});
    expect(textsOf(started)[0]).toContain('They are asked in this host');
    const job = jobOf(started);
    const waits = { name: 'longcall_wait', arguments: { job, seconds: 0.1 } };
    const again = await stream(host.open('tools/call', waits));
    const messages = await again.rest();
    expect(messages.some(isMethod('elicitation/create'))).toBe(false);
    await host.respond(asked, YES);
    const ended = resultOf(await host.tool('longcall_wait', { job }));
    expect(textsOf(ended).at(-1)).toContain('accept');
  });

  test('is asked again by a host that has started anew', async () => {
    const brief = { ...ASKER, jobWindowMs: 100 };
    const { url } = await createJobSite({ tools: [brief], handle: asking(APPROVAL) });
    const first = await caller2025(url, 'alice', { capabilities: WITH_FORMS });
    const job = jobOf(resultOf(await first.tool('asker')));
    const second = await caller2025(url, 'alice', { capabilities: WITH_FORMS });
    const waits = { name: 'longcall_wait', arguments: { job } };
    const wait = await stream(second.open('tools/call', waits));
    await second.respond(await wait.message(isMethod('elicitation/create')), YES);
    const [ended] = (await wait.rest()).slice(-1);
    expect(textsOf(resultOf(ended ?? {})).at(-1)).toContain('accept');
  });

  test('is a round of the wait on 2026-07-28, and the retry goes on with the same job', async () => {
    const brief = { ...ASKER, jobWindowMs: 0 };
    const { url } = await createJobSite({ tools: [brief], handle: asking(APPROVAL, SIZE) });
    const host = caller2026(url, 'alice', WITH_FORMS);
    const job = jobOf(resultOf(await host.tool('asker')));
    const params = { name: 'longcall_wait', arguments: { job } };
    const asked = resultOf(await host.call('tools/call', params));
    expect(asked['resultType']).toBe('input_required');
    const [key] = Object.keys(asked['inputRequests'] as JsonObject);
    const retry = { requestState: asked['requestState'], inputResponses: { [String(key)]: YES } };
    const next = resultOf(await host.call('tools/call', { ...params, ...retry }));
    expect(questionsOf(next)).toMatchObject([{ answeredBy: 'model' }]);
    const ended = await host.tool('longcall_answer', { job, content: { size: 'small' } });
    expect(textsOf(resultOf(ended)).at(-1)).toContain('small');
  });

  test('is never shown to anybody who only knows the id', async () => {
    const brief = { ...ASKER, jobWindowMs: 50 };
    const { url } = await createJobSite({ tools: [brief], handle: asking(APPROVAL) });
    const alice = await plainHost(url, '2025-06-18');
    const job = jobOf(await alice.call('asker'));
    for (const wire of WIRES) {
      const bob = await plainHost(url, wire, { token: 'bob', capabilities: WITH_FORMS });
      const seen = await bob.call('longcall_wait', { job, seconds: 1 });
      expect(seen['isError']).toBe(true);
      expect(JSON.stringify(seen)).not.toContain('Delete');
    }
    const bob = await caller2025(url, 'bob', { capabilities: WITH_FORMS });
    const { messages, body } = await bob.tool('longcall_wait', { job, seconds: 1 });
    expect(JSON.stringify([messages, body])).not.toContain('Delete');
  });

  test('that nobody here can be asked is waited for, so that blind polls stay slow', async () => {
    const brief = { ...ASKER, jobWindowMs: 50 };
    const { url } = await createJobSite({ tools: [brief], handle: asking(APPROVAL) });
    const host = await plainHost(url, '2025-06-18');
    const job = jobOf(await host.call('asker'));
    await until(async () => questionsOf(await host.call('longcall_result', { job })).length === 1);
    const began = performance.now();
    const waited = await host.call('longcall_wait', { job, seconds: 1 });
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(textsOf(waited)[0]).toContain('This host cannot show the question');
  });

  test('of two jobs at once goes each to its own, whatever the order of the answers', async () => {
    const { url } = await createJobSite({
      tools: [ASKER],
      handle: async ({ job, context }) => {
        const { tag } = job.request.arguments;
        const said = await context.ask('sure', { ...APPROVAL, message: `Delete ${String(tag)}?` });
        return { content: [{ type: 'text', text: `${String(tag)} ${JSON.stringify(said)}` }] };
      },
    });
    const host = await caller2025(url, 'alice', { capabilities: WITH_FORMS });
    const bob = await caller2025(url, 'bob', { capabilities: WITH_FORMS });
    const open = (who: typeof host, tag: string) =>
      stream(who.open('tools/call', { name: 'asker', arguments: { tag } }));
    const calls = await Promise.all([open(host, 'one'), open(host, 'two'), open(bob, 'three')]);
    const asked = await Promise.all(
      calls.map((call) => call.message(isMethod('elicitation/create'))),
    );
    expect(asked.map(({ params }) => (params as JsonObject)['message'])).toEqual([
      'Delete one?',
      'Delete two?',
      'Delete three?',
    ]);
    await bob.respond(asked[2] ?? {}, { action: 'cancel' });
    await host.respond(asked[1] ?? {}, { action: 'decline' });
    await host.respond(asked[0] ?? {}, YES);
    const ends = await Promise.all(calls.map((call) => call.rest()));
    const texts = ends.map((messages) => textsOf(resultOf(messages.at(-1) ?? {}))[0]);
    expect(texts[0]).toContain('one {"action":"accept"');
    expect(texts[1]).toContain('two {"action":"decline"');
    expect(texts[2]).toContain('three {"action":"cancel"');
  });
});
