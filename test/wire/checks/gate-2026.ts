import { openChannel } from '../channel.ts';
import { defineCheck, must, mustEqual, newTag } from '../check.ts';
import type { Reply } from '../client.ts';
import { createClient2026, DECLARES_NO_TASKS, openSession, TASKS_EXTENSION } from '../client.ts';
import {
  callAsTask,
  createTask,
  mustHaveStatus,
  mustRefuse,
  objectAt,
  resultOf,
  textOf,
} from '../steps.ts';

const UNKNOWN = 'AAAAAAAAAAAAAAAAAAAAAAAA';
const LEGACY_ONLY = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };

/** Fails the check unless this is the whole refusal of a request that lacks the extension. */
function mustMissExtension(reply: Reply, what: string): void {
  mustRefuse(reply, -32_021, what);
  mustHaveStatus(reply, 400, `the HTTP status of ${what}`);
  const required = objectAt(reply.error?.data, 'requiredCapabilities');
  must(!Array.isArray(required), 'requiredCapabilities is a list');
  mustEqual(
    objectAt(required, 'extensions')[TASKS_EXTENSION],
    {},
    `the capability that ${what} requires`,
  );
}

/** What every request of 2026-07-28 must carry and declare, before anything is done for it. */
export const GATE_2026 = [
  defineCheck(
    {
      id: '2026-discover',
      requirements: ['G2-01', 'G2-13', 'G2-15', 'G2-154', 'G2-177'],
      title: 'server/discover advertises the extension, and nothing of 2025-11-25',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const result = resultOf(await client.request('server/discover'), 'server/discover');
      const capabilities = objectAt(result, 'capabilities');
      mustEqual(objectAt(capabilities, 'extensions')[TASKS_EXTENSION], {}, 'the extension');
      must(capabilities['tasks'] === undefined, 'capabilities.tasks is advertised');
      must(
        (result['supportedVersions'] as string[]).includes('2026-07-28'),
        'the version is not advertised',
      );
      mustEqual(result['resultType'], 'complete', 'resultType');
      must(
        objectAt(objectAt(result, '_meta'), 'io.modelcontextprotocol/serverInfo')['name'],
        'the server does not name itself',
      );
    },
  ),
  defineCheck(
    {
      id: '2026-tools-have-no-execution',
      requirements: ['G2-07'],
      title: 'tools/list says nothing of modes, which belong to 2025-11-25',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const { tools } = resultOf(await client.request('tools/list'), 'tools/list');
      const told = (tools as Record<string, unknown>[]).filter((tool) => 'execution' in tool);
      mustEqual(
        told.map(({ name }) => name),
        [],
        'the tools with execution',
      );
    },
  ),
  defineCheck(
    {
      id: '2026-extension-is-needed',
      requirements: ['G2-05', 'G2-14', 'G2-116', 'G2-117', 'T19', 'T25'],
      title: 'what needs the extension is -32021 and HTTP 400 without it, whatever else is wrong',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const without = { capabilities: DECLARES_NO_TASKS };
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const params = {
          taskId: UNKNOWN,
          ...(method === 'tasks/update' ? { inputResponses: {} } : {}),
        };
        mustMissExtension(await client.request(method, params, without), method);
      }
      const call = { name: 'failing_job', arguments: {} };
      mustMissExtension(
        await client.request('tools/call', call, without),
        'a tool that must be a task',
      );
    },
  ),
  defineCheck(
    {
      id: '2026-listen-needs-extension',
      requirements: ['G2-100', 'G2-117'],
      title: 'listening for tasks without the extension is -32021 and HTTP 400',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'structured_job');
      const params = { notifications: { taskIds: [taskId] } };
      const stream = await client.open('subscriptions/listen', params, {
        capabilities: DECLARES_NO_TASKS,
      });
      const first = await stream.waitFor(() => true, 'an answer');
      stream.close();
      const { status, headers, isStream, received } = stream;
      const error = first['error'] as Reply['error'];
      mustMissExtension(
        { status, headers, isStream, messages: received, result: undefined, error },
        'subscriptions/listen',
      );
    },
  ),
  defineCheck(
    {
      id: '2026-legacy-capability-is-none',
      requirements: ['G2-04', 'G2-09', 'G2-175', 'T37'],
      title: 'the capability of 2025-11-25 declares nothing here',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const legacy = { capabilities: { ...DECLARES_NO_TASKS, ...LEGACY_ONLY } };
      const call = {
        name: 'slow_compute',
        arguments: { seconds: 0, label: newTag('legacy') },
        task: { ttl: 1_000 },
      };
      const result = resultOf(await client.request('tools/call', call, legacy), 'slow_compute');
      mustEqual(result['resultType'], 'complete', 'the type of the result');
      must(textOf(result).includes('computed'), `no ordinary result: ${JSON.stringify(result)}`);
      const taskId = await callAsTask(client, 'structured_job');
      mustMissExtension(await client.request('tasks/get', { taskId }, legacy), 'tasks/get');
      const plain = { ...call, name: 'greet', arguments: { name: 'World' } };
      must(
        !resultOf(await client.request('tools/call', plain), 'greet')['taskId'],
        'the task parameter made a task',
      );
    },
  ),
  defineCheck(
    {
      id: '2026-each-request-for-itself',
      requirements: ['G2-04', 'G2-06', 'G2-10', 'G2-161'],
      title: 'what an earlier request declared does not hold for the next',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      await callAsTask(client, 'structured_job');
      const call = { name: 'structured_job', arguments: {} };
      const result = resultOf(
        await client.request('tools/call', call, { capabilities: DECLARES_NO_TASKS }),
        'structured_job',
      );
      mustEqual(result['resultType'], 'complete', 'the type of the result');
      mustEqual(result['structuredContent'], { answer: 42 }, 'the structured content');
    },
  ),
  defineCheck(
    {
      id: '2026-unknown-method',
      requirements: ['G2-42', 'G2-95', 'G2-123', 'T25'],
      title:
        'methods that do not exist here are -32601 and HTTP 404, those of 2025-11-25 among them',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      for (const method of ['tasks/result', 'tasks/list', 'ping', 'no/such/method']) {
        const reply = await client.request(method, { taskId: UNKNOWN });
        mustRefuse(reply, -32_601, method);
        mustHaveStatus(reply, 404, `the HTTP status of ${method}`);
      }
    },
  ),
  defineCheck(
    {
      id: '2026-name-header-is-checked',
      requirements: ['G2-121', 'G2-150', 'G2-151'],
      title: 'get, update and cancel need an Mcp-Name that is their task, plain or in base64',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'structured_job');
      const encoded = `=?base64?${Buffer.from(taskId).toString('base64')}?=`;
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const params = { taskId, ...(method === 'tasks/update' ? { inputResponses: {} } : {}) };
        for (const name of [UNKNOWN, undefined]) {
          const reply = await client.request(method, params, { headers: { 'mcp-name': name } });
          mustRefuse(reply, -32_020, `${method} with Mcp-Name ${String(name)}`);
          mustEqual(reply.status, 400, `the HTTP status of ${method}`);
        }
        resultOf(
          await client.request(method, params, { headers: { 'mcp-name': encoded } }),
          `${method} with base64`,
        );
      }
    },
  ),
  defineCheck(
    {
      id: '2026-envelope-is-checked',
      requirements: ['G2-120', 'G2-122', 'G2-147', 'T25'],
      title: 'version, capabilities and their header are checked on requests about tasks too',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const version = 'io.modelcontextprotocol/protocolVersion';
      const future = '2099-01-01';
      const cases = [
        [{ headers: { 'mcp-protocol-version': undefined } }, -32_020],
        [{ headers: { 'mcp-protocol-version': future } }, -32_020],
        [{ headers: { 'mcp-method': 'tasks/cancel' } }, -32_020],
        [{ meta: { 'io.modelcontextprotocol/clientCapabilities': undefined } }, -32_602],
        [{ headers: { 'mcp-protocol-version': future }, meta: { [version]: future } }, -32_022],
      ] as const;
      for (const [options, code] of cases) {
        const reply = await client.request('tasks/get', { taskId: UNKNOWN }, options);
        mustRefuse(reply, code, `a request with ${JSON.stringify(options)}`);
        mustEqual(reply.status, 400, 'the HTTP status');
      }
    },
  ),
  defineCheck(
    {
      id: '2026-has-no-sessions',
      requirements: ['G2-156', 'G2-158', 'G2-160'],
      title: 'no session is made, one that is named is ignored, and GET and DELETE are 405',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const reply = await client.request(
        'tools/list',
        {},
        { headers: { 'mcp-session-id': UNKNOWN, 'last-event-id': '7' } },
      );
      resultOf(reply, 'tools/list with a session id');
      must(!reply.headers.has('mcp-session-id'), 'a session id came back');
      for (const method of ['GET', 'DELETE']) {
        const headers = {
          ...alice.headers,
          accept: 'text/event-stream',
          'mcp-protocol-version': '2026-07-28',
        };
        const response = await fetch(alice.url, { method, headers });
        await response.body?.cancel();
        mustEqual(response.status, 405, `the HTTP status of ${method}`);
      }
    },
  ),
  defineCheck(
    {
      id: '2026-notifications-are-accepted',
      requirements: ['G2-155'],
      title: 'a notification is 202 without a body, a request is answered with JSON or a stream',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const { status, headers } = await client.request('tools/list');
      mustEqual(status, 200, 'the HTTP status of a request');
      const type = String(headers.get('content-type'));
      must(
        /^(?:application\/json|text\/event-stream)/.test(type),
        `a request is answered with ${type}`,
      );
      const method = 'notifications/cancelled';
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const told = await openChannel(alice.url, {
        method: 'POST',
        headers: {
          ...alice.headers,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
        },
        body: JSON.stringify({ jsonrpc: '2.0', method, params: { requestId: 'none', _meta } }),
      });
      await told.ended;
      mustEqual(told.status, 202, 'the HTTP status of a notification');
      mustEqual(told.received, [], 'the body');
    },
  ),
  defineCheck(
    {
      id: '2026-foreign-metadata-means-nothing',
      requirements: ['G2-164', 'G2-163'],
      title: 'related-task metadata of 2025-11-25 has no effect here',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const client = createClient2026(alice);
      const other = await createTask(session, 'structured_job');
      const taskId = await callAsTask(client, 'structured_job');
      const meta = { 'io.modelcontextprotocol/related-task': { taskId: other['taskId'] } };
      const read = resultOf(await client.request('tasks/get', { taskId }, { meta }), 'tasks/get');
      mustEqual(read['taskId'], taskId, 'the task that was read');
    },
  ),
];
