import { describe, expect, test } from 'vitest';
import type { Gateway } from '../../src/gateway/gateway.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { typescriptCommand } from '../fixtures/upstreams/launch.ts';
import {
  ALICE,
  BOB,
  eventsOf,
  failureOf,
  forward,
  httpFixture,
  startGateway,
  stdioEndpoint,
  textOf,
  until,
} from './gateway-kit.ts';
import { accept, run } from './test-job.ts';

const EVERYTHING = {
  kind: 'stdio',
  command: process.execPath,
  args: [
    new URL(
      '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
      import.meta.url,
    ).pathname,
  ],
} as const;

/** Two upstreams of two generations behind one gateway. */
const startTwo = async (): Promise<Gateway> =>
  startGateway({
    upstreams: [
      {
        name: 'effects',
        prefix: 'e_',
        endpoint: stdioEndpoint('effects'),
        tools: { read_only: { effect: 'read', mode: 'passthrough' } },
      },
      { name: 'suite', prefix: 's_', endpoint: stdioEndpoint('conformance') },
    ],
  });

async function readAll(
  gateway: Gateway,
  method: string,
  member: string,
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = [];
  for (let cursor: unknown; ;) {
    const page = await forward(gateway, [
      method,
      cursor === undefined ? {} : { cursor: String(cursor) },
    ]);
    items.push(...(page[member] as readonly JsonObject[]));
    cursor = page['nextCursor'];
    if (cursor === undefined) return items;
  }
}

describe('two upstreams behind one gateway', () => {
  test('tools carry their upstream’s prefix, and calls find their way', async () => {
    const gateway = await startTwo();
    const names = gateway.surface.tools().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['e_append', 's_greet']));
    expect(gateway.surface.tool('e_append')).toMatchObject({
      upstream: 'effects',
      upstreamName: 'append',
    });
    expect(gateway.surface.tool('e_append')?.definition['name']).toBe('e_append');
    const greeting = await run(gateway, { tool: 's_greet', arguments: { name: 'Ada' } }).end;
    expect(JSON.stringify(greeting.outcome)).toContain('Hello, Ada!');
    const appended = await run(gateway, { tool: 'e_append', arguments: { tag: 'x' } }).end;
    expect(JSON.stringify(appended.outcome)).toContain('appended x');
    const read = await forward(gateway, [
      'tools/call',
      { name: 'e_read_only', arguments: { tag: 'y' } },
    ]);
    expect(textOf(read)).toBe('read y');
  });

  test('lists are joined page by page, prompts under their prefix', async () => {
    const gateway = await startTwo();
    const prompts = (await readAll(gateway, 'prompts/list', 'prompts')).map(({ name }) => name);
    expect(prompts[0]).toBe('e_describe');
    expect(prompts.filter((name) => String(name).startsWith('s_')).length).toBeGreaterThan(1);
    const uris = (await readAll(gateway, 'resources/list', 'resources')).map(({ uri }) => uri);
    expect(uris).toEqual(expect.arrayContaining(['effects://counter', 'test://static-text']));
    const templates = await readAll(gateway, 'resources/templates/list', 'resourceTemplates');
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toContain('effects://item/{id}');
    const failure = await failureOf(
      forward(gateway, ['prompts/list', { cursor: 'no cursor of ours' }]),
    );
    expect(failure).toMatchObject({ code: -32_602, message: 'invalid cursor' });
  });

  test('prompts, resources and completions find their upstream, known or not', async () => {
    const gateway = await startTwo();
    const prompt = await forward(gateway, [
      'prompts/get',
      { name: 'e_describe', arguments: { language: 'dutch' } },
    ]);
    expect(JSON.stringify(prompt)).toContain('Describe the effects in dutch');
    const suite = await forward(gateway, ['prompts/get', { name: 's_test_simple_prompt' }]);
    expect(suite['messages']).toBeDefined();
    const second = await forward(gateway, ['resources/read', { uri: 'test://static-text' }]);
    expect(JSON.stringify(second)).toContain('test://static-text');
    const item = await forward(gateway, ['resources/read', { uri: 'effects://item/7' }]);
    expect(JSON.stringify(item)).toContain('item 7');
    const completed = await forward(gateway, [
      'completion/complete',
      {
        ref: { type: 'ref/prompt', name: 'e_describe' },
        argument: { name: 'language', value: 'e' },
      },
    ]);
    expect(completed).toMatchObject({ completion: { values: ['english', 'esperanto'] } });
    const nowhere = await failureOf(forward(gateway, ['resources/read', { uri: 'nowhere://x' }]));
    expect(nowhere.code).toBe(-32_602);
  });

  test('they present themselves together; one alone speaks for itself', async () => {
    const two = (await startTwo()).surface.info();
    expect(two.serverInfo).toEqual({ name: 'longcall-test', version: '0.0.0' });
    expect(two.instructions).toContain('# effects');
    expect(two.capabilities).toMatchObject({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    });
    const one = (await startGateway({ upstreams: [{ endpoint: EVERYTHING }] })).surface.info();
    expect(one.serverInfo).toMatchObject({
      name: 'mcp-servers/everything',
      title: 'Everything Reference Server',
    });
    expect(one.capabilities).not.toHaveProperty('tasks');
  });

  test('a name that both have belongs to the first, and the manifest says so', async () => {
    const gateway = await startGateway({
      upstreams: [
        { name: 'first', endpoint: stdioEndpoint('fastmcp') },
        { name: 'second', endpoint: stdioEndpoint('effects') },
      ],
    });
    expect(gateway.surface.tool('slow')?.upstream).toBe('first');
    const hidden = gateway.manifests()[1]?.tools.find(({ name }) => name === 'slow');
    expect(hidden).toBeDefined();
    expect(hidden?.servedAs).toBeUndefined();
  });

  test('a list goes on without an upstream that is down', async () => {
    const missing = { kind: 'stdio', command: 'longcall-no-such-command', args: [] } as const;
    const gateway = await startGateway({
      upstreams: [
        { name: 'missing', endpoint: missing },
        { name: 'there', endpoint: stdioEndpoint('effects') },
      ],
    });
    expect(await readAll(gateway, 'prompts/list', 'prompts')).toHaveLength(1);
  });
});

