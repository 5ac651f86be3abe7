import { afterAll, beforeAll, expect } from 'vitest';
import { bearerOf, PEOPLE } from '../crash/people.ts';
import type { Person } from '../crash/people.ts';
import { createEffects, createSite } from '../crash/site.ts';
import type { Site } from '../crash/site.ts';
import { launchUpstream } from '../fixtures/upstreams/launch.ts';
import type { HttpUpstream } from '../fixtures/upstreams/launch.ts';
import { verifies } from '../requirements/verifies.ts';
import type { Channel, Message } from '../wire/channel.ts';
import { createClient2026, openSession, replyOf, TASKS_EXTENSION } from '../wire/client.ts';
import type { Endpoint } from '../wire/client.ts';
import type { Seen } from '../wire/mutants/mutation.ts';
import { startMutatingProxy } from '../wire/mutants/proxy.ts';
import type { MutatingProxy } from '../wire/mutants/proxy.ts';
import {
  asks,
  callAsTask,
  createTask,
  getTask,
  getTask2025,
  mustRefuse,
  objectAt,
  reaches2025,
  resultOf,
  tells,
} from '../wire/steps.ts';

const effects = createEffects();
let upstream: HttpUpstream;
let recorder: MutatingProxy;
let site: Site;
/** Everything that the gateway ever sent to the upstream, and what it heard from it. */
const sent: Seen[] = [];
const heard: Message[] = [];

beforeAll(async () => {
  upstream = await launchUpstream('effects', { EFFECTS_LOG: effects.file });
  recorder = await startMutatingProxy(upstream.url, {
    request(seen) {
      sent.push(seen);
      return seen;
    },
    message(message) {
      heard.push(message);
      return [message];
    },
  });
  site = createSite({ effects, upstream: { url: recorder.url } });
  await site.start();
});
afterAll(async () => {
  await site.remove();
  await recorder.stop();
  await upstream.stop();
  effects.remove();
});

const endpointOf = (person: Person): Endpoint => ({
  url: site.gateway().url,
  headers: bearerOf(person),
});

const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  extensions: { [TASKS_EXTENSION]: {} },
};
const ACCEPT = { action: 'accept' };
const COMPLETE = 'notifications/elicitation/complete';

/** As a server would sign it: whoever changes a character of the URL breaks it. */
const tagOf = (generation: string): string => `${generation}/ä?state=a+b%2F&sig=Zm9v==`;
const urlOf = (tag: string): string => `https://example.com/sign-in/${encodeURIComponent(tag)}`;

/** Nothing of a question is in what operators see or what is logged. */
async function expectUnseenByOperators(taskId: string): Promise<void> {
  const seen = [await site.admin().tasks(), await site.admin().task(taskId)];
  expect(JSON.stringify(seen)).not.toContain('sign-in');
  expect(site.gateway().output()).not.toContain('sign-in');
}

/** The upstream says when what happened there is complete: a word of 2025-11-25, which longcall passes on to nobody. */
function expectNoCompletionPassed(channels: readonly Channel[]): void {
  expect(heard.some(tells(COMPLETE))).toBe(true);
  expect(channels.flatMap(({ received }) => received).filter(tells(COMPLETE))).toEqual([]);
}

/** The upstream was told nothing that it could put into a URL, or that would sign anybody in. */
function expectNothingPersonalSent(): void {
  const said = JSON.stringify(sent);
  expect(said).toContain('ask_url');
  for (const { subject, tenant, token } of Object.values(PEOPLE))
    for (const own of [subject, tenant, token]) expect(said).not.toContain(own);
}

verifies(
  ['G1-60', 'G1-61', 'G1-53', 'T34', 'T44'],
  'a page to open reaches its owner in a session character by character, and nobody else',
  async () => {
    const capabilities = { elicitation: CAPABILITIES.elicitation };
    const [alice, bob] = await Promise.all([
      openSession(endpointOf('alice'), { capabilities }),
      openSession(endpointOf('bob'), { capabilities }),
    ]);
    const [hers, his] = await Promise.all([alice.listen(), bob.listen()]);
    const tag = tagOf('2025');
    const { taskId } = await createTask(alice, 'do_ask_url', { args: { tag } });
    const stream = await alice.open('tasks/result', { taskId });
    const question = await stream.waitFor(asks('elicitation/create'), 'the question');
    expect(question['params']).toMatchObject({ mode: 'url', url: urlOf(tag) });

    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      mustRefuse(await bob.request(method, { taskId }), -32_602, method);
    await bob.respond(question, ACCEPT);
    await expectUnseenByOperators(String(taskId));
    expect((await getTask2025(alice, taskId))['status']).toBe('input_required');

    await alice.respond(question, ACCEPT);
    resultOf(await replyOf(stream, stream.id), 'ask_url');
    await reaches2025(alice, taskId, 'completed');
    expect(JSON.stringify(his.received)).not.toContain('sign-in');
    expectNoCompletionPassed([hers, his, stream]);
    expectNothingPersonalSent();
    [hers, his].forEach((channel) => channel.close());
  },
  60_000,
);

verifies(
  ['G2-79', 'G2-80', 'G2-72', 'T34', 'T44'],
  'a page to open reaches its owner on 2026-07-28 character by character, and nobody else; its end is told by the task',
  async () => {
    const [alice, bob] = [
      createClient2026(endpointOf('alice')),
      createClient2026(endpointOf('bob')),
    ];
    const options = { capabilities: CAPABILITIES };
    const tag = tagOf('2026');
    const taskId = await callAsTask(alice, 'do_ask_url', { args: { tag }, ...options });
    const filter = { notifications: { taskIds: [taskId] } };
    const hers = await alice.open('subscriptions/listen', filter, options);
    const his = await bob.open('subscriptions/listen', filter, options);
    const asked = await hers.waitFor(
      (message) => objectAt(message, 'params')['status'] === 'input_required',
      'the question',
    );
    const inputRequests = objectAt(objectAt(asked, 'params'), 'inputRequests');
    const [key = ''] = Object.keys(inputRequests);
    const params = objectAt(objectAt(inputRequests, key), 'params');
    expect(params).toMatchObject({ mode: 'url', url: urlOf(tag) });
    expect(params).not.toHaveProperty('elicitationId');

    const inputResponses = { [key]: ACCEPT };
    for (const [method, more] of [
      ['tasks/get', {}],
      ['tasks/update', { inputResponses }],
      ['tasks/cancel', {}],
    ] as const)
      mustRefuse(await bob.request(method, { taskId, ...more }, options), -32_602, method);
    await expectUnseenByOperators(taskId);
    expect((await getTask(alice, taskId, options))['status']).toBe('input_required');

    resultOf(
      await alice.request('tasks/update', { taskId, inputResponses }, options),
      'the answer',
    );
    await hers.waitFor(
      (message) => objectAt(message, 'params')['status'] === 'completed',
      'the end of the task',
    );
    expect(JSON.stringify(his.received)).not.toContain('sign-in');
    expectNoCompletionPassed([hers, his]);
    expectNothingPersonalSent();
    [hers, his].forEach((channel) => channel.close());
  },
  60_000,
);
