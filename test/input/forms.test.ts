import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { FormQuestion } from '../../src/runtime/steps/context.ts';
import { verifies } from '../requirements/verifies.ts';
import { errorOf, isMethod, nextId, RELATED_META, resultOf, textOf } from '../faces/wire.ts';
import { settleDown } from '../runtime/receiving-side.ts';
import {
  createTask2025,
  createTask2026,
  getTask,
  openResult,
  openSite,
  questionsOf,
  reaches,
  storyOf,
  textResult,
  update,
  type InputSite,
} from './input-kit.ts';

const isQuestion = isMethod('elicitation/create');
const paramsOf = (message: JsonObject): JsonObject => message['params'] as JsonObject;

const NAME: FormQuestion = {
  message: 'Who is it for?',
  schema: {
    type: 'object',
    properties: { name: { type: 'string', minLength: 2 } },
    required: ['name'],
  },
};
const SIZE: FormQuestion = {
  message: 'Which size?',
  schema: {
    type: 'object',
    properties: {
      size: { type: 'string', enum: ['S', 'M', 'L'] },
      count: { type: 'integer', minimum: 1, maximum: 9 },
    },
    required: ['size'],
  },
  fields: { size: 'public' },
};

interface Order {
  readonly site: InputSite;
  /** What was done, in order: steps are done once each, whatever is asked. */
  readonly done: readonly string[];
}

/** A tool that does something, asks two things at once, then one more, and does the rest. */
async function order(): Promise<Order> {
  const done: string[] = [];
  const site = await openSite({
    async handler(job) {
      await job.step('reserve', () => void done.push('reserve'));
      const { who, what } = await job.askAll({ who: NAME, what: SIZE });
      await job.step('pack', () => void done.push('pack'));
      const sure = await job.ask('sure', { ...NAME, message: 'Really?' });
      await job.step('send', () => void done.push('send'));
      return textResult(JSON.stringify([who, what, sure].map(({ action }) => action)));
    },
  });
  return { site, done };
}

/** The key of the question with that message. */
function keyOf(questions: JsonObject, message: string): string {
  const found = Object.entries(questions).find(
    ([, request]) => paramsOf(request as JsonObject)['message'] === message,
  );
  if (!found) throw new Error(`nobody asks ${message}: ${JSON.stringify(questions)}`);
  return found[0];
}

const accept = (content: JsonObject): JsonObject => ({ action: 'accept', content });

describe('several questions at once', () => {
  verifies(
    ['G2-47', 'G2-48', 'G2-50', 'G2-54', 'G2-55', 'T28', 'T30'],
    'duplicate, racing and partial answers: each key is answered once, the work resumes once, nothing done before is repeated [Q3]',
    async () => {
      const { site, done } = await order();
      const { alice } = site;
      const taskId = await createTask2026(alice);
      const first = await questionsOf(alice, taskId);
      const [who, what] = [keyOf(first, 'Who is it for?'), keyOf(first, 'Which size?')];

      resultOf(await update(alice, taskId, { [who]: accept({ name: 'Ada' }) }));
      expect(Object.keys(await questionsOf(alice, taskId))).toEqual([what]);
      resultOf(await update(alice, taskId, { [who]: { action: 'decline' } }));
      resultOf(await update(alice, taskId, { in_never_asked: { action: 'cancel' } }));
      expect(Object.keys(await questionsOf(alice, taskId))).toEqual([what]);
      expect(done).toEqual(['reserve']);

      const both = await Promise.all([
        update(alice, taskId, { [what]: accept({ size: 'M' }) }),
        update(alice, taskId, { [what]: accept({ size: 'L' }) }),
      ]);
      both.forEach((answer) => expect(resultOf(answer)).toMatchObject({ resultType: 'complete' }));

      const second = await questionsOf(alice, taskId);
      const sure = keyOf(second, 'Really?');
      expect([who, what]).not.toContain(sure);
      resultOf(
        await update(alice, taskId, {
          [who]: accept({ name: 'Eve' }),
          [sure]: accept({ name: 'Ada' }),
        }),
      );
      await reaches(alice, taskId, 'completed');
      expect(done).toEqual(['reserve', 'pack', 'send']);
      const result = (await getTask(alice, taskId))['result'] as JsonObject;
      expect(JSON.parse(String((result['content'] as JsonObject[])[0]?.['text']))).toEqual([
        'accept',
        'accept',
        'accept',
      ]);
      const story = await storyOf(site, taskId);
      expect(story.filter((line) => line === 'task.woken answers')).toHaveLength(2);
      expect(story.filter((line) => line.startsWith('task.input_answered'))).toHaveLength(3);
    },
  );

  verifies(
    ['G1-42', 'G1-43', 'G1-45', 'G1-139', 'T3'],
    'both come to a session, are answered the other way round, and only then the work goes on [Q3, Q7]',
    async () => {
      const { site, done } = await order();
      const alice = await site.alice2025();
      const taskId = await createTask2025(alice);
      const events = await openResult(alice, taskId);
      const questions = [await events.message(isQuestion), await events.message(isQuestion)];
      const named = (message: string): JsonObject =>
        questions.find((question) => paramsOf(question)['message'] === message) ?? {};
      await alice.respond(named('Which size?'), accept({ size: 'S' }));
      expect(await getTask(alice, taskId)).toMatchObject({ status: 'input_required' });
      expect(done).toEqual(['reserve']);
      await alice.respond(named('Who is it for?'), accept({ name: 'Ada' }));
      await alice.respond(await events.message(isQuestion), accept({ name: 'Ada' }));
      const [answer] = await events.rest();
      expect(textOf(resultOf(answer ?? {}))).toContain('accept');
      expect(done).toEqual(['reserve', 'pack', 'send']);
    },
  );
});

