import type { Json, Mutant, Mutation, Seen } from './mutation.ts';
import {
  asResult,
  at,
  isModern,
  methodOf,
  onError,
  onHeaders,
  onParams,
  onResult,
  onSent,
  paramsOf,
  relatedTaskOf,
  withRelatedTask,
  without,
  withoutRelatedTask,
} from './mutation.ts';
import {
  QUESTION,
  askingOnce,
  broadcasting,
  cancellingByNotification,
  cancellingOnDisconnect,
  completingAfterCancel,
  honouringTheExtension,
  isPlainStream,
  listingForAll,
  onTaskCapability,
  rememberingTheSession,
  resultOnce,
  takingAnyAnswer,
} from './stateful-2025.ts';

const ON_2025 = '2025' as const;

const saying = (text: string): Json => ({ content: [{ type: 'text', text }], isError: true });
const error = (code: number, message: string): Json => ({ error: { code, message } });

type Row = readonly [rejectedBy: string, title: string, create: () => Mutation];

const ROWS: readonly Row[] = [
  [
    '2025-capabilities',
    'cancel is not declared',
    () => onTaskCapability((tasks) => without(tasks, 'cancel')),
  ],
  [
    '2025-anonymous-has-no-list',
    'everybody is offered a list',
    () => onTaskCapability((tasks) => ({ ...tasks, list: {} })),
  ],
  [
    '2025-modes-are-listed',
    'tools do not say their mode',
    () =>
      onResult({ method: 'tools/list', generation: ON_2025 }, (result) => ({
        ...result,
        tools: (result['tools'] as Json[]).map((tool) => without(tool, 'execution')),
      })),
  ],
  [
    '2025-forbidden-is-refused',
    'a tool that cannot be a task runs all the same',
    () =>
      onParams({ method: 'tools/call' }, (params) =>
        params['name'] === 'greet' ? without(params, 'task') : params,
      ),
  ],
  [
    '2025-required-plain-is-refused',
    'a refusal comes as the result of the tool',
    () =>
      onError({ method: 'tools/call' }, (message) =>
        at(message, 'error')['code'] === -32_601
          ? asResult(message, saying('MCP error -32601'))
          : message,
      ),
  ],
  [
    '2025-unknown-tool',
    'an unknown tool is the result of a tool',
    () => onError({ method: 'tools/call' }, (message) => asResult(message, saying('no such tool'))),
  ],
  [
    '2025-create-shape',
    'a task is created flat',
    () =>
      onResult({ method: 'tools/call', generation: ON_2025 }, (result) => ({
        ...result,
        ...at(result, 'task'),
      })),
  ],
  [
    '2025-task-param-is-checked',
    'any task parameter will do',
    () =>
      onParams({ method: 'tools/call' }, (params) =>
        'task' in params ? { ...params, task: {} } : params,
      ),
  ],
  [
    '2025-ttl-is-granted',
    'any ttl is granted',
    () =>
      onResult({ method: 'tools/call' }, (result, seen) => {
        const { ttl } = at(paramsOf(seen.body), 'task');
        return ttl === undefined ? result : { ...result, task: { ...at(result, 'task'), ttl } };
      }),
  ],
  [
    '2025-older-version-has-no-tasks',
    'every session has tasks, whatever version it asks for',
    () =>
      onParams({ method: 'initialize' }, (params) => ({
        ...params,
        protocolVersion: '2025-11-25',
      })),
  ],
  [
    '2025-extension-key-means-nothing',
    'the extension makes tasks in a session',
    honouringTheExtension,
  ],
  [
    '2025-get-shape',
    'tasks/get does not say the ttl',
    () => onResult({ method: 'tasks/get', generation: ON_2025 }, (task) => without(task, 'ttl')),
  ],
  [
    '2025-get-is-not-streamed',
    'tasks/get opens a stream',
    () => ({ framing: (seen) => (methodOf(seen) === 'tasks/get' ? 'stream' : undefined) }),
  ],
  [
    '2025-result-blocks',
    'tasks/result does not wait',
    () => ({
      answer: (seen) =>
        methodOf(seen) === 'tasks/result'
          ? {
              status: 200,
              body: { jsonrpc: '2.0', id: seen.body?.['id'], result: { content: [] } },
            }
          : undefined,
    }),
  ],
  [
    '2025-result-opens-a-stream',
    'tasks/result says nothing until it has everything',
    () => ({ framing: (seen) => (methodOf(seen) === 'tasks/result' ? 'json' : undefined) }),
  ],
  ['2025-result-is-repeatable', 'a result can be read once', resultOnce],
  ['2025-waiters-all-hear', 'only one may wait for a result', resultOnce],
  [
    '2025-tool-error-is-failed',
    'a task whose tool reported an error is completed',
    () =>
      onResult({ method: 'tasks/get', generation: ON_2025 }, (task) =>
        task['status'] === 'failed' ? { ...task, status: 'completed' } : task,
      ),
  ],
  [
    '2025-error-passes-through',
    'every error of a call becomes an internal one',
    () =>
      onError({ method: 'tasks/result' }, (message) => ({
        ...message,
        ...error(-32_603, 'the call failed'),
      })),
  ],
  [
    '2025-structured-result',
    'structured content gets lost in a task',
    () => onResult({ method: 'tasks/result' }, (result) => without(result, 'structuredContent')),
  ],
  [
    '2025-unknown-task',
    'an unknown task is an internal error',
    () =>
      onError({ method: 'tasks/result' }, (message) => ({
        ...message,
        ...error(-32_603, 'no such task'),
      })),
  ],
  [
    '2025-related-task-is-ignored',
    'related-task metadata chooses the task',
    () =>
      onParams({ method: 'tasks/get', generation: ON_2025 }, (params) => ({
        ...params,
        taskId: relatedTaskOf(params) ?? params['taskId'],
      })),
  ],
  [
    '2025-times-tell-changes',
    'reading a task changes its time',
    () =>
      onResult({ method: 'tasks/get', generation: ON_2025 }, (task) => ({
        ...task,
        lastUpdatedAt: new Date().toISOString(),
      })),
  ],
  [
    '2025-question-on-result-stream',
    'a question does not name its task',
    () =>
      onSent(QUESTION, (message) => [
        { ...message, params: withoutRelatedTask(paramsOf(message)) },
      ]),
  ],
  [
    '2025-question-on-get-stream',
    'nothing is asked on the standalone stream',
    () => onSent(QUESTION, (message, seen) => (seen.httpMethod === 'GET' ? [] : [message])),
  ],
  [
    '2025-one-question-at-a-time',
    'a question goes out twice',
    () =>
      onSent(QUESTION, (message) => [
        message,
        { ...message, id: `again-${String(message['id'])}` },
      ]),
  ],
  ['2025-question-comes-again', 'a question whose stream broke is lost', askingOnce],
  [
    '2025-two-questions',
    'of two questions one is asked',
    () =>
      onSent(QUESTION, (message) =>
        String(paramsOf(message)['message']).startsWith('Second') ? [] : [message],
      ),
  ],
  [
    '2025-decline-is-an-answer',
    'a decline is not heard',
    () => ({
      answer: (seen) =>
        at(seen.body, 'result')['action'] === 'decline' ? { status: 202 } : undefined,
    }),
  ],
  [
    '2025-cancel-while-asking',
    'a question is not withdrawn',
    () => onSent('notifications/cancelled', () => []),
  ],
  [
    '2025-undeclared-mode-is-not-asked',
    'URLs are opened with whoever can fill in forms',
    () =>
      onParams({ method: 'initialize' }, (params) => ({
        ...params,
        capabilities: { ...at(params, 'capabilities'), elicitation: { form: {}, url: {} } },
      })),
  ],
  [
    '2025-sampling-is-asked',
    'sampling is never asked for',
    () => onSent('sampling/createMessage', () => []),
  ],
  [
    '2025-plain-call-asks-on-its-own-stream',
    'a plain call cannot ask',
    () => onSent(QUESTION, (message, seen) => (isPlainStream(seen) ? [] : [message])),
  ],
  ['2025-foreign-answer-is-ignored', "anybody's answer counts", takingAnyAnswer],
  [
    '2025-cancel',
    'cancel answers before anything changed',
    () =>
      onResult({ method: 'tasks/cancel', generation: ON_2025 }, (task) => ({
        ...task,
        status: 'working',
      })),
  ],
  [
    '2025-cancel-of-terminal',
    'cancelling what has ended is no error',
    () =>
      onError({ method: 'tasks/cancel', generation: ON_2025 }, (message, seen) =>
        asResult(message, { taskId: paramsOf(seen.body)['taskId'], status: 'completed' }),
      ),
  ],
  ['2025-cancelled-stays', 'a cancelled task completes with its work', completingAfterCancel],
  [
    '2025-result-of-cancelled',
    'the result of a cancelled task is an invalid parameter',
    () =>
      onError({ method: 'tasks/result' }, (message) => ({
        ...message,
        ...error(-32_602, 'no such task'),
      })),
  ],
  [
    '2025-disconnect-is-no-cancel',
    'a client that goes away cancels its call',
    () => cancellingOnDisconnect,
  ],
  ['2025-notification-cancels-no-task', 'a notification cancels a task', cancellingByNotification],
  [
    '2025-notification-cancels-plain-call',
    'a plain call cannot be cancelled',
    () => ({
      answer: (seen) =>
        methodOf(seen) === 'notifications/cancelled' ? { status: 202 } : undefined,
    }),
  ],
  [
    '2025-list-is-complete',
    'a list ends with its first page',
    () => onResult({ method: 'tasks/list' }, (result) => without(result, 'nextCursor')),
  ],
  ['2025-list-is-isolated', "everybody's tasks are listed", listingForAll],
  [
    '2025-cursor-is-checked',
    'an unknown cursor starts over',
    () =>
      onParams({ method: 'tasks/list' }, (params) =>
        params['cursor'] === 'made-up' ? {} : params,
      ),
  ],
  [
    '2025-status-is-told',
    'a status is told with related-task metadata',
    () =>
      onSent('notifications/tasks/status', (message) => {
        const params = paramsOf(message);
        return [{ ...message, params: withRelatedTask(params, params['taskId']) }];
      }),
  ],
  [
    '2025-progress-goes-on',
    'progress of a task has a token of its own',
    () =>
      onSent('notifications/progress', (message) => [
        { ...message, params: { ...paramsOf(message), progressToken: 'another' } },
      ]),
  ],
  [
    '2025-nothing-is-told-twice',
    'progress is told twice',
    () => onSent('notifications/progress', (message) => [message, message]),
  ],
  ['2025-others-are-told-nothing', 'what happens to a task is told to all', broadcasting],
  ['2025-session-is-needed', 'a request needs no session', rememberingTheSession],
  [
    '2025-ended-session-is-gone',
    'a session does not end',
    () => ({ answer: (seen) => (seen.httpMethod === 'DELETE' ? { status: 204 } : undefined) }),
  ],
  [
    '2025-version-header',
    'any version will do',
    () =>
      onHeaders((headers, seen) =>
        isModern(seen) ? headers : (without(headers, 'mcp-protocol-version') as Seen['headers']),
      ),
  ],
  [
    '2025-version-is-negotiated',
    'every version is agreed to',
    () =>
      onResult({ method: 'initialize' }, (result, seen) => ({
        ...result,
        protocolVersion: paramsOf(seen.body)['protocolVersion'],
      })),
  ],
  [
    '2025-accepted-without-answer',
    'a notification is answered with 200',
    () => ({ status: (status) => (status === 202 ? 200 : status) }),
  ],
  [
    '2025-knows-no-update',
    'tasks/update is acknowledged',
    () =>
      onError({ method: 'tasks/update', generation: ON_2025 }, (message) => asResult(message, {})),
  ],
  [
    'origin-is-checked',
    'any Origin will do',
    () => onHeaders((headers) => without(headers, 'origin') as Seen['headers']),
  ],
  [
    'wrong-token-is-refused',
    'a wrong token is none',
    () => ({ status: (status) => (status === 401 ? 200 : status) }),
  ],
  [
    'broken-body-is-refused',
    'a broken body is a broken server',
    () => ({ status: (status) => (status === 400 ? 500 : status) }),
  ],
];

/** Mistakes on 2025-11-25 and on what both generations share, one for each check. */
export const MUTANTS_2025: readonly Mutant[] = ROWS.map(([rejectedBy, title, create]) => ({
  id: `not-${rejectedBy}`,
  title,
  rejectedBy,
  create,
}));
