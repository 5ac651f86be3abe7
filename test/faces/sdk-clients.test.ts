import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import type { Transport as TransportV2 } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  toolDeclarationFromMcpTool,
} from '@modelcontextprotocol/ext-tasks/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../runtime/receiving-side.ts';
import { createTaskSession } from '../fixtures/upstreams/ext-tasks-session.ts';
import { createKit, tool, type Kit } from './face-kit.ts';
import { createPipeTransport } from './pipe-transport.ts';

const INFO = { name: 'smoke', version: '1.0.0' };
const YES = { action: 'accept' as const, content: { ok: true } };
const CARRIERS = ['http', 'stdio'] as const;
type Carrier = (typeof CARRIERS)[number];

const TOOLS = [
  tool('echo'),
  tool('asks'),
  tool('asks__plain', { mode: 'sync' }),
  tool('fails'),
  tool('hangs'),
  tool('required', { mode: 'task-required' }),
];

const headers = { authorization: 'Bearer alice' };

async function transportV1(kit: Kit, carrier: Carrier): Promise<TransportV1> {
  if (carrier === 'stdio') return createPipeTransport(kit.stdio()) as TransportV1;
  const { url } = await kit.http();
  return new HttpV1(new URL(url), { requestInit: { headers } });
}

async function transportV2(kit: Kit, carrier: Carrier): Promise<TransportV2> {
  if (carrier === 'stdio') return createPipeTransport(kit.stdio()) as TransportV2;
  const { url } = await kit.http();
  return new HttpV2(new URL(url), { requestInit: { headers } });
}

const text = (result: unknown): string => JSON.stringify(result);

describe.each(CARRIERS)('SDK v1 over %s', (carrier) => {
  async function connect(): Promise<{
    readonly client: ClientV1;
    readonly kit: Kit;
    readonly asked: () => number;
  }> {
    const kit = await createKit({ tools: TOOLS });
    const client = new ClientV1(INFO, { capabilities: { elicitation: {} } });
    let asked = 0;
    client.setRequestHandler(ElicitRequestSchema, () => {
      asked += 1;
      return YES;
    });
    await client.connect(await transportV1(kit, carrier));
    onTestFinished(() => client.close());
    return { client, kit, asked: () => asked };
  }

  test('connects, lists, calls and is told of changes', async () => {
    const { client, kit } = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('required');
    expect(text(await client.callTool({ name: 'echo', arguments: { a: 1 } }))).toContain('echo');
    let changed = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changed += 1));
    await until(() => {
      kit.surface.emit({ kind: 'list_changed', list: 'tools' });
      return changed > 0;
    });
  });

  test('runs a task that asks once, lists it, and sees its end', async () => {
    const { client, asked } = await connect();
    await client.listTools();
    const stream = client.experimental.tasks.callToolStream(
      { name: 'asks', arguments: {} },
      CallToolResultSchema,
      { task: { ttl: 60_000 } },
    );
    const kinds: string[] = [];
    let result = '';
    for await (const message of stream) {
      kinds.push(message.type);
      if (message.type === 'result') result = text(message.result);
    }
    expect(kinds[0]).toBe('taskCreated');
    expect(kinds.at(-1)).toBe('result');
    expect(result).toContain('accept');
    expect(asked()).toBe(1);
    const { tasks } = await client.experimental.tasks.listTasks();
    expect(tasks).toMatchObject([{ status: 'completed' }]);
  });

  test('asks in the middle of a plain call', async () => {
    const { client, asked } = await connect();
    expect(text(await client.callTool({ name: 'asks__plain', arguments: {} }))).toContain('accept');
    expect(asked()).toBe(1);
  });

  test('cancels a task', async () => {
    const { client } = await connect();
    await client.listTools();
    const stream = client.experimental.tasks.callToolStream(
      { name: 'hangs', arguments: {} },
      CallToolResultSchema,
      { task: {} },
    );
    const first = await stream.next();
    const taskId = first.value?.type === 'taskCreated' ? first.value.task.taskId : '';
    const cancelled = await client.experimental.tasks.cancelTask(taskId);
    expect(cancelled.status).toBe('cancelled');
    await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toMatchObject({
      code: -32_602,
    });
  });
});

const ERAS = [
  ['2026-07-28', { mode: { pin: '2026-07-28' } }],
  ['2025-11-25', { mode: 'legacy' }],
] as const;
const MATRIX = ERAS.flatMap(([era, versionNegotiation]) =>
  CARRIERS.map((carrier) => ({ era, carrier, versionNegotiation })),
);

describe.each(MATRIX)('SDK v2, $era over $carrier', ({ carrier, versionNegotiation, era }) => {
  async function connect(): Promise<{
    readonly client: ClientV2;
    readonly transport: TransportV2;
    readonly kit: Kit;
  }> {
    const kit = await createKit({ tools: TOOLS });
    const client = new ClientV2(INFO, { capabilities: { elicitation: {} }, versionNegotiation });
    client.setRequestHandler('elicitation/create', () => YES);
    const transport = await transportV2(kit, carrier);
    await client.connect(transport);
    onTestFinished(() => client.close());
    return { client, transport, kit };
  }

  test('connects, lists and calls', async () => {
    const { client } = await connect();
    expect(client.getServerVersion()).toMatchObject({ name: 'longcall' });
    expect((await client.listTools()).tools.length).toBe(TOOLS.length);
    expect(text(await client.callTool({ name: 'echo', arguments: { a: 1 } }))).toContain('echo');
    expect(text(await client.callTool({ name: 'fails', arguments: {} }))).toContain('no luck');
  });

  test('answers a question of a plain call', async () => {
    const { client } = await connect();
    expect(text(await client.callTool({ name: 'asks__plain', arguments: {} }))).toContain('accept');
  });

  test('ext-tasks runs a task that asks, and cancels one', async () => {
    const { client, transport } = await connect();
    const onInputRequest = (): Promise<never> => Promise.resolve(YES as never);
    const { tools } = await client.listTools();
    const declared = {
      currentTool: (name: string) =>
        tools.filter((listed) => listed.name === name).map(toolDeclarationFromMcpTool)[0],
    };
    const session =
      era === '2026-07-28'
        ? createTaskSession(client, transport, { onInputRequest })
        : createTaskSessionFromClient(client, {
            endpointId: 'test',
            onInputRequest,
            tools: declared,
          });
    const asking = await session.callTool('asks', {}, { task: { preference: 'prefer' } });
    expect(asking.kind).toBe('task');
    const { outcome } = await asking.settle();
    expect(text(outcome)).toContain('accept');
    const hanging = await session.callTool('hangs', {}, { task: { preference: 'prefer' } });
    await hanging.cancel();
    expect(text((await hanging.settle()).outcome)).toContain('cancelled');
  });
});

test('a listen of SDK v2 hears of list changes', async () => {
  const kit = await createKit();
  const client = new ClientV2(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(await transportV2(kit, 'http'));
  onTestFinished(() => client.close());
  let changed = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => void (changed += 1));
  const subscription = await client.listen({ toolsListChanged: true });
  expect(subscription.honoredFilter).toEqual({ toolsListChanged: true });
  kit.surface.emit({ kind: 'list_changed', list: 'tools' });
  await until(() => changed === 1);
  await subscription.close();
});
