import type { AdminDoor } from '../crash/admin-door.ts';
import { bearerOf } from '../crash/people.ts';
import { openSession } from '../wire/client.ts';
import type { Session2025 } from '../wire/client.ts';
import type { Door, GoodRequest } from './http-inputs.ts';
import { messages2025, messages2026, VERSION_META } from './valid-messages.ts';
import type { Message, Subject } from './valid-messages.ts';

const JSON_HEADERS = [
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream'],
  ['authorization', bearerOf('alice')['authorization'] ?? ''],
] as const;

const post = (message: Message, headers: GoodRequest['headers']): GoodRequest => ({
  method: 'POST',
  target: '/mcp',
  headers: [...JSON_HEADERS, ...headers],
  body: message,
});

/** Sessions of 2025-11-25. */
export function door2025(port: number, session: Session2025, subject: Subject): Door {
  const own = [
    ['mcp-session-id', session.id],
    ['mcp-protocol-version', '2025-11-25'],
  ] as const;
  const posts = messages2025(subject).map((message) =>
    post(message, message['method'] === 'initialize' ? [] : own),
  );
  const listen = { method: 'GET', target: '/mcp', headers: [...JSON_HEADERS, ...own] };
  return {
    path: '/mcp',
    host: `127.0.0.1:${port}`,
    requests: [...posts, listen],
    words: [
      session.id,
      subject.taskId,
      'tools/call',
      'initialize',
      `${session.id}x`,
      bearerOf('bob')['authorization'] ?? '',
    ],
  };
}

const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Requests of 2026-07-28. */
export function door2026(port: number, subject: Subject): Door {
  const requests = messages2026(subject).map((message) => {
    const method = String(message['method']);
    const params = (message['params'] ?? {}) as Message;
    const name = params[NAMED_BY[method] ?? ''];
    return post(message, [
      ['mcp-protocol-version', '2026-07-28'],
      ['mcp-method', method],
      ...(typeof name === 'string' ? [['mcp-name', name] as const] : []),
    ]);
  });
  return {
    path: '/mcp',
    host: `127.0.0.1:${port}`,
    requests,
    words: [
      subject.taskId,
      'append',
      'tools/call',
      'tasks/get',
      VERSION_META,
      bearerOf('bob')['authorization'] ?? '',
    ],
  };
}

/** What operators ask. */
export function adminDoor({ url, token }: AdminDoor, { taskId }: Subject): Door {
  const { host } = new URL(url);
  const headers = [
    ['authorization', `Bearer ${token}`],
    ['content-type', 'application/json'],
  ] as const;
  const get = (path: string): GoodRequest => ({
    method: 'GET',
    target: `/admin/v1${path}`,
    headers,
  });
  const reads = [
    '/tasks',
    '/tasks?limit=2&phase=ended',
    '/operations?state=unknown',
    '/status',
    '/manifests',
    '/events',
  ].concat(
    `/tasks/${taskId}`,
    `/tasks/${taskId}/result`,
    '/operations/op_unknown',
    '/tasks?cursor=AAAA',
    '/nothing',
  );
  return {
    path: '/admin/v1/tasks',
    host,
    requests: [
      ...reads.map(get),
      {
        method: 'POST',
        target: `/admin/v1/tasks/${taskId}/cancel`,
        headers,
        body: { reason: 'fuzz' },
      },
      { method: 'GET', target: '/metrics', headers },
      { method: 'GET', target: '/healthz', headers: [] },
    ],
    words: [taskId, `Bearer ${token}`, 'cancel', 'result', 'application/json'],
  };
}

/** A session of alice's. */
export const aliceSession = (port: number): Promise<Session2025> =>
  openSession({ url: `http://127.0.0.1:${port}/mcp`, headers: bearerOf('alice') });
