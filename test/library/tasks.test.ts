import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createTasks, type Tasks } from '../../src/server.ts';
import { verifies } from '../requirements/verifies.ts';
import { eventually } from '../wire/check.ts';
import { createClient2026, openSession } from '../wire/client.ts';
import { asks, callAsTask, getTask, objectAt, reaches, textOf } from '../wire/steps.ts';
import { openWebSite, type WebSite, type WebSiteOptions } from './web-site.ts';

const sites: WebSite[] = [];
const open = async (options: WebSiteOptions): Promise<WebSite> => {
  const site = await openWebSite(options);
  sites.push(site);
  return site;
};
afterEach(async () => {
  await Promise.all(sites.splice(0).map((site) => site.stop()));
});

const INFO = { name: 'mine', version: '1.0.0' };
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
const FORM = { message: 'Go on?', schema: { type: 'object', properties: {} } };

/** A server with one tool of ours, for each connection. */
const oneTool =
  (add: (tasks: Tasks, server: McpServer) => void) => (tasks: Tasks) => (): McpServer => {
    const server = new McpServer(INFO);
    add(tasks, server);
    return server;
  };

describe('who asks', () => {
  const add = (tasks: Tasks, server: McpServer): void => {
    tasks.tool(
      server,
      'me',
      { effect: 'read', syncWindow: 0 },
      (_args, job) => `${job.principal.tenant}/${job.principal.subject}`,
    );
    server.registerTool('seen', {}, ({ http }) => text(String(http?.authInfo?.extra?.['tenant'])));
    tasks.adopt(server, { seen: { effect: 'read' } });
  };

  verifies(
    'G1-100',
    'is who the author’s own checks say, and nobody else reads the call',
    async () => {
      const site = await open({
        serve: oneTool(add),
        identify: async ({ headers }) => {
          const name = headers['x-user'];
          return typeof name === 'string' ? { subject: name, tenant: 'acme' } : undefined;
        },
      });
      const ann = createClient2026(site.as({ 'x-user': 'ann' }));
      const bob = createClient2026(site.as({ 'x-user': 'bob' }));
      const taskId = await callAsTask(ann, 'me');
      const done = await reaches(ann, taskId, 'completed');
      expect(textOf(done['result'])).toBe('acme/ann');
      expect((await bob.request('tasks/get', { taskId })).error?.code).toBe(-32602);
      const { result } = await bob.request('tools/call', { name: 'seen', arguments: {} });
      expect(textOf(result)).toBe('acme');
      const nobody = await createClient2026(site.as({})).request('tools/list');
      expect(nobody.status).toBe(401);
    },
  );

  test('is the user of this machine by the local token, and nobody in particular without one', async () => {
    const site = await open({ serve: oneTool(add) });
    const client = createClient2026(site.local());
    const done = await reaches(client, await callAsTask(client, 'me'), 'completed');
    expect(textOf(done['result'])).toBe('local/local');
    const anonymous = createClient2026(site.as({}));
    const theirs = await callAsTask(anonymous, 'me');
    expect((await client.request('tasks/get', { taskId: theirs })).error?.code).toBe(-32602);
  });
});

describe('a run that goes to sleep', () => {
  test('leaves nothing behind in the author’s server: its request is let go', async () => {
    const servers: McpServer[] = [];
    const site = await open({
      serve: oneTool((tasks, server) => {
        servers.push(server);
        tasks.tool(server, 'waits', { effect: 'read', syncWindow: 0 }, async (_args, job) => {
          await job.ask('go', FORM);
          return 'done';
        });
      }),
    });
    const openRequests = (): number =>
      servers
        .map(
          (server) =>
            Reflect.get(server.server, '_requestHandlerAbortControllers') as Map<never, never>,
        )
        .reduce((sum, { size }) => sum + size, 0);
    const client = createClient2026(site.local());
    const taskId = await callAsTask(client, 'waits');
    await reaches(client, taskId, 'input_required');
    await eventually(() => openRequests() === 0 || undefined, 'the end of the request');
    expect(site.tasks.status()).toMatchObject({ running: 0 });
    const [key = ''] = Object.keys(objectAt(await getTask(client, taskId), 'inputRequests'));
    const inputResponses = { [key]: { action: 'accept', content: {} } };
    await client.request('tasks/update', { taskId, inputResponses });
    const done = await reaches(client, taskId, 'completed');
    expect(textOf(done['result'])).toBe('done');
  });
});

