import { expect, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import { systemClock, type Clock } from '../../src/kernel/clock.ts';
import { isJsonObject, type JsonObject } from '../../src/kernel/json.ts';
import { until } from '../runtime/receiving-side.ts';
import { verifies } from '../requirements/verifies.ts';
import { createKit, formParams, tool, type Kit } from './face-kit.ts';
import {
  caller2026,
  errorOf,
  resultOf,
  textOf,
  WITH_ALL,
  WITH_FORMS,
  type Answer,
  type Caller2026,
} from './wire.ts';

const ACCEPT = { action: 'accept', content: { ok: true } };
const SYNC = ['asks', 'asks_two', 'asks_twice'].map((name) => tool(name, { mode: 'sync' }));

interface Scene {
  readonly kit: Kit;
  readonly url: string;
  readonly plain: Caller2026;
}

async function scene(...args: Parameters<typeof createKit>): Promise<Scene> {
  const kit = await createKit(...args);
  const { url } = await kit.http();
  return { kit, url, plain: caller2026(url, 'alice', WITH_FORMS) };
}

interface Round {
  readonly keys: readonly string[];
  readonly requests: JsonObject;
  readonly state: string;
}

function roundOf(answer: Answer): Round {
  const { resultType, inputRequests, requestState } = resultOf(answer);
  expect(resultType).toBe('input_required');
  const requests = isJsonObject(inputRequests) ? inputRequests : {};
  return { keys: Object.keys(requests), requests, state: String(requestState) };
}

const answersTo = ({ keys }: Round): JsonObject =>
  Object.fromEntries(keys.map((key) => [key, ACCEPT]));

const retry = (
  caller: Caller2026,
  name: string,
  {
    requestState,
    inputResponses,
    args = {},
  }: { requestState: string; inputResponses?: JsonObject; args?: JsonObject },
): Promise<Answer> =>
  caller.call('tools/call', {
    name,
    arguments: args,
    requestState,
    ...(inputResponses ? { inputResponses } : {}),
  });

verifies(
  ['G2-62', 'G2-61', 'G2-59'],
  'a question of a plain call comes as a round, and the retry with its answer gets the result',
  async () => {
    const { plain, kit } = await scene({ tools: SYNC });
    const round = roundOf(await plain.tool('asks'));
    const [key = ''] = round.keys;
    expect(round.requests[key]).toEqual({ method: 'elicitation/create', params: formParams() });
    const done = await retry(plain, 'asks', {
      requestState: round.state,
      inputResponses: answersTo(round),
    });
    expect(textOf(resultOf(done))).toContain('accept');
    await until(() => kit.calls.some((call) => call.startsWith('answeredInline')));
    expect((await kit.side.store.tasks.counts()).ended).toBe(1);
  },
);

test('several rounds are one call, each with a state of its own', async () => {
  const { plain, kit } = await scene({ tools: SYNC });
  const first = roundOf(await plain.tool('asks_twice'));
  const second = roundOf(
    await retry(plain, 'asks_twice', {
      requestState: first.state,
      inputResponses: answersTo(first),
    }),
  );
  expect(second.keys).not.toEqual(first.keys);
  expect(second.state).not.toBe(first.state);
  const done = await retry(plain, 'asks_twice', {
    requestState: second.state,
    inputResponses: answersTo(second),
  });
  expect(textOf(resultOf(done))).toContain('asked');
  const counts = await kit.side.store.tasks.counts();
  expect(counts.ended + counts.working + counts.inputRequired).toBe(1);
});

test('answers in part bring the rest of the questions again', async () => {
  const { plain } = await scene({ tools: SYNC });
  const first = roundOf(await plain.tool('asks_two'));
  const [one = '', two = ''] = first.keys;
  const rest = roundOf(
    await retry(plain, 'asks_two', {
      requestState: first.state,
      inputResponses: { [one]: ACCEPT },
    }),
  );
  expect(rest.keys).toEqual([two]);
  const nothing = roundOf(await retry(plain, 'asks_two', { requestState: rest.state }));
  expect(nothing.keys).toEqual([two]);
  const done = await retry(plain, 'asks_two', {
    requestState: nothing.state,
    inputResponses: { [two]: ACCEPT },
  });
  expect(textOf(resultOf(done))).toContain('answer answer');
});

verifies(
  ['G2-64', 'G2-65'],
  'a state that was altered, is foreign, used, of another request or too old opens nothing',
  async () => {
    const { plain, url, kit } = await scene({ tools: SYNC, face: { holdMs: 10_000 } });
    const round = roundOf(await plain.tool('asks', { a: 1 }));
    const inputResponses = answersTo(round);
    const flipped = round.state.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const refused = [
      retry(plain, 'asks', { requestState: flipped, inputResponses, args: { a: 1 } }),
      retry(plain, 'asks', {
        requestState: `longcall.${'x'.repeat(40)}`,
        inputResponses,
        args: { a: 1 },
      }),
      retry(plain, 'asks', {
        requestState: round.state.replace('longcall.', ''),
        inputResponses,
        args: { a: 1 },
      }),
      retry(plain, 'asks', { requestState: round.state, inputResponses, args: { a: 2 } }),
      retry(plain, 'asks_two', { requestState: round.state, inputResponses, args: { a: 1 } }),
      retry(caller2026(url, 'bob', WITH_FORMS), 'asks', {
        requestState: round.state,
        inputResponses,
        args: { a: 1 },
      }),
    ];
    for (const answer of await Promise.all(refused)) expect(errorOf(answer)['code']).toBe(-32_602);
    const good = await retry(plain, 'asks', {
      requestState: round.state,
      inputResponses,
      args: { a: 1 },
    });
    expect(textOf(resultOf(good))).toContain('accept');
    const again = await retry(plain, 'asks', {
      requestState: round.state,
      inputResponses,
      args: { a: 1 },
    });
    expect(errorOf(again)['code']).toBe(-32_602);
    expect((await kit.side.store.tasks.counts()).ended).toBe(1);
  },
);

test('an answer that cannot be one is refused, and the state stays good', async () => {
  const { plain } = await scene({ tools: SYNC });
  const round = roundOf(await plain.tool('asks'));
  const [key = ''] = round.keys;
  const bad = [
    { [key]: 'yes' },
    { [key]: { result: ACCEPT } },
    { [key]: { action: 'accept', content: { ok: 3 } } },
  ];
  const answers: number[] = [];
  for (const inputResponses of bad)
    answers.push(
      Number(
        errorOf(await retry(plain, 'asks', { requestState: round.state, inputResponses }))['code'],
      ),
    );
  expect(answers).toEqual([-32_602, -32_602, -32_602]);
  const done = await retry(plain, 'asks', {
    requestState: round.state,
    inputResponses: answersTo(round),
  });
  expect(textOf(resultOf(done))).toContain('accept');
});

verifies(
  'G2-68',
  'a round that nobody answers in time ends the call, and its state with it',
  async () => {
    const manual = createManualClock(Date.now());
    const timers: Clock = { ...systemClock, after: manual.after };
    const { plain, kit } = await scene({ tools: SYNC, face: { clock: timers, holdMs: 1000 } });
    const round = roundOf(await plain.tool('asks'));
    manual.advance(1001);
    await until(() =>
      kit.calls.some((call) => call.startsWith('abandon') && call.endsWith('stop')),
    );
    await until(async () => (await kit.side.store.tasks.counts()).ended === 1);
    const late = await retry(plain, 'asks', {
      requestState: round.state,
      inputResponses: answersTo(round),
    });
    expect(errorOf(late)['code']).toBe(-32_602);
  },
);

verifies(
  ['G2-30', 'G2-31'],
  'a tool that finishes its rounds first asks before the handle, which follows the last answer',
  async () => {
    const rounds = tool('asks', { roundsFirst: true });
    const { url } = await scene({ tools: [rounds] });
    const alice = caller2026(url, 'alice', WITH_ALL);
    const round = roundOf(await alice.tool('asks'));
    expect(JSON.stringify(round)).not.toContain('tsk_');
    const created = resultOf(
      await retry(alice, 'asks', { requestState: round.state, inputResponses: answersTo(round) }),
    );
    expect(created).toMatchObject({ resultType: 'task', status: 'working' });
    expect(created['requestState'] ?? created['inputRequests']).toBeUndefined();
    let task: JsonObject = {};
    await until(async () => {
      task = resultOf(await alice.call('tasks/get', { taskId: created['taskId'] }));
      return task['status'] === 'completed';
    });
    expect(JSON.stringify(task)).toContain('accept');
    expect(JSON.stringify(task)).not.toContain(round.keys[0]);
  },
);

test('a required tool may finish its rounds first too, and not with a caller that cannot be asked', async () => {
  const required = tool('asks', { roundsFirst: true, mode: 'task-required' });
  const { url } = await scene({ tools: [required] });
  const asked = await caller2026(url, 'alice', WITH_ALL).tool('asks');
  expect(resultOf(asked)['resultType']).toBe('input_required');
  const { elicitation: _, ...silent } = WITH_ALL;
  const handle = await caller2026(url, 'alice', silent).tool('asks');
  expect(resultOf(handle)['resultType']).toBe('task');
});

test('a forwarded call that asks in the middle is held, asked in a round, and goes on with the answer', async () => {
  const seen: unknown[] = [];
  const { plain, kit } = await scene({
    async forward({ onAsk, onProgress }) {
      const answer = await onAsk?.({ method: 'elicitation/create', params: formParams() });
      seen.push(answer);
      onProgress?.({ progress: 1 });
      return { content: [{ type: 'text', text: 'forwarded' }] };
    },
  });
  const round = roundOf(await plain.tool('plain'));
  const answer = await plain.call(
    'tools/call',
    { name: 'plain', arguments: {}, requestState: round.state, inputResponses: answersTo(round) },
    { meta: { progressToken: 2 } },
  );
  expect(textOf(resultOf(answer))).toContain('forwarded');
  expect(seen).toEqual([{ kind: 'result', result: ACCEPT }]);
  expect(kit.surface.forwarded).toHaveLength(1);
});

test('only kinds that this request declared are asked in a forwarded call', async () => {
  const { url } = await scene({
    async forward({ onAsk }) {
      const answer = await onAsk?.({ method: 'sampling/createMessage', params: { messages: [] } });
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    },
  });
  const result = resultOf(await caller2026(url, 'alice', WITH_FORMS).tool('plain'));
  expect(textOf(result)).toContain('cannot be asked');
});

test('an InputRequiredResult of the upstream passes with its own state, and the retry goes to it whole', async () => {
  const { plain, kit } = await scene({
    forward: async ({ params }) =>
      params['requestState'] === 'theirs'
        ? { content: [{ type: 'text', text: 'done' }] }
        : {
            resultType: 'input_required',
            inputRequests: { k: { method: 'roots/list' } },
            requestState: 'theirs',
          },
  });
  const first = resultOf(await plain.tool('plain'));
  expect(first).toMatchObject({ resultType: 'input_required', requestState: 'theirs' });
  expect(first['inputRequests']).toEqual({ k: { method: 'roots/list' } });
  const inputResponses = { k: { roots: [] } };
  const done = await retry(plain, 'plain', { requestState: 'theirs', inputResponses });
  expect(textOf(resultOf(done))).toContain('done');
  expect(kit.surface.forwarded[1]?.params).toMatchObject({
    requestState: 'theirs',
    inputResponses,
  });
});

test('rounds work for prompts and resources, and for no other method', async () => {
  const { plain, kit } = await scene({
    async forward({ onAsk, method }) {
      const answer = await onAsk?.({ method: 'elicitation/create', params: formParams() });
      return { method, answered: answer?.kind ?? 'nobody to ask' };
    },
  });
  const prompt = roundOf(await plain.call('prompts/get', { name: 'p' }));
  const done = await plain.call('prompts/get', {
    name: 'p',
    requestState: prompt.state,
    inputResponses: answersTo(prompt),
  });
  expect(resultOf(done)).toMatchObject({ answered: 'result' });
  expect(resultOf(await plain.call('completion/complete', {}))).toMatchObject({
    answered: 'nobody to ask',
  });
  expect(kit.surface.forwarded.map(({ onAsk }) => onAsk !== undefined)).toEqual([true, false]);
});

test('a held forwarded call whose caller never comes back is stopped', async () => {
  const manual = createManualClock(Date.now());
  let signal: AbortSignal | undefined;
  let answered: unknown;
  const { plain } = await scene({
    face: { clock: { ...systemClock, after: manual.after }, holdMs: 1000 },
    async forward({ onAsk, signal: given }) {
      signal = given;
      answered = await onAsk?.({ method: 'elicitation/create', params: formParams() });
      throw new Error('nobody answered');
    },
  });
  roundOf(await plain.tool('plain'));
  manual.advance(1001);
  await until(() => signal?.aborted === true && answered !== undefined);
  expect(answered).toMatchObject({ kind: 'error' });
});

verifies(
  ['G2-70', 'G2-71'],
  'a page to open is asked for without an id of 2025-11-25',
  async () => {
    const page = { mode: 'url', message: 'sign in', url: 'https://login.example/' };
    const { url } = await scene({
      async forward({ onAsk }) {
        await onAsk?.({ method: 'elicitation/create', params: { ...page, elicitationId: 'e1' } });
        return { content: [] };
      },
    });
    const capabilities = { elicitation: { url: {} } };
    const round = roundOf(await caller2026(url, 'alice', capabilities).tool('plain'));
    expect(Object.values(round.requests)).toEqual([{ method: 'elicitation/create', params: page }]);
  },
);

test('one caller cannot hold every place for held calls', async () => {
  const { plain, url } = await scene({ tools: SYNC });
  const answers = await Promise.all(Array.from({ length: 65 }, () => plain.tool('asks')));
  const refused = answers.filter(({ body }) => body['error'] !== undefined);
  expect(refused).toHaveLength(1);
  expect(refused.map((answer) => errorOf(answer)['code'])).toEqual([1429]);
  expect(resultOf(await caller2026(url, 'bob', WITH_FORMS).tool('asks'))['resultType']).toBe(
    'input_required',
  );
});
