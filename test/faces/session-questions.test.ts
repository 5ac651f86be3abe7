import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createManualClock, type ManualClock } from '../../src/kernel/manual-clock.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { REDELIVER_MS } from '../../src/faces/mcp/generation-2025/question-desk.ts';
import { settleDown, until } from '../runtime/receiving-side.ts';
import { verifies } from '../requirements/verifies.ts';
import { createKit, tool, type HttpSide, type Kit } from './face-kit.ts';
import {
  caller2025,
  caller2026,
  isMethod,
  nextId,
  RELATED_META,
  resultOf,
  stream,
  textOf,
  WITH_FORMS,
  type Caller2025,
  type SseReader,
} from './wire.ts';

interface Scene extends HttpSide {
  readonly kit: Kit;
  readonly alice: Caller2025;
}

async function scene(...args: Parameters<typeof createKit>): Promise<Scene> {
  const kit = await createKit(...args);
  const side = await kit.http();
  return { ...side, kit, alice: await caller2025(side.url, 'alice') };
}

/** A scene whose face takes its timers from a clock that stands still. */
async function slowScene(): Promise<Scene & { readonly manual: ManualClock }> {
  const manual = createManualClock();
  const face = { clock: { ...systemClock, after: manual.after } };
  return { ...(await scene({ face })), manual };
}

const isQuestion = isMethod('elicitation/create');
const YES = { action: 'accept', content: { ok: true } };
const metaOf = (question: JsonObject): JsonObject =>
  (question['params'] as JsonObject)['_meta'] as JsonObject;
const keyOf = (question: JsonObject): unknown => metaOf(question)['dev.longcall/inputKey'];

async function create(caller: Caller2025, name: string): Promise<string> {
  const result = resultOf(await caller.tool(name, {}, { task: {} }));
  return String((result['task'] as JsonObject)['taskId']);
}

const results = (caller: Caller2025, taskId: string): Promise<SseReader> =>
  stream(caller.open('tasks/result', { taskId }, { id: nextId() }));

const status = async (caller: Caller2025, taskId: string): Promise<unknown> =>
  resultOf(await caller.call('tasks/get', { taskId }))['status'];

/** Resolves when the server has noticed that the stream of the next request is gone. */
function nextGone({ server }: HttpSide): Promise<void> {
  return new Promise((resolve) =>
    server.once('request', (_req, res: ServerResponse) => res.once('close', () => resolve())),
  );
}

verifies(
  ['G1-42', 'G1-43', 'G1-44', 'G1-45', 'G1-139', 'G1-36'],
  'a question comes on the open tasks/result stream, names its task, and the same call goes on blocking',
  async () => {
    const { alice } = await scene();
    const taskId = await create(alice, 'asks');
    const events = await results(alice, taskId);
    const question = await events.message(isQuestion);
    expect(question['params']).toMatchObject({ message: 'go on?' });
    expect(metaOf(question)[RELATED_META]).toEqual({ taskId });
    expect(keyOf(question)).toMatch(/^in_/);
    expect(await status(alice, taskId)).toBe('input_required');
    expect((await alice.respond(question, YES)).status).toBe(202);
    const [answer] = await events.rest();
    expect(textOf(resultOf(answer ?? {}))).toContain('accept');
  },
);

verifies('T3', 'a question that was asked before comes with the next tasks/result', async () => {
  const { alice } = await scene();
  const taskId = await create(alice, 'asks');
  await until(async () => (await status(alice, taskId)) === 'input_required');
  const events = await results(alice, taskId);
  await alice.respond(await events.message(isQuestion), YES);
  expect(await events.rest()).toHaveLength(1);
});

verifies(
  'G1-46',
  'where no tasks/result is open the question comes on the GET stream',
  async () => {
    const { alice } = await scene();
    const get = await alice.listen();
    const taskId = await create(alice, 'asks');
    const question = await get.message(isQuestion);
    expect(metaOf(question)[RELATED_META]).toEqual({ taskId });
    await alice.respond(question, YES);
    await until(async () => (await status(alice, taskId)) === 'completed');
    await get.cancel();
  },
);

verifies('G1-84', 'a question is outstanding once: never on two streams', async () => {
  const { alice } = await scene();
  const get = await alice.listen();
  const taskId = await create(alice, 'asks');
  const question = await get.message(isQuestion);
  const events = await results(alice, taskId);
  await events.event();
  await alice.respond(question, YES);
  const rest = await events.rest();
  expect(rest.filter(isQuestion)).toEqual([]);
  expect(rest).toHaveLength(1);
  await get.cancel();
});

test('two calls that wait for one result are asked once', async () => {
  const { alice } = await scene();
  const taskId = await create(alice, 'asks');
  const both = await Promise.all([results(alice, taskId), results(alice, taskId)]);
  const question = await both[0]?.message(isQuestion);
  await alice.respond(question ?? {}, YES);
  const rests = await Promise.all(both.map((events) => events.rest()));
  expect(rests.flat().filter(isQuestion)).toEqual([]);
});