describe('one server for all connections', () => {
  test('runs calls that may ask one at a time, and each gets its own answer', async () => {
    const server = new McpServerV1(INFO);
    server.registerTool('ask', { inputSchema: { n: z.number() } }, async ({ n }) => {
      const answer = await server.server.elicitInput({
        message: `number ${n}?`,
        requestedSchema: { type: 'object', properties: { n: { type: 'number' } } },
      });
      return text(`${n} was answered ${JSON.stringify(answer.content)}`);
    });
    const site = await open({
      serve: (tasks) => {
        tasks.adopt(server, { ask: { effect: 'reversible' } });
        return server;
      },
    });
    const play = async (n: number): Promise<string> => {
      const session = await openSession(site.local());
      const channel = await session.open('tools/call', { name: 'ask', arguments: { n } });
      const asked = await channel.waitFor(asks('elicitation/create'), 'the question');
      expect(objectAt(asked, 'params')['message']).toBe(`number ${n}?`);
      await session.respond(asked, { action: 'accept', content: { n } });
      const isEnd = ({ id, method }: Readonly<Record<string, unknown>>): boolean =>
        id === channel.id && method === undefined;
      return textOf((await channel.waitFor(isEnd, 'the result'))['result']);
    };
    expect(await Promise.all([play(1), play(2), play(3)])).toEqual(
      [1, 2, 3].map((n) => `${n} was answered {"n":${n}}`),
    );
  });
});

test('a tool that is called around longcall says so, and does nothing', async () => {
  let calls = 0;
  const built: McpServerV1[] = [];
  await open({
    serve: (tasks) => () => {
      const server = new McpServerV1(INFO);
      tasks.tool(server, 'pay', { effect: 'consequential' }, () => {
        calls += 1;
      });
      built.push(server);
      return server;
    },
  });
  const [ours] = built;
  await ours?.close();
  const [mine, its] = InMemoryTransport.createLinkedPair();
  const client = new Client(INFO);
  await Promise.all([ours?.connect(its), client.connect(mine)]);
  const result = await client.callTool({ name: 'pay' });
  expect(result).toMatchObject({ isError: true });
  expect(JSON.stringify(result)).toContain('called around longcall');
  expect(calls).toBe(0);
});

describe('what a handler returns', () => {
  const answers: readonly (readonly [what: string, answer: unknown, result: object])[] = [
    ['text', 'words', text('words')],
    ['nothing', undefined, { content: [] }],
    ['a result', text('as it is'), text('as it is')],
    ['an object', { rows: 3 }, { ...text('{"rows":3}'), structuredContent: { rows: 3 } }],
    ['structured content', { structuredContent: { rows: 3 } }, text('{"rows":3}')],
    ['an error', { ...text('no'), isError: true }, { ...text('no'), isError: true }],
    ['a number', 3, { isError: true }],
    ['a list', [1], { isError: true }],
    ['null', null, { isError: true }],
    ['a date', new Date(0), { isError: true }],
    ['a task', { resultType: 'task', taskId: 'x' }, { isError: true }],
  ];
  test('becomes a result of the protocol, or the reason why it is none', async () => {
    const site = await open({
      serve: oneTool((tasks, server) => {
        const inputSchema = z.object({ which: z.number() });
        tasks.tool(
          server,
          'give',
          { inputSchema, effect: 'read' },
          ({ which }) => answers[which]?.[1] as string,
        );
      }),
    });
    const client = createClient2026(site.local());
    for (const [which, [what, , expected]] of answers.entries()) {
      const { result } = await client.request('tools/call', { name: 'give', arguments: { which } });
      expect(result, what).toMatchObject(expected);
    }
  });
});

