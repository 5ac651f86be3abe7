import { afterAll, beforeAll, describe, expect } from 'vitest';
import { until, untilTrue } from '../crash/until.ts';
import { verifies } from '../requirements/verifies.ts';
import { asks, objectAt, resultOf, textOf } from '../wire/steps.ts';
import { ROWS } from './rows.ts';
import { createUpstreamSite } from './upstream-site.ts';
import type { UpstreamSite } from './upstream-site.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a server is asked to do, with a tag that names its lines in the effects log. */
interface Work {
  readonly tool: string;
  readonly args: (tag: string) => Json;
}

/** A server, and how it asks and works. */
interface Behind {
  readonly name: string;
  readonly is: string;
  readonly asking: Work & { readonly content: Json; readonly says: string };
  readonly working: Work;
  /** Whether a call becomes a task there too. */
  readonly hasTasks: boolean;
  /** How often the work has begun when the gateway was killed in the middle of it and started again. */
  readonly beginsOverRestart: number;
}

const LONG_MS = 60_000;
const OVER_RESTART_MS = 3_000;

const BEHIND: readonly Behind[] = [
  {
    name: 'v1_http',
    is: 'tasks of 2025-11-25',
    asking: {
      tool: 'ask_in_task',
      args: (tag) => ({ tag }),
      content: { answer: 'yes' },
      says: '"answer":"yes"',
    },
    working: { tool: 'rebuild_index', args: (tag) => ({ tag, ms: OVER_RESTART_MS }) },
    hasTasks: true,
    // Its tasks are bound to the session, which died with the gateway; a read is then done again.
    beginsOverRestart: 2,
  },
  {
    name: 'modern_http',
    is: 'tasks of 2026-07-28',
    asking: {
      tool: 'confirm_delete',
      args: (filename) => ({ filename }),
      content: { confirm: true },
      says: 'Deleted',
    },
    working: {
      tool: 'slow_compute',
      args: (label) => ({ label, seconds: OVER_RESTART_MS / 1_000 }),
    },
    hasTasks: true,
    beginsOverRestart: 1,
  },
  {
    name: 'older',
    is: 'no tasks at all',
    asking: {
      tool: 'ask',
      args: (tag) => ({ tag }),
      content: { answer: 'yes' },
      says: '"answer":"yes"',
    },
    working: { tool: 'slow', args: (tag) => ({ tag, ms: OVER_RESTART_MS }) },
    hasTasks: false,
    beginsOverRestart: 2,
  },
];

/** A caller of one generation in front of them. */
interface InFront {
  begin(name: string, args: Json): Promise<string>;
  /** Waits for the question of a task and accepts it. */
  accept(taskId: string, content: Json): Promise<void>;
  /** The text of the result, once it is there. */
  result(taskId: string): Promise<string>;
  cancel(taskId: string): Promise<void>;
}

let site: UpstreamSite;
beforeAll(async () => {
  const names = BEHIND.map(({ name }) => name);
  site = await createUpstreamSite(ROWS.filter(({ name }) => names.includes(name)));
}, LONG_MS);
afterAll(() => site.remove(), LONG_MS);

const get2026 = async (taskId: string): Promise<Json> =>
  resultOf(await site.modern('tasks/get', { taskId }), 'tasks/get');

const FRONTS: Readonly<Record<string, InFront>> = {
  '2025-11-25': {
    async begin(name, args) {
      const params = { name, arguments: args, task: {} };
      const created = resultOf(await site.session().request('tools/call', params), name);
      return String(objectAt(created, 'task')['taskId']);
    },
    async accept(taskId, content) {
      const stream = await site.session().open('tasks/result', { taskId });
      const question = await stream.waitFor(asks('elicitation/create'), 'a question');
      await site.session().respond(question, { action: 'accept', content });
      stream.close();
    },
    async result(taskId) {
      const reply = await site.session().request('tasks/result', { taskId });
      return textOf(resultOf(reply, 'tasks/result'));
    },
    async cancel(taskId) {
      resultOf(await site.session().request('tasks/cancel', { taskId }), 'tasks/cancel');
    },
  },
  '2026-07-28': {
    async begin(name, args) {
      const params = { name, arguments: args };
      const created = resultOf(await site.modern('tools/call', params), name);
      return String(created['taskId']);
    },
    async accept(taskId, content) {
      const [key] = await until(async () => {
        const keys = Object.keys(objectAt(await get2026(taskId), 'inputRequests'));
        return keys.length > 0 ? keys : undefined;
      }, 'a question');
      const inputResponses = { [key ?? '']: { action: 'accept', content } };
      const reply = await site.modern('tasks/update', { taskId, inputResponses });
      resultOf(reply, 'tasks/update');
    },
    result: (taskId) =>
      until(async () => {
        const { status, result } = await get2026(taskId);
        return status === 'completed' ? textOf(result) : undefined;
      }, 'the end of the task'),
    async cancel(taskId) {
      resultOf(await site.modern('tasks/cancel', { taskId }), 'tasks/cancel');
    },
  },
};

const eventsOf = (tag: string): readonly string[] =>
  site.effects.lines(tag).map(({ event }) => event);

async function isObserved(taskId: string): Promise<boolean> {
  const { attempts } = await site.operator().task(taskId);
  return attempts.some(({ observesUpstreamTask }) => observesUpstreamTask);
}

describe.each(Object.entries(FRONTS))('a caller of %s', (generation, front) => {
  describe.each(BEHIND.map((behind) => [behind.is, behind] as const))(
    'in front of a server with %s',
    (_is, { name, asking, working, hasTasks, beginsOverRestart }) => {
      const tagFor = (what: string): string => `${what}-${generation}-${name}`;
      const begin = ({ tool, args }: Work, tag: string): Promise<string> =>
        front.begin(`${name}_${tool}`, args(tag));

      verifies(['G1-42', 'G2-47'], 'is asked, and its answer goes back up', async () => {
        const taskId = await begin(asking, tagFor('ask'));
        await front.accept(taskId, asking.content);
        expect(await front.result(taskId)).toContain(asking.says);
      });

      verifies(['G1-67', 'G2-86'], 'cancels, and the work there stops', async () => {
        const tag = tagFor('cancel');
        const taskId = await begin(working, tag);
        await untilTrue(() => eventsOf(tag).length > 0, 'the work to begin');
        await front.cancel(taskId);
        await untilTrue(() => eventsOf(tag).at(-1) === 'cancelled', 'the work to stop');
      });

      verifies(['G2-27', 'T12'], 'gets its result although the gateway was killed', async () => {
        const tag = tagFor('restart');
        const taskId = await begin(working, tag);
        await untilTrue(() => eventsOf(tag).length > 0, 'the work to begin');
        // Only once the gateway has noted the task there can the next one go on with it.
        if (hasTasks) await untilTrue(() => isObserved(taskId), 'the task there');
        await site.restart();
        expect(await front.result(taskId)).toContain(tag);
        const begun = eventsOf(tag).filter((event) => event === 'start');
        expect(begun).toHaveLength(beginsOverRestart);
      });
    },
  );
});

describe('a server that has no Tasks', () => {
  verifies(['G1-05', 'G1-06', 'G1-08'], 'is never asked for one', async () => {
    const taskId = await FRONTS['2025-11-25']?.begin('older_sent', { tag: 'plain' });
    const sent = await FRONTS['2025-11-25']?.result(taskId ?? '');
    expect(JSON.parse(sent ?? '')).not.toHaveProperty('task');
  });
});
