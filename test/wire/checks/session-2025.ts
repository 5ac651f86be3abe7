import { openChannel } from '../channel.ts';
import { defineCheck, must, mustEqual, untested } from '../check.ts';
import { createClient2026, openSession } from '../client.ts';
import { createTask, getTask2025, mustRefuse, resultOf } from '../steps.ts';

const VISIBLE_ASCII = /^[\u0021-\u007e]+$/;
const UNKNOWN_SESSION = '00000000-0000-4000-8000-000000000000';

/** Sessions, headers and statuses of Streamable HTTP, mostly those of 2025-11-25. */
export const SESSION_2025 = [
  defineCheck(
    {
      id: '2025-session-is-needed',
      requirements: ['G1-130', 'G1-132'],
      title: 'a request without its session is 400, with an unknown one 404',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      must(VISIBLE_ASCII.test(session.id), `the session id is ${JSON.stringify(session.id)}`);
      const missing = await session.open('tools/list', {}, { 'mcp-session-id': undefined });
      mustEqual(missing.status, 400, 'HTTP status without a session');
      const unknown = await session.open('tools/list', {}, { 'mcp-session-id': UNKNOWN_SESSION });
      mustEqual(unknown.status, 404, 'HTTP status with an unknown session');
    },
  ),
  defineCheck(
    {
      id: '2025-ended-session-is-gone',
      requirements: ['G1-132', 'T12', 'G1-99'],
      title: 'an ended session is 404, and its tasks live on for the same person',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'structured_job');
      const status = await session.end();
      if (status === 405) return untested('this target does not let clients end sessions');
      must(status >= 200 && status < 300, `DELETE was answered with ${status}`);
      mustEqual((await session.open('tools/list')).status, 404, 'HTTP status of an ended session');
      const next = await openSession(alice);
      mustEqual(
        (await getTask2025(next, taskId))['taskId'],
        taskId,
        'the task read in a new session',
      );
    },
  ),
  defineCheck(
    {
      id: '2025-version-header',
      requirements: ['G1-98', 'G1-124'],
      title: 'an unsupported MCP-Protocol-Version is 400, an absent one is not',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const wrong = await session.open('tools/list', {}, { 'mcp-protocol-version': '1999-01-01' });
      mustEqual(wrong.status, 400, 'HTTP status with an unsupported version');
      const absent = await session.request('tools/list', {}, { 'mcp-protocol-version': undefined });
      mustEqual(absent.status, 200, 'HTTP status without a version');
    },
  ),
  defineCheck(
    {
      id: '2025-version-is-negotiated',
      requirements: ['G1-149'],
      title: 'a version that nobody knows is answered with one that is supported',
    },
    async ({ alice }) => {
      const { initialized } = await openSession(alice, { protocolVersion: '1999-01-01' });
      mustEqual(initialized['protocolVersion'], '2025-11-25', 'the version in the answer');
    },
  ),
  defineCheck(
    {
      id: '2025-accepted-without-answer',
      requirements: ['G1-125'],
      title: 'notifications and responses are 202 without a body',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const messages = [
        { method: 'notifications/roots/list_changed' },
        { id: 'nobody-asked', result: { action: 'decline' } },
      ];
      for (const message of messages) {
        const channel = await session.post(message);
        await channel.ended;
        mustEqual(channel.status, 202, `HTTP status of ${JSON.stringify(message)}`);
        mustEqual(channel.received, [], 'the body');
      }
    },
  ),
  defineCheck(
    {
      id: '2025-knows-no-update',
      requirements: ['G1-15'],
      title: 'tasks/update of the other generation is unknown here',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'structured_job');
      const reply = await session.request('tasks/update', { taskId, inputResponses: {} });
      mustRefuse(reply, -32_601, 'tasks/update');
    },
  ),
  defineCheck(
    {
      id: 'origin-is-checked',
      requirements: ['G1-133', 'G2-162'],
      title: 'a foreign Origin is 403 in both generations, a local one is served',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const client = createClient2026(alice);
      for (const [origin, status] of [
        ['http://evil.example', 403],
        ['http://localhost:3000', 200],
      ] as const) {
        mustEqual(
          (await session.open('tools/list', {}, { origin })).status,
          status,
          `HTTP status in a session for ${origin}`,
        );
        const modern = await client.open('tools/list', {}, { headers: { origin } });
        mustEqual(modern.status, status, `HTTP status on 2026-07-28 for ${origin}`);
      }
    },
  ),
  defineCheck(
    {
      id: 'wrong-token-is-refused',
      requirements: ['G1-107', 'G2-133'],
      title: 'a token that nobody has is 401 with a challenge, in both generations',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const client = createClient2026(alice);
      const authorization = 'Bearer nobody-has-this-token';
      const answers = [
        await session.open('tools/list', {}, { authorization }),
        await client.open('tools/list', {}, { headers: { authorization } }),
      ];
      for (const { status, headers } of answers) {
        mustEqual(status, 401, 'HTTP status');
        must(headers.get('www-authenticate')?.startsWith('Bearer'), 'there is no challenge');
      }
    },
  ),
  defineCheck(
    {
      id: 'broken-body-is-refused',
      requirements: ['G1-125'],
      title: 'a body that is no JSON is 400 with a JSON-RPC error and leaves the server serving',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const headers = {
        ...alice.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const broken = await openChannel(alice.url, {
        method: 'POST',
        headers: { ...headers, 'mcp-session-id': session.id },
        body: '{"jsonrpc":',
      });
      await broken.ended;
      mustEqual(broken.status, 400, 'HTTP status');
      must(broken.received[0]?.['error'], `the body is ${JSON.stringify(broken.received)}`);
      resultOf(await session.request('ping'), 'ping');
    },
  ),
];
