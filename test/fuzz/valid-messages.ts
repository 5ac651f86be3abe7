/** What the valid messages are about: things that are really there. */
export interface Subject {
  /** A task of the caller that has ended. */
  readonly taskId: string;
}

export type Message = Readonly<Record<string, unknown>>;

export const VERSION_META = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_META = 'io.modelcontextprotocol/clientCapabilities';
const TASKS = 'io.modelcontextprotocol/tasks';
const INFO = { name: 'fuzz', version: '1.0.0' };

const request = (id: number, method: string, params?: object): Message => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params ? { params } : {}),
});
const notification = (method: string, params?: object): Message => ({
  jsonrpc: '2.0',
  method,
  ...(params ? { params } : {}),
});

/** A tool that answers at once, with what it was given. */
const CALL = { name: 'append', arguments: { tag: 'fuzz', ms: 0 } };

const PASSING: readonly (readonly [method: string, params?: object])[] = [
  ['tools/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'effects://counter' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'describe', arguments: { language: 'english' } }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'describe' }, argument: { name: 'language', value: 'e' } },
  ],
  ['tools/call', CALL],
  [
    'tools/call',
    {
      ...CALL,
      name: 'echo_meta',
      _meta: { 'com.example/a': [1, { b: null }], progressToken: 'p' },
    },
  ],
  ['tools/call', { ...CALL, name: 'protocol_error' }],
  ['tools/call', { ...CALL, name: 'progress', _meta: { progressToken: 7 } }],
];

/** Valid messages of a session of 2025-11-25. */
export function messages2025({ taskId }: Subject): readonly Message[] {
  const client = {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: INFO,
  };
  const own: readonly (readonly [string, object?])[] = [
    ['initialize', client],
    ['ping'],
    ['logging/setLevel', { level: 'info' }],
    ['resources/subscribe', { uri: 'effects://counter' }],
    ['resources/unsubscribe', { uri: 'effects://counter' }],
    ['tools/call', { ...CALL, task: { ttl: 60_000 } }],
    ['tasks/get', { taskId }],
    ['tasks/result', { taskId }],
    ['tasks/cancel', { taskId }],
    ['tasks/list', {}],
    ['tasks/list', { cursor: 'AAAA' }],
  ];
  return [
    ...[...own, ...PASSING].map(([method, params], at) => request(at + 1, method, params)),
    notification('notifications/initialized'),
    notification('notifications/cancelled', { requestId: 1, reason: 'enough' }),
    notification('notifications/progress', { progressToken: 1, progress: 0.5 }),
    notification('notifications/roots/list_changed'),
    { jsonrpc: '2.0', id: 1, result: { action: 'accept', content: { answer: 'yes' } } },
    { jsonrpc: '2.0', id: 'x', error: { code: -1, message: 'no' } },
  ];
}

/** Valid messages of 2026-07-28: each says by itself what its sender can do. */
export function messages2026({ taskId }: Subject): readonly Message[] {
  const envelope = (tasks: boolean): object => ({
    [VERSION_META]: '2026-07-28',
    [CAPABILITIES_META]: { elicitation: {}, ...(tasks ? { extensions: { [TASKS]: {} } } : {}) },
    'io.modelcontextprotocol/clientInfo': INFO,
  });
  const own: readonly (readonly [string, object?])[] = [
    ['server/discover', {}],
    ['tasks/get', { taskId }],
    [
      'tasks/update',
      { taskId, inputResponses: { k: { action: 'accept', content: { answer: 'yes' } } } },
    ],
    ['tasks/cancel', { taskId }],
    ['subscriptions/listen', { notifications: { taskIds: [taskId], toolsListChanged: true } }],
    ['tools/call', { ...CALL, requestState: 'AAAA.BBBB', inputResponses: {} }],
    ['tasks/result', { taskId }],
  ];
  return [
    ...[...own, ...PASSING].flatMap(([method, params = {}], at) =>
      [true, false].map((tasks) => {
        const { _meta = {}, ...rest } = params as { _meta?: object };
        return request(at + 1, method, { ...rest, _meta: { ..._meta, ...envelope(tasks) } });
      }),
    ),
    notification('notifications/cancelled', { requestId: 1, _meta: envelope(true) }),
  ];
}