describe('what is passed on', () => {
  test('progress goes to the caller under no token of ours, and _meta by its prefix', async () => {
    const gateway = await startGateway({ upstreams: [{ endpoint: stdioEndpoint('effects') }] });
    const progress: JsonObject[] = [];
    await forward(gateway, ['tools/call', { name: 'progress', arguments: { steps: 2 } }], {
      onProgress: (params) => void progress.push(params),
    });
    expect(progress).toEqual([
      { progress: 1, total: 2, message: 'step 1' },
      { progress: 2, total: 2, message: 'step 2' },
    ]);
    const result = await forward(gateway, ['tools/call', { name: 'echo_meta', arguments: {} }], {
      meta: { 'com.example/trace': 1 },
    });
    expect(JSON.parse(textOf(result))).toEqual({ 'com.example/trace': 1 });
    expect(result).toMatchObject({
      _meta: { 'com.example/echo': true },
      'com.example/extra': { kept: true },
    });
  });

  test('a question in the middle goes to the caller, and errors keep code and data', async () => {
    const gateway = await startGateway({ upstreams: [{ endpoint: stdioEndpoint('effects') }] });
    const answer = await forward(
      gateway,
      ['tools/call', { name: 'ask', arguments: { tag: 'p' } }],
      {
        asks: ['elicitation-form'],
        onAsk: ({ params }) => Promise.resolve(accept({ answer: String(params['message']) })),
      },
    );
    expect(textOf(answer)).toContain('Question for p');
    const refused = await forward(gateway, [
      'tools/call',
      { name: 'ask', arguments: { tag: 'p' } },
    ]);
    expect(textOf(refused)).toContain('did not declare');
    const failure = await failureOf(
      forward(gateway, ['tools/call', { name: 'protocol_error', arguments: { tag: 'z' } }]),
    );
    expect(failure).toMatchObject({ code: -31_055, data: { tag: 'z', hint: 'ask somebody else' } });
  });

  test('methods that no upstream has, and those of our own hop, are unknown', async () => {
    const gateway = await startTwo();
    for (const method of [
      'com.example/unknown',
      'tasks/get',
      'tools/list',
      'subscriptions/listen',
      'ping',
      'initialize',
    ])
      expect((await failureOf(forward(gateway, [method, {}]))).code).toBe(-32_601);
  });

  test('a method that no SDK knows is passed on', async () => {
    const file = new URL('./servers/own-method.ts', import.meta.url).pathname;
    const gateway = await startGateway({
      upstreams: [
        { name: 'other', endpoint: stdioEndpoint('effects') },
        { endpoint: { kind: 'stdio', ...typescriptCommand(file) } },
      ],
    });
    expect(await forward(gateway, ['com.example/add', { a: 1, b: 2 }])).toEqual({ sum: 3 });
  });

  test('giving up reaches the upstream', async () => {
    const gateway = await startGateway({ upstreams: [{ endpoint: stdioEndpoint('effects') }] });
    const control = new AbortController();
    const slow = forward(gateway, ['tools/call', { name: 'slow', arguments: { ms: 60_000 } }], {
      signal: control.signal,
    });
    const failure = failureOf(slow);
    control.abort();
    expect((await failure).data).toMatchObject({ reason: 'cancelled' });
    expect(await run(gateway, { tool: 'append' }).end).toMatchObject({ end: 'answered' });
  });
});

