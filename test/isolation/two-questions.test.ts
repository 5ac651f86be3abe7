import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { FrontKind } from '../crash/front.ts';
import { bearerOf } from '../crash/people.ts';
import type { Person } from '../crash/people.ts';
import { createEffects, createSite } from '../crash/site.ts';
import type { Site, UpstreamPlace } from '../crash/site.ts';
import { launchUpstream, upstreamCommand } from '../fixtures/upstreams/launch.ts';
import type { HttpUpstream } from '../fixtures/upstreams/launch.ts';
import { verifies } from '../requirements/verifies.ts';
import { DECLARES_NO_TASKS } from '../wire/client.ts';
import type { Endpoint } from '../wire/client.ts';
import { mustRefuse } from '../wire/steps.ts';
import { connectOwner } from './owners.ts';
import type { AskingCall, Owner } from './owners.ts';

const effects = createEffects();
let http: HttpUpstream;

beforeAll(async () => {
  http = await launchUpstream('effects', { EFFECTS_LOG: effects.file });
});
afterAll(async () => {
  await http.stop();
  effects.remove();
});

/** How calls share connections: one at a time, where an upstream could not be told apart otherwise. */
const SHARINGS = ['auto', 'per-principal', 'shared'] as const;

const PLACES: Readonly<Record<string, () => UpstreamPlace>> = {
  stdio: () => {
    const { command, args } = upstreamCommand('effects');
    return { command: [command, ...args], env: { EFFECTS_LOG: effects.file } };
  },
  HTTP: () => ({ url: http.url }),
};

type Half = readonly [person: Person, kind: FrontKind];

/** Who asks at the same time: two people, and one person twice, each with a connection of their own. */
const PAIRS: readonly (readonly [Half, Half])[] = [
  [
    ['alice', '2025-plain'],
    ['bob', '2025-plain'],
  ],
  [
    ['alice', '2025-task'],
    ['bob', '2026-tasks'],
  ],
  [
    ['alice', '2026-plain'],
    ['bob', '2025-task'],
  ],
  [
    ['alice', '2026-tasks'],
    ['bob', '2026-plain'],
  ],
  [
    ['alice', '2025-plain'],
    ['alice', '2025-plain'],
  ],
  [
    ['alice', '2025-task'],
    ['alice', '2025-task'],
  ],
  [
    ['alice', '2026-tasks'],
    ['alice', '2026-tasks'],
  ],
  [
    ['alice', '2026-plain'],
    ['alice', '2026-plain'],
  ],
];

const nameOf = (pair: (typeof PAIRS)[number]): string =>
  pair.map((half) => half.join(' by ')).join(' and ');

const placeOf = (name: string): UpstreamPlace => PLACES[name]?.() ?? { url: '' };

let site: Site;

async function startSite(place: UpstreamPlace): Promise<(person: Person) => Endpoint> {
  site = createSite({ effects, upstream: place });
  const { url } = await site.start();
  return (person) => ({ url, headers: bearerOf(person) });
}

interface Asked {
  readonly owner: Owner;
  readonly call: AskingCall;
  readonly tag: string;
  readonly secret: string;
}

let tags = 0;

async function makeCall(owner: Promise<Owner>): Promise<Asked> {
  tags += 1;
  const tag = `question-${tags}`;
  return {
    owner: await owner,
    call: (await owner).call('do_ask', tag),
    tag,
    secret: `secret-of-${tag}`,
  };
}

/** Each was asked its own question and no other, and each answer went where it belongs. */
async function judge(asked: readonly Asked[]): Promise<void> {
  for (const { owner, call, tag, secret } of asked) {
    const others = asked.filter((other) => other.tag !== tag);
    expect(
      owner.heard().every((text) => text === `Question for ${tag}`),
      owner.heard().join(),
    ).toBe(true);
    expect(owner.heard().length).toBeGreaterThan(0);
    const answers = JSON.stringify([await call.result(), effects.lines(tag)]);
    expect(answers).toContain(secret);
    for (const other of others) expect(answers).not.toContain(other.secret);
  }
}

