import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import type { Message } from '../wire/channel.ts';
import { asks, objectAt, textOf } from '../wire/steps.ts';
import { connectFront } from './front.ts';
import type { Front, FrontKind } from './front.ts';
import { startMortalUpstream } from './mortal-upstream.ts';
import type { MortalUpstream } from './mortal-upstream.ts';
import { bearerOf } from './people.ts';
import { createEffects, createSite } from './site.ts';
import type { Site } from './site.ts';
import { until, untilTrue } from './until.ts';

// Nobody dies here: the connection between a caller and the gateway does.
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
beforeEach(async () => {
  site = createSite({ effects, upstream: { url: upstream.url } });
  front = await connectFront((await site.start()).url);
});
afterEach(() => site.remove());

const HOLDERS = ['2025-task', '2026-tasks'] as const satisfies readonly FrontKind[];

const sends = (tag: string): number =>
  effects.lines(tag).filter(({ event }) => event === 'start').length;

async function handleOf(kind: FrontKind, tool: string, tag: string): Promise<string> {
  const answer = await front.call(kind, `do_${tool}`, { tag, ms: 600 }).answer;
  if (answer.kind !== 'handle') throw new Error(`no handle: ${JSON.stringify(answer)}`);
  return answer.taskId;
}

const ended = (kind: FrontKind, taskId: string) =>
  until(async () => {
    const view = await front.view(kind, taskId);
    return ['completed', 'failed', 'cancelled'].includes(view.status) ? view : undefined;
  }, `the end of ${taskId}`);

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** What a caller of each generation sends for one call, as a message and the headers that go with it. */
function requestOf(
  kind: (typeof HOLDERS)[number],
  tag: string,
): { body: Message; headers: Record<string, string> } {
  const params = { name: 'do_slow', arguments: { tag, ms: 600 } };
  const base = { jsonrpc: '2.0', id: 'cut', method: 'tools/call' };
  if (kind === '2025-task') {
    const headers = {
      ...bearerOf('alice'),
      'mcp-session-id': front.session.id,
      'mcp-protocol-version': '2025-11-25',
    };
    return { body: { ...base, params: { ...params, task: {} } }, headers };
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': TASKS,
  };
  const named = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'do_slow',
  };
  return {
    body: { ...base, params: { ...params, _meta } },
    headers: { ...bearerOf('bob'), ...named },
  };
}

/** Writes a call and is gone before anything can have come back. */
function callAndVanish(kind: (typeof HOLDERS)[number], tag: string): Promise<void> {
  const { body, headers } = requestOf(kind, tag);
  const text = JSON.stringify(body);
  const all = {
    host: 'localhost',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(site.gateway().url).port), '127.0.0.1');
    socket.once('close', () => resolve());
    socket.write(`POST /mcp HTTP/1.1\r\n${head.join('')}\r\n${text}`, () => socket.end());
    socket.once('data', () => socket.destroy());
  });
}

verifies(
  ['G1-72', 'T26', 'T27'],
  'cut before the handle was read, 2025-11-25: the task runs on to its end, once',
  async () => {
    await callAndVanish('2025-task', 'unread-2025');
    const record = await until(async () => (await site.admin().tasks())[0], 'the record');
    expect(textOf((await ended('2025-task', record.id)).result)).toBe('slow unread-2025 is done');
    expect(sends('unread-2025')).toBe(1);
  },
  60_000,
);

verifies(
  ['G2-27', 'G2-91', 'T26', 'T27'],
  'cut before the handle was read, 2026-07-28: abandoned where nothing was sent, else it ends in the ledger',
  async () => {
    await callAndVanish('2026-tasks', 'unread-2026');
    const record = await until(async () => {
      const [task] = await site.admin().tasks();
      return task?.protocol.phase === 'ended' ? task : undefined;
    }, 'the end of the task');
    const state = record.operation?.state;
    expect(['abandoned', 'acknowledged']).toContain(state);
    expect(sends('unread-2026')).toBe(state === 'abandoned' ? 0 : 1);
  },
  60_000,
);

for (const kind of HOLDERS) {
  verifies(
    ['G1-72', 'G2-159', 'T12'],
    `cut after the handle was read: it leads to the result from another connection, for ${kind}`,
    async () => {
      const taskId = await handleOf(kind, 'slow', `read-${kind}`);
      front = await connectFront(site.gateway().url);
      expect(textOf((await ended(kind, taskId)).result)).toBe(`slow read-${kind} is done`);
      expect(sends(`read-${kind}`)).toBe(1);
    },
    60_000,
  );

  verifies(
    ['G1-68', 'G2-86'],
    `cut after a cancel was sent: it is cancelled all the same, for ${kind}`,
    async () => {
      const tag = `cancelled-${kind}`;
      const taskId = await handleOf(kind, 'slow', tag);
      await untilTrue(() => sends(tag) === 1, 'the call');
      const open = kind === '2025-task' ? front.session.open : front.client.open;
      await open('tasks/cancel', { taskId }).then((channel) => channel.close());
      expect((await ended(kind, taskId)).status).toBe('cancelled');
      await untilTrue(
        () => effects.lines(tag).at(-1)?.event === 'cancelled',
        'the upstream to stop',
      );
    },
    60_000,
  );
}

verifies(
  ['G1-35', 'G1-36', 'G1-40'],
  'cut between the end and its retrieval: tasks/result answers the next who asks',
  async () => {
    const taskId = await handleOf('2025-task', 'slow', 'retrieval');
    const stream = await front.session.open('tasks/result', { taskId });
    stream.close();
    const { result } = await front.session.request('tasks/result', { taskId });
    expect(textOf(result)).toBe('slow retrieval is done');
    expect(sends('retrieval')).toBe(1);
  },
  60_000,
);

verifies(
  ['G1-43', 'T3', 'T4'],
  'cut while it was asking: the same question comes again on the next stream, and is answered once',
  async () => {
    const taskId = await handleOf('2025-task', 'ask', 'asking');
    const first = await front.session.open('tasks/result', { taskId });
    const asked = await first.waitFor(asks('elicitation/create'), 'a question');
    first.close();
    const second = await front.session.open('tasks/result', { taskId });
    const again = await second.waitFor(asks('elicitation/create'), 'the question again');
    expect(objectAt(again, 'params')['message']).toBe(objectAt(asked, 'params')['message']);
    const accepted = (answer: string) => ({ action: 'accept', content: { answer } });
    await front.session.respond(again, accepted('yes'));
    await front.session.respond(again, accepted('twice'));
    expect(textOf((await ended('2025-task', taskId)).result)).toContain('yes');
    expect(effects.lines('asking').filter(({ event }) => event === 'answered')).toHaveLength(1);
  },
  60_000,
);