verifies(
  'T4',
  'after a drop the next tasks/result gets the question under a new id, and the old id says nothing any more',
  async () => {
    const { alice, server, url, face } = await scene();
    const taskId = await create(alice, 'asks');
    const gone = nextGone({ server, url, face });
    const first = await results(alice, taskId);
    const before = await first.message(isQuestion);
    await first.cancel();
    await gone;
    const second = await results(alice, taskId);
    const after = await second.message(isQuestion);
    expect(after['id']).not.toBe(before['id']);
    expect(keyOf(after)).toBe(keyOf(before));
    await alice.respond(before, { action: 'decline' });
    await settleDown();
    expect(await status(alice, taskId)).toBe('input_required');
    await alice.respond(after, YES);
    const [answer] = await second.rest();
    expect(textOf(resultOf(answer ?? {}))).toContain('accept');
  },
);

test('a stream that is resumed has its question still, under the same id', async () => {
  const { alice, server, url, face } = await scene();
  const taskId = await create(alice, 'asks');
  const gone = nextGone({ server, url, face });
  const first = await results(alice, taskId);
  const primed = await first.event();
  const before = await first.message(isQuestion);
  await first.cancel();
  await gone;
  const resumed = await alice.listen(primed.id);
  const after = await resumed.message(isQuestion);
  expect(after['id']).toBe(before['id']);
  await alice.respond(after, YES);
  const [answer] = await resumed.rest();
  expect(textOf(resultOf(answer ?? {}))).toContain('accept');
});

test('a superseded question is taken back from what a resumption would bring', async () => {
  const { alice, server, url, face } = await scene();
  const taskId = await create(alice, 'asks');
  const gone = nextGone({ server, url, face });
  const first = await results(alice, taskId);
  const primed = await first.event();
  await first.message(isQuestion);
  await first.cancel();
  await gone;
  const second = await results(alice, taskId);
  const after = await second.message(isQuestion);
  const resumed = await alice.listen(primed.id);
  await alice.respond(after, YES);
  expect((await resumed.rest()).filter(isQuestion)).toEqual([]);
  await second.rest();
});

test('after a grace the GET stream gets what a dropped stream has left behind', async () => {
  const { alice, manual, ...side } = await slowScene();
  const taskId = await create(alice, 'asks');
  const gone = nextGone(side);
  const events = await results(alice, taskId);
  const before = await events.message(isQuestion);
  const get = await alice.listen();
  await events.cancel();
  await gone;
  await settleDown();
  manual.advance(REDELIVER_MS + 1);
  const after = await get.message(isQuestion);
  expect(keyOf(after)).toBe(keyOf(before));
  await alice.respond(after, YES);
  await until(async () => (await status(alice, taskId)) === 'completed');
  await get.cancel();
});

test('a new session of the same person gets the question, no other person does', async () => {
  const { alice, url } = await scene();
  const bob = await caller2025(url, 'bob');
  const theirs = await bob.listen();
  const taskId = await create(alice, 'asks');
  await fetch(url, { method: 'DELETE', headers: alice.headers });
  const again = await caller2025(url, 'alice');
  const get = await again.listen();
  const question = await get.message(isQuestion);
  await again.respond(question, YES);
  await until(async () => (await status(again, taskId)) === 'completed');
  await fetch(url, { method: 'DELETE', headers: bob.headers });
  await expect(theirs.message(isQuestion)).rejects.toThrow('terminated');
  await get.cancel();
});

verifies(
  'G1-48',
  'a session that has not declared the kind is not asked, also where its owner could be',
  async () => {
    const { alice, url } = await scene();
    const taskId = await create(alice, 'asks');
    const blind = await caller2025(url, 'alice', { capabilities: {} });
    const events = await results(blind, taskId);
    expect(await status(blind, taskId)).toBe('working');
    const seeing = await results(alice, taskId);
    await alice.respond(await seeing.message(isQuestion), YES);
    const rests = await Promise.all([events.rest(), seeing.rest()]);
    expect(rests.flat().filter(isQuestion)).toEqual([]);
  },
);

test('a task of 2026-07-28 asks a session only after that has named it', async () => {
  const { alice, url } = await scene();
  const get = await alice.listen();
  const modern = caller2026(url, 'alice');
  const taskId = String(resultOf(await modern.tool('asks'))['taskId']);
  await until(
    async () => resultOf(await modern.call('tasks/get', { taskId }))['status'] === 'input_required',
  );
  await settleDown();
  expect(await status(alice, taskId)).toBe('input_required');
  const question = await get.message(isQuestion);
  await alice.respond(question, YES);
  await until(async () => (await status(alice, taskId)) === 'completed');
  await get.cancel();
});

