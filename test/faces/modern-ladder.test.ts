import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { createPrincipal } from '../../src/identity/principal.ts';
import { verifies } from '../requirements/verifies.ts';
import { createKit, moreTokens, tool, TOOLS } from './face-kit.ts';
import {
  caller2026,
  CAPABILITIES_META,
  errorOf,
  post,
  resultOf,
  TASKS,
  VERSION_META,
  WITH_FORMS,
  type Answer,
} from './wire.ts';

const UNKNOWN = 'tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA';

const seen = (answer: Answer): readonly [status: number, code: unknown] => [
  answer.status,
  errorOf(answer)['code'],
];

async function alice() {
  const { url } = await (await createKit()).http();
  return { url, caller: caller2026(url, 'alice') };
}

verifies(
  ['G2-121', 'G2-147'],
  'a missing or contradicting header is -32020 with HTTP 400 and the id',
  async () => {
    const { url, caller } = await alice();
    const { body, headers } = caller.request('tasks/get', { taskId: UNKNOWN }, { id: 'x1' });
    const without = (name: string): Record<string, string> =>
      Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));
    const wrong: readonly Record<string, string>[] = [
      without('mcp-protocol-version'),
      without('mcp-method'),
      without('mcp-name'),
      { ...headers, 'mcp-protocol-version': '2025-11-25' },
      { ...headers, 'mcp-method': 'tools/list' },
      { ...headers, 'mcp-method': 'TASKS/GET' },
      { ...headers, 'mcp-name': 'tsk_other' },
      { ...headers, 'mcp-name': '=?base64?SGVsbG8?=' },
      { ...headers, 'mcp-name': '=?base64?SGVs!!!bG8=?=' },
    ];
    const answers = await Promise.all(
      wrong.map((sent) => post(url, JSON.stringify(body), { headers: sent })),
    );
    for (const answer of answers) {
      expect(seen(answer)).toEqual([400, -32_020]);
      expect(answer.body['id']).toBe('x1');
    }
  },
);

verifies('G2-151', 'header values are read as the text means them', async () => {
  const { url, caller } = await alice();
  const encoded = `=?base64?${Buffer.from(UNKNOWN).toString('base64')}?=`;
  const variants = [UNKNOWN, `  ${UNKNOWN}\t`, encoded];
  const answers = await Promise.all(
    variants.map((name) =>
      caller.call('tasks/get', { taskId: UNKNOWN }, { headers: { 'mcp-name': name } }),
    ),
  );
  for (const answer of answers) expect(seen(answer)).toEqual([200, -32_602]);
  const { body, headers } = caller.request('tools/list');
  const shouting = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
  expect((await post(url, JSON.stringify(body), { headers: shouting })).status).toBe(200);
});

verifies(
  ['G2-122', 'G2-10'],
  'a request without its whole _meta is -32602 with HTTP 400, whatever came before',
  async () => {
    const { url, caller } = await alice();
    expect((await caller.call('server/discover')).status).toBe(200);
    const { headers } = caller.request('server/discover');
    const metas: readonly (JsonObject | undefined)[] = [
      undefined,
      {},
      { [CAPABILITIES_META]: {} },
      { [VERSION_META]: '2026-07-28' },
      { [VERSION_META]: '2026-07-28', [CAPABILITIES_META]: 'all' },
      { [VERSION_META]: 20_260_728, [CAPABILITIES_META]: {} },
    ];
    const answers = await Promise.all(
      metas.map((_meta) =>
        post(
          url,
          JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'server/discover', params: { _meta } }),
          { headers },
        ),
      ),
    );
    for (const answer of answers) {
      expect(seen(answer)).toEqual([400, -32_602]);
      expect(answer.body['id']).toBe(5);
    }
  },
);

verifies(
  'G2-120',
  'an unknown version is -32022 with HTTP 400, naming what is served and what was asked for',
  async () => {
    const { caller } = await alice();
    const answer = await caller.call(
      'server/discover',
      {},
      {
        meta: { [VERSION_META]: 'v999.0.0' },
        headers: { 'mcp-protocol-version': 'v999.0.0' },
      },
    );
    expect(seen(answer)).toEqual([400, -32_022]);
    expect(errorOf(answer)['data']).toEqual({ supported: ['2026-07-28'], requested: 'v999.0.0' });
  },
);

verifies(
  ['G2-123', 'G2-42', 'G2-95'],
  'methods of other revisions and unknown ones are -32601 with HTTP 404',
  async () => {
    const { caller } = await alice();
    const gone = [
      'initialize',
      'ping',
      'logging/setLevel',
      'resources/subscribe',
      'resources/unsubscribe',
      'tasks/result',
      'tasks/list',
      'no/such',
    ];
    const answers = await Promise.all(
      gone.map((method) => caller.call(method, { taskId: UNKNOWN })),
    );
    for (const answer of answers) expect(seen(answer)).toEqual([404, -32_601]);
  },
);

verifies(
  ['G2-116', 'G2-117', 'G2-04'],
  'task methods without the extension are -32021 with HTTP 400 and the capabilities that are missing',
  async () => {
    const { caller } = await alice();
    const methods = ['tasks/get', 'tasks/update', 'tasks/cancel'];
    const answers = await Promise.all(
      methods.map((method) =>
        caller.call(method, { taskId: UNKNOWN }, { capabilities: WITH_FORMS }),
      ),
    );
    for (const answer of answers) {
      expect(seen(answer)).toEqual([400, -32_021]);
      expect(errorOf(answer)['data']).toEqual({
        requiredCapabilities: { extensions: { [TASKS]: {} } },
      });
    }
  },
);