describe('what cannot be served', () => {
  test('a factory that throws is told by ready, by the status, and to whoever asks', async () => {
    const problem = 'no database';
    const site = openWebSite({
      serve: () => () => {
        throw new Error(problem);
      },
    });
    await expect(site).rejects.toMatchObject({ code: 'LONGCALL_UPSTREAM_UNREACHABLE' });
    await expect(site).rejects.toThrow(problem);
  });

  test('rules with a mistake are refused where they are said, by their own names', async () => {
    const site = await open({ serve: oneTool(() => undefined) });
    const server = new McpServer(INFO);
    const wrong = { effect: 'read', runLimit: 'soon', sync: 1 } as never;
    expect(() => site.tasks.adopt(server, { a: wrong })).toThrow(
      expect.objectContaining({
        code: 'LONGCALL_CONFIG_INVALID',
        problems: [
          expect.objectContaining({ path: 'tools.a.runLimit' }),
          expect.objectContaining({ path: 'tools.a.sync' }),
        ],
      }),
    );
    site.tasks.adopt(server, { b: { effect: 'read' } });
    expect(() => site.tasks.adopt(server, { b: { effect: 'consequential' } })).toThrow(/two ways/);
  });

  test('a tool without options or handler, or with the name of a helper, is refused where it is said', async () => {
    const site = await open({ serve: oneTool(() => undefined) });
    const server = new McpServer(INFO);
    const add = (...said: readonly unknown[]) => {
      const tool = site.tasks.tool as (...args: readonly unknown[]) => void;
      return () => tool(server, ...said);
    };
    const read = { effect: 'read' };
    const usage = expect.objectContaining({ code: 'LONGCALL_LIBRARY_USAGE' }) as Error;
    expect(add('a', read)).toThrow(usage);
    expect(add('a', () => 'x')).toThrow(usage);
    expect(add('a', undefined, () => 'x')).toThrow(usage);
    expect(add('longcall_wait', read, () => 'x')).toThrow(usage);
  });

  test('an option that there is not is refused: a slip in "identify" lets nobody in', async () => {
    const data = mkdtempSync(join(tmpdir(), 'longcall-options-'));
    const slip = { data, identfy: () => undefined } as never;
    await expect(createTasks(slip)).rejects.toMatchObject({
      code: 'LONGCALL_CONFIG_INVALID',
      problems: [{ path: 'identfy' }],
    });
    rmSync(data, { recursive: true, force: true });
  });

  test('a second server is refused: one data directory keeps the calls of one', async () => {
    const site = await open({ serve: oneTool(() => undefined) });
    expect(() => site.tasks.handler(() => new McpServer(INFO))).toThrow(
      expect.objectContaining({ code: 'LONGCALL_LIBRARY_USAGE' }),
    );
  });
});

test('status and metrics tell what is served, and how', async () => {
  const site = await open({
    serve: oneTool((tasks, server) => {
      tasks.tool(server, 'own', { effect: 'read' }, () => 'x');
      server.registerTool('plain', { annotations: { readOnlyHint: true } }, () => text('x'));
      server.registerTool('other', {}, () => text('x'));
    }),
  });
  expect(site.tasks.status()).toMatchObject({
    state: 'serving',
    tools: [
      { name: 'own', effect: 'read', journalled: true },
      { name: 'plain', effect: 'read', journalled: false },
      { name: 'other', effect: 'consequential', journalled: false },
    ],
  });
  const client = createClient2026(site.local());
  await client.request('tools/call', { name: 'own', arguments: {} });
  expect(await site.tasks.metrics()).toMatch(/^longcall_upstream_up\{peer="server"\} 1$/m);
  await site.tasks.close();
  expect(site.tasks.status()).toMatchObject({ state: 'closed' });
});