describe.each(['effects', 'conformance'] as const)('subscriptions to resources of %s', (name) => {
  const [uri, touch] =
    name === 'effects'
      ? ['effects://counter', 'touch_resource']
      : ['test://watched-resource', 'test_trigger_resource_update'];

  test.each(['stdio', 'http'] as const)(
    'reach exactly those who subscribed, over %s',
    async (kind) => {
      const endpoint =
        kind === 'stdio'
          ? stdioEndpoint(name)
          : ({ kind: 'http', url: (await httpFixture(name)).url } as const);
      const gateway = await startGateway({ upstreams: [{ endpoint }] });
      const events = eventsOf(gateway);
      const updated = () =>
        events.flatMap((event) => (event.kind === 'resource_updated' ? [event.principalKey] : []));
      await gateway.surface.subscribeResource(ALICE, uri);
      await gateway.surface.subscribeResource(ALICE, uri);
      await run(gateway, { tool: touch, principal: ALICE }).end;
      await until(() => expect(updated()).toEqual([ALICE.key]));

      await gateway.surface.unsubscribeResource(ALICE, uri);
      await run(gateway, { tool: touch, principal: ALICE }).end;
      await until(() => expect(updated()).toHaveLength(2)); // one of two is still there

      await gateway.surface.unsubscribeResource(ALICE, uri);
      await gateway.surface.subscribeResource(BOB, uri);
      await run(gateway, { tool: touch, principal: BOB }).end;
      await until(() => expect(updated().slice(2)).toEqual([BOB.key]));
    },
  );
});

test('a subscription survives the death of its upstream, and what may have changed is told', async () => {
  const gateway = await startGateway({ upstreams: [{ endpoint: stdioEndpoint('effects') }] });
  const events = eventsOf(gateway);
  await gateway.surface.subscribeResource(ALICE, 'effects://counter');
  const { outcome } = await run(gateway, { tool: 'connection' }).end;
  const { pid } = JSON.parse(textOf(outcome.kind === 'result' ? outcome.result : {})) as {
    pid: number;
  };
  process.kill(pid, 'SIGKILL');
  const updates = () => events.filter(({ kind }) => kind === 'resource_updated');
  await until(() => expect(updates()).toHaveLength(1));
  await run(gateway, { tool: 'touch_resource' }).end;
  await until(() => expect(updates()).toHaveLength(2));
});

test('a subscription that the upstream has no place for is refused', async () => {
  const gateway = await startGateway({ upstreams: [{ endpoint: stdioEndpoint('fastmcp') }] });
  expect((await failureOf(gateway.surface.subscribeResource(ALICE, 'x://y'))).code).toBe(-32_601);
});

test('log levels belong to a principal: the most talkative wish counts, on connections to come as well', async () => {
  const gateway = await startGateway({ upstreams: [{ endpoint: stdioEndpoint('effects') }] });
  await gateway.surface.setLogLevel(ALICE, 'error');
  const quiet = run(gateway, { tool: 'log', arguments: { level: 'info', tag: 'quiet' } });
  await quiet.end;
  await gateway.surface.setLogLevel(ALICE, 'info');
  await gateway.surface.setLogLevel(ALICE, 'critical');
  const loud = run(gateway, { tool: 'log', arguments: { level: 'info', tag: 'loud' } });
  await loud.end;
  const other = run(gateway, {
    tool: 'log',
    arguments: { level: 'debug', tag: 'other' },
    principal: BOB,
  });
  await other.end;
  expect(quiet.logs).toEqual([]);
  expect(loud.logs).toHaveLength(1);
  expect(other.logs).toHaveLength(1);
  expect((await failureOf(gateway.surface.setLogLevel(ALICE, 'shouting'))).code).toBe(-32_602);
});