verifies('G2-175', 'the tasks of 2025-11-25 are no declaration of the extension', async () => {
  const { caller } = await alice();
  const capabilities = { tasks: { cancel: {}, requests: { tools: { call: {} } } } };
  const get = await caller.call('tasks/get', { taskId: UNKNOWN }, { capabilities });
  expect(seen(get)).toEqual([400, -32_021]);
  const required = await caller.tool('required', {}, { capabilities });
  expect(seen(required)).toEqual([400, -32_021]);
});

verifies('G2-02', 'settings of the extension that nobody knows are support too', async () => {
  const { caller } = await alice();
  const capabilities = { extensions: { [TASKS]: { later: true } } };
  expect(resultOf(await caller.tool('required', {}, { capabilities }))['resultType']).toBe('task');
});

test('of several faults the earliest check answers: headers, _meta, version, method, extension, params, look-up', async () => {
  const { url, caller } = await alice();
  const { headers } = caller.request('tasks/get', { taskId: UNKNOWN });
  const send = (
    params: JsonObject,
    method: string,
    but: Record<string, string> = {},
  ): Promise<Answer> =>
    post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), {
      headers: { ...headers, 'mcp-method': method, ...but },
    });
  const bare = { taskId: UNKNOWN };
  const meta = (capabilities: JsonObject, version = '2026-07-28'): JsonObject => ({
    _meta: { [VERSION_META]: version, [CAPABILITIES_META]: capabilities },
  });
  const mine = { extensions: { [TASKS]: {} } };
  const order: readonly (readonly [Promise<Answer>, number, number])[] = [
    [send(bare, 'tasks/nothing', { 'mcp-method': 'other' }), 400, -32_020],
    [send(bare, 'tasks/nothing'), 400, -32_602],
    [
      send({ ...bare, ...meta({}, 'v9') }, 'tasks/result', { 'mcp-protocol-version': 'v9' }),
      400,
      -32_022,
    ],
    [send({ ...bare, ...meta({}) }, 'tasks/result'), 404, -32_601],
    [send({ taskId: 5, ...meta({}) }, 'tasks/get'), 400, -32_021],
    [send({ taskId: 5, ...meta(mine) }, 'tasks/get'), 200, -32_602],
    [send({ ...bare, ...meta(mine) }, 'tasks/get'), 200, -32_602],
  ];
  const answers = await Promise.all(order.map(([answer]) => answer));
  expect(answers.map(seen)).toEqual(order.map(([, status, code]) => [status, code]));
});

test('a notification of 2026-07-28 is taken with 202 and means nothing', async () => {
  const { url, caller } = await alice();
  const { headers } = caller.request('server/discover');
  const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  expect((await post(url, JSON.stringify(body), { headers })).status).toBe(202);
});

test('arguments that a tool mirrors into headers must agree with them', async () => {
  const definition = {
    name: 'mirror',
    inputSchema: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        deep: { type: 'object', properties: { size: { type: 'integer', 'x-mcp-header': 'Size' } } },
      },
    },
  };
  const kit = await createKit({ tools: [...TOOLS, tool('mirror', { definition, mode: 'sync' })] });
  const { url } = await kit.http();
  const caller = caller2026(url, 'alice');
  const call = async (args: JsonObject, headers: Record<string, string>): Promise<number> =>
    (await caller.tool('mirror', args, { headers })).status;
  const encoded = `=?base64?${Buffer.from('zürich').toString('base64')}?=`;
  expect(await call({ region: 'eu' }, { 'mcp-param-region': 'eu' })).toBe(200);
  expect(await call({ region: 'zürich' }, { 'mcp-param-region': encoded })).toBe(200);
  expect(await call({ region: 'eu' }, {})).toBe(400);
  expect(await call({ region: 'eu' }, { 'mcp-param-region': 'us' })).toBe(400);
  expect(await call({ region: 'eu' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' })).toBe(400);
  expect(await call({ deep: { size: 42 } }, { 'mcp-param-size': '42.0' })).toBe(200);
  expect(await call({ deep: { size: 42 } }, { 'mcp-param-size': '43' })).toBe(400);
  expect(await call({ region: null }, {})).toBe(200);
  expect(await call({}, { 'mcp-param-region': 'unexpected' })).toBe(200);
});

test('a credential without the scope is 403 with a challenge, for known and unknown ids alike', async () => {
  const kit = await createKit();
  const { url } = await kit.http();
  moreTokens.set(
    'reader',
    createPrincipal({
      issuer: 'https://login.example',
      tenant: 'acme',
      subject: 'alice',
      method: 'token',
      scopes: ['task.read'],
    }),
  );
  const mine = resultOf(await caller2026(url, 'alice').tool('hangs'))['taskId'];
  const reader = caller2026(url, 'reader');
  const answers = await Promise.all(
    [mine, UNKNOWN].map((taskId) => reader.call('tasks/cancel', { taskId }, { id: 3 })),
  );
  for (const answer of answers) {
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toContain('scope="task.cancel"');
    expect(errorOf(answer)).toMatchObject({ code: 1403, data: { reason: 'insufficient_scope' } });
  }
  expect(answers[0]?.text).toBe(answers[1]?.text);
  expect((await reader.call('tasks/get', { taskId: mine })).status).toBe(200);
});