test('two questions at once are asked and answered each for itself', async () => {
  const { alice } = await scene();
  const taskId = await create(alice, 'asks_two');
  const events = await results(alice, taskId);
  const first = await events.message(isQuestion);
  const second = await events.message(isQuestion);
  expect(keyOf(first)).not.toBe(keyOf(second));
  await alice.respond(second, YES);
  expect(await status(alice, taskId)).toBe('input_required');
  await alice.respond(first, YES);
  const [answer] = await events.rest();
  expect(textOf(resultOf(answer ?? {}))).toContain('answer answer');
});

test('an answer that can be none is asked for again, and not for ever', async () => {
  const { alice } = await scene();
  const taskId = await create(alice, 'asks');
  const events = await results(alice, taskId);
  const ids: unknown[] = [];
  for (let asked = 0; asked < 3; asked += 1) {
    const question = await events.message(isQuestion);
    ids.push(question['id']);
    await alice.respond(question, { action: 'accept', content: { ok: 'not a boolean' } });
  }
  expect(new Set(ids).size).toBe(3);
  await settleDown();
  expect(await status(alice, taskId)).toBe('input_required');
  await events.cancel();
});

test('an error of the client is an answer too', async () => {
  const { alice } = await scene();
  const taskId = await create(alice, 'asks');
  const events = await results(alice, taskId);
  const question = await events.message(isQuestion);
  await alice.send({ id: question['id'], error: { code: -1, message: 'nobody at home' } });
  const [answer] = await events.rest();
  expect(textOf(resultOf(answer ?? {}))).toContain('nobody at home');
});

verifies('T18', 'cancelling the task takes its question back from the client', async () => {
  const { alice } = await scene();
  const taskId = await create(alice, 'asks');
  const events = await results(alice, taskId);
  const question = await events.message(isQuestion);
  await alice.call('tasks/cancel', { taskId });
  const rest = await events.rest();
  expect(rest[0]).toMatchObject({
    method: 'notifications/cancelled',
    params: { requestId: question['id'] },
  });
  expect((await alice.respond(question, YES)).status).toBe(202);
  expect(await status(alice, taskId)).toBe('cancelled');
});

test('a question answered in the other generation is taken back from the client', async () => {
  const { alice, url } = await scene();
  const taskId = await create(alice, 'asks');
  const events = await results(alice, taskId);
  const question = await events.message(isQuestion);
  await caller2026(url, 'alice').call('tasks/update', {
    taskId,
    inputResponses: { [String(keyOf(question))]: YES },
  });
  const rest = await events.rest();
  expect(rest.map(({ method }) => method)).toEqual(['notifications/cancelled', undefined]);
});

verifies('G1-62', 'an answer through another session counts for nothing', async () => {
  const { alice, url } = await scene();
  const bob = await caller2025(url, 'bob');
  const taskId = await create(alice, 'asks');
  const events = await results(alice, taskId);
  const question = await events.message(isQuestion);
  await bob.respond(question, YES);
  await settleDown();
  expect(await status(alice, taskId)).toBe('input_required');
  await alice.respond(question, YES);
  expect(await events.rest()).toHaveLength(1);
});

verifies(
  ['G1-51', 'G1-47'],
  'a page to open is asked for by an id that stays the same',
  async () => {
    const page = { mode: 'url', message: 'sign in', url: 'https://login.example/' };
    const kit = await createKit({ tools: [tool('gated')] });
    const { url } = await kit.http();
    const capabilities = { elicitation: { url: {} } };
    const alice = await caller2025(url, 'alice', { capabilities });
    const taskId = await create(alice, 'gated');
    const job = await kit.gate.next();
    const replies = job.ask([
      { method: 'elicitation/create', params: page },
      { method: 'elicitation/create', params: { message: 'a form', requestedSchema: {} } },
    ]);
    const events = await results(alice, taskId);
    const question = await events.message(isQuestion);
    expect(question['params']).toMatchObject({ ...page, elicitationId: keyOf(question) });
    await alice.respond(question, { action: 'accept' });
    expect((await replies).map(({ kind }) => kind)).toEqual(['answer', 'undeclared']);
    await events.cancel();
  },
);

test('sampling and roots are asked like forms, where they are declared', async () => {
  const kit = await createKit({ tools: [tool('gated')] });
  const { url } = await kit.http();
  const alice = await caller2025(url, 'alice', {
    capabilities: { sampling: {}, roots: {}, ...WITH_FORMS },
  });
  const taskId = await create(alice, 'gated');
  const job = await kit.gate.next();
  const replies = job.ask([
    { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } },
    { method: 'roots/list', params: {} },
  ]);
  const events = await results(alice, taskId);
  const sampling = await events.message(isMethod('sampling/createMessage'));
  const roots = await events.message(isMethod('roots/list'));
  expect(metaOf(roots)[RELATED_META]).toEqual({ taskId });
  await alice.respond(sampling, {
    role: 'assistant',
    model: 'm',
    content: { type: 'text', text: 'hi' },
  });
  await alice.respond(roots, { roots: [] });
  expect((await replies).map(({ kind }) => kind)).toEqual(['answer', 'answer']);
  await events.cancel();
});