describe.each(Object.keys(PLACES))('two calls that ask, on one upstream over %s', (place) => {
  describe.each(SHARINGS)('with connections: %s', (connections) => {
    let endpointOf: (person: Person) => Endpoint;

    beforeAll(async () => {
      endpointOf = await startSite({ ...placeOf(place), connections });
    });
    afterAll(() => site.remove());

    for (const pair of PAIRS)
      verifies(
        ['G1-43', 'G1-104', 'G2-50', 'T10'],
        nameOf(pair),
        async () => {
          const asked = await Promise.all(
            pair.map(([person, kind]) => makeCall(connectOwner(kind, endpointOf(person)))),
          );
          // Where both can be asked at once, the answers are given in the other order.
          if (connections === 'auto') await Promise.all(asked.map(({ call }) => call.question));
          const inTurn = connections === 'auto' ? asked.toReversed() : asked;
          await Promise.all(
            inTurn.map(({ call, secret }) => call.question.then(() => call.answer(secret))),
          );
          await judge(asked);
        },
        60_000,
      );
  });
});

const accepted = { action: 'accept', content: { answer: 'stolen' } };

describe.each(Object.keys(PLACES))('an answer to somebody else’s question, over %s', (place) => {
  let endpointOf: (person: Person) => Endpoint;

  beforeAll(async () => {
    endpointOf = await startSite(placeOf(place));
  });
  afterAll(() => site.remove());

  verifies(
    ['G1-100', 'G2-54', 'G2-114', 'G2-125', 'T13'],
    'by task id or by key is refused or ignored, as if there were no such thing',
    async () => {
      const alice = await makeCall(connectOwner('2026-tasks', endpointOf('alice')));
      const bob = await makeCall(connectOwner('2026-tasks', endpointOf('bob')));
      const [hers, his] = await Promise.all([alice.call.question, bob.call.question]);
      const { client } = bob.owner;
      if (!client) throw new Error('bob has no client');
      const foreign = { taskId: hers.taskId, inputResponses: { [String(hers.name)]: accepted } };
      const unknown = { ...foreign, taskId: `${String(hers.taskId).slice(0, -4)}AAAA` };
      const replies = await Promise.all(
        [foreign, unknown].map((params) => client.request('tasks/update', params)),
      );
      const errors = replies.map(({ error }) => error);
      expect(errors[0]).toMatchObject({ code: -32_602 });
      expect(errors[0]).toEqual(errors[1]);
      const crossed = await client.request('tasks/update', {
        taskId: his.taskId,
        inputResponses: { [String(hers.name)]: accepted },
      });
      expect(crossed.result).toBeDefined();
      await alice.call.answer(alice.secret);
      await bob.call.answer(bob.secret);
      await judge([alice, bob]);
      expect(JSON.stringify(effects.lines(alice.tag).concat(effects.lines(bob.tag)))).not.toContain(
        'stolen',
      );
    },
    60_000,
  );

  verifies(
    ['G1-104', 'G1-136', 'T10', 'T12'],
    'by request id, from another session of the same person or of another, answers nothing',
    async () => {
      const first = await makeCall(connectOwner('2025-task', endpointOf('alice')));
      const second = await makeCall(connectOwner('2025-plain', endpointOf('alice')));
      const third = await makeCall(connectOwner('2025-task', endpointOf('bob')));
      const questions = await Promise.all([first, second, third].map(({ call }) => call.question));
      const names = questions.map(({ name }) => name);
      const related = {
        _meta: { 'io.modelcontextprotocol/related-task': { taskId: questions[0]?.taskId } },
      };
      for (const { owner } of [second, third]) {
        const own = owner === second.owner ? names[1] : names[2];
        for (const name of names.filter((other) => other !== own))
          await owner.session?.post({ id: name, result: { ...accepted, ...related } });
      }
      for (const { call, secret } of [third, first, second]) await call.answer(secret);
      await judge([first, second, third]);
      const lines = [first, second, third].flatMap(({ tag }) => effects.lines(tag));
      expect(JSON.stringify(lines)).not.toContain('stolen');
    },
    60_000,
  );

  verifies(
    ['G2-64', 'G2-65'],
    'by the requestState of somebody else is refused, and uses nothing up',
    async () => {
      const alice = await makeCall(connectOwner('2026-plain', endpointOf('alice')));
      const bob = await makeCall(connectOwner('2026-plain', endpointOf('bob')));
      const [hers] = await Promise.all([alice.call.question, bob.call.question]);
      const params = {
        name: 'do_ask',
        arguments: { tag: alice.tag },
        requestState: hers.requestState,
      };
      const inputResponses = { [String(hers.name)]: accepted };
      const reply = await bob.owner.client?.request(
        'tools/call',
        { ...params, inputResponses },
        { capabilities: DECLARES_NO_TASKS },
      );
      if (!reply) throw new Error('bob has no client');
      mustRefuse(reply, -32_602, 'the requestState of somebody else');
      await bob.call.answer(bob.secret);
      await alice.call.answer(alice.secret);
      await judge([alice, bob]);
    },
    60_000,
  );
});