describe('an answer that does not fit', () => {
  verifies(
    ['G2-82', 'T28'],
    'is refused with the field and what it takes, without the value, and the question stays open (2026-07-28)',
    async () => {
      const { site } = await order();
      const { alice } = site;
      const taskId = await createTask2026(alice);
      const questions = await questionsOf(alice, taskId);
      const what = keyOf(questions, 'Which size?');
      for (const [content, words] of [
        [{ size: 'canary-XXL' }, 'the field size must be one of "S", "M", "L"'],
        [
          { size: 'S', count: 777_123 },
          'the field count must be a whole number, at least 1 and at most 9',
        ],
        [{}, 'the field size is missing'],
      ] as const) {
        const { code, message } = errorOf(await update(alice, taskId, { [what]: accept(content) }));
        expect(code).toBe(-32_602);
        expect(message).toContain(words);
        expect(message).toContain(what);
        expect(message).not.toMatch(/canary|777123/);
      }
      expect(Object.keys(await questionsOf(alice, taskId))).toContain(what);
    },
  );

  verifies(
    ['G1-63', 'T28'],
    'is refused with the field and what it takes, and asked again with the reason (2025-11-25)',
    async () => {
      const { site } = await order();
      const alice = await site.alice2025();
      const taskId = await createTask2025(alice);
      const events = await openResult(alice, taskId);
      const asked = [await events.message(isQuestion), await events.message(isQuestion)];
      const question = asked.find((each) => paramsOf(each)['message'] === 'Which size?') ?? {};
      const refused = await alice.respond(question, accept({ size: 'canary-XXL' }));
      expect(refused.status).toBe(400);
      const body = await refused.text();
      expect(body).toContain('the field size must be one of');
      expect(body).not.toContain('canary');
      const again = await events.message(isQuestion);
      expect(again['id']).not.toBe(question['id']);
      expect(paramsOf(again)['_meta']).toEqual(paramsOf(question)['_meta']);
      expect(paramsOf(again)['message']).toContain('the field size must be one of');
      expect((await alice.respond(again, accept({ size: 'S' }))).status).toBe(202);
      await events.cancel();
    },
  );

  test('names another task than the question: a forged answer reaches nothing [Q7]', async () => {
    const { site } = await order();
    const alice = await site.alice2025();
    const [taskId, other] = [await createTask2025(alice), await createTask2025(alice)];
    const events = await openResult(alice, taskId);
    const question = await events.message(isQuestion);
    const forged = {
      ...accept({ name: 'Eve', size: 'S' }),
      _meta: { [RELATED_META]: { taskId: other } },
    };
    expect((await alice.respond(question, forged)).status).toBe(400);
    expect(await getTask(alice, taskId)).toMatchObject({ status: 'input_required' });
    const story = await storyOf(site, taskId);
    expect(story.some((line) => line.startsWith('task.input_answered'))).toBe(false);
    await events.cancel();
  });
});

describe('where nobody can be reached', () => {
  verifies(
    ['G1-48', 'G1-49', 'G2-59', 'G2-67'],
    'a client that declares no elicitation gets a clear error at once, not a hang [Q5]',
    async () => {
      const { site } = await order();
      const created = resultOf(
        await site.alice.tool(
          'works',
          {},
          {
            capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
          },
        ),
      );
      const taskId = String(created['taskId']);
      await reaches(site.alice, taskId, 'failed');
      expect(JSON.stringify(await getTask(site.alice, taskId))).toContain('has not declared');
    },
  );

  test('a client of 2025-11-25 that only polls tasks/get finds the question as soon as it opens tasks/result [Q2]', async () => {
    const { site } = await order();
    const alice = await site.alice2025();
    const taskId = await createTask2025(alice);
    await reaches(alice, taskId, 'input_required');
    for (let polls = 0; polls < 5; polls += 1) await getTask(alice, taskId);
    const events = await openResult(alice, taskId);
    expect(paramsOf(await events.message(isQuestion))['_meta']).toMatchObject({
      [RELATED_META]: { taskId },
    });
    await events.cancel();
  });
});

test('an answer of one person never reaches the question of another, by whatever id or key', async () => {
  const { site } = await order();
  const { alice, bob } = site;
  const [hers, his] = [await createTask2026(alice), await createTask2026(bob)];
  const questions = await questionsOf(alice, hers);
  const key = keyOf(questions, 'Who is it for?');
  await questionsOf(bob, his);
  const stolen = { [key]: accept({ name: 'Eve' }) };
  expect(errorOf(await update(bob, hers, stolen))).toMatchObject({ code: -32_602 });
  resultOf(await update(bob, his, stolen));
  await settleDown();
  expect(Object.keys(await questionsOf(alice, hers))).toContain(key);
  const bob2025 = await site.bob2025();
  const forged = await bob2025.send({ id: nextId(), result: accept({ name: 'Eve' }) });
  expect(forged.status).toBe(202);
  expect((await storyOf(site, hers)).some((line) => line.startsWith('task.input_answered'))).toBe(
    false,
  );
});
