import type { Json, Mutant, Mutation } from './mutation.ts';
import {
  asResult,
  at,
  createdId,
  isModern,
  methodOf,
  onError,
  onParams,
  onResult,
  onSent,
  paramsOf,
  relatedTaskOf,
  without,
} from './mutation.ts';
import { CAPABILITIES, capabilitiesOf } from './official.ts';
import {
  askingForEver,
  forgettingAnswers,
  keepingForEver,
  onTold,
  openingByIdAlone,
  openingBySessionAlone,
  PROGRESS,
  readingStale,
  rememberingCapabilities,
  separatingGenerations,
  tellingChangesOnly,
  tellingForeignFromUnknown,
} from './stateful-2026.ts';

const GET_2026 = { method: 'tasks/get', generation: '2026' } as const;
const GET_2025 = { method: 'tasks/get', generation: '2025' } as const;

const error = (code: number, message: string): Json => ({ error: { code, message } });

type Row = readonly [rejectedBy: string, title: string, create: () => Mutation];

const ROWS: readonly Row[] = [
  [
    '2026-discover',
    'the capability of 2025-11-25 is advertised',
    () =>
      onResult({ method: 'server/discover' }, (result) => ({
        ...result,
        capabilities: { ...at(result, 'capabilities'), tasks: { list: {} } },
      })),
  ],
  [
    '2026-tools-have-no-execution',
    'tools say their mode',
    () =>
      onResult({ method: 'tools/list', generation: '2026' }, (result) => ({
        ...result,
        tools: (result['tools'] as Json[]).map((tool) => ({
          ...tool,
          execution: { taskSupport: 'optional' },
        })),
      })),
  ],
  [
    '2026-each-request-for-itself',
    'what was declared once holds for ever',
    rememberingCapabilities,
  ],
  [
    '2026-envelope-is-checked',
    'Mcp-Method is not looked at',
    () => ({
      request: (seen) =>
        isModern(seen)
          ? { ...seen, headers: { ...seen.headers, 'mcp-method': String(methodOf(seen)) } }
          : seen,
    }),
  ],
  [
    '2026-has-no-sessions',
    'a session is made',
    () => ({
      headers: (headers, seen) =>
        isModern(seen) ? { ...headers, 'mcp-session-id': 'a-session' } : headers,
    }),
  ],
  [
    '2026-notifications-are-accepted',
    'a notification is answered',
    () => ({
      answer: ({ headers, body }) =>
        headers['mcp-method']?.startsWith('notifications/') && body?.['id'] === undefined
          ? { status: 200, body: { jsonrpc: '2.0', id: null, result: {} } }
          : undefined,
    }),
  ],
  [
    '2026-foreign-metadata-means-nothing',
    'related-task metadata chooses the task',
    () => ({
      request(seen) {
        const params = paramsOf(seen.body);
        const taskId =
          isModern(seen) && methodOf(seen) === 'tasks/get' ? relatedTaskOf(params) : undefined;
        if (taskId === undefined) return seen;
        const headers = { ...seen.headers, 'mcp-name': String(taskId) };
        return { ...seen, headers, body: { ...seen.body, params: { ...params, taskId } } };
      },
    }),
  ],
  [
    '2026-create-shape',
    'a task is created nested',
    () =>
      onResult({ method: 'tools/call', generation: '2026' }, (result) =>
        result['resultType'] === 'task'
          ? { ...result, task: without(result, 'resultType') }
          : result,
      ),
  ],
  [
    '2026-results-are-signed',
    'an acknowledgement is empty',
    () => onResult({ method: 'tasks/update' }, () => ({ resultType: 'complete' })),
  ],
  [
    '2026-no-text-for-the-model',
    'a handle speaks to the model',
    () =>
      onResult({ method: 'tools/call', generation: '2026' }, (result) => {
        const name = 'io.modelcontextprotocol/model-immediate-response';
        return { ...result, _meta: { ...at(result, '_meta'), [name]: 'it runs' } };
      }),
  ],
  [
    '2026-result-inline',
    'a task whose tool reported an error is failed',
    () =>
      onResult(GET_2026, (task) =>
        at(task, 'result')['isError'] === true ? { ...task, status: 'failed' } : task,
      ),
  ],
  [
    '2026-unknown-task-get',
    'an unknown task is an internal error',
    () => onError(GET_2026, (message) => ({ ...message, ...error(-32_603, 'no such task') })),
  ],
  [
    '2026-cancel-stops-the-work',
    'a cancelled task carries a result',
    () =>
      onResult(GET_2026, (task) =>
        task['status'] === 'cancelled' ? { ...task, result: { content: [] } } : task,
      ),
  ],
  [
    '2026-disconnect-cancels-the-call',
    'a call outlives its client',
    () => ({ disconnected: () => true }),
  ],
  [
    '2026-task-has-no-progress',
    'progress comes before the task',
    () => ({
      framing: (seen) => (isModern(seen) && methodOf(seen) === 'tools/call' ? 'stream' : undefined),
      message: (message, seen) =>
        createdId(message, seen) === undefined ? [message] : [PROGRESS, message],
    }),
  ],
  [
    '2026-plain-call-has-progress',
    'no progress is told',
    () => onSent('notifications/progress', () => []),
  ],
  ['2026-keys-are-used-once', 'answered questions are asked again', askingForEver],
  ['2026-update-is-seen-at-once', 'a read is older than the update before it', readingStale],
  [
    '2026-malformed-answer',
    'any answer is acknowledged',
    () =>
      onError({ method: 'tasks/update' }, (message) =>
        asResult(message, { resultType: 'complete' }),
      ),
  ],
  [
    '2026-update-without-answers',
    'an update without answers is refused',
    () => ({
      message(message, seen) {
        const answers = Object.keys(at(paramsOf(seen.body), 'inputResponses'));
        const isMeant = methodOf(seen) === 'tasks/update' && answers.length === 0;
        return [
          isMeant
            ? { jsonrpc: '2.0', id: message['id'], ...error(-32_602, 'nothing is answered') }
            : message,
        ];
      },
    }),
  ],
  [
    '2026-undeclared-kinds-are-not-asked',
    'everybody is asked everything',
    () => ({
      request(seen) {
        const params = paramsOf(seen.body);
        const all = { ...capabilitiesOf(seen), sampling: {}, elicitation: { form: {}, url: {} } };
        const _meta = { ...at(params, '_meta'), [CAPABILITIES]: all };
        return isModern(seen)
          ? { ...seen, body: { ...seen.body, params: { ...params, _meta } } }
          : seen;
      },
    }),
  ],
  [
    '2026-call-without-task-asks',
    'a forged requestState is accepted',
    () =>
      onParams({ method: 'tools/call' }, (params) => {
        const state = params['requestState'];
        return typeof state === 'string'
          ? { ...params, requestState: state.replace(/x$/, '') }
          : params;
      }),
  ],
  [
    '2026-sampling-is-asked',
    'every question is shown as a form',
    () =>
      onResult(GET_2026, (task) => {
        const asked = Object.entries(at(task, 'inputRequests'));
        const forms = asked.map(([key, request]) => [
          key,
          { ...(request as Json), method: 'elicitation/create' },
        ]);
        return asked.length > 0 ? { ...task, inputRequests: Object.fromEntries(forms) } : task;
      }),
  ],
  [
    '2026-anonymous-is-asked',
    'nobody is asked who has no name',
    () => ({
      request(seen) {
        const params = paramsOf(seen.body);
        const meta = at(params, '_meta');
        const capabilities = without(capabilitiesOf(seen), 'elicitation');
        if (!isModern(seen) || seen.headers['authorization'] !== undefined) return seen;
        const _meta = { ...meta, [CAPABILITIES]: capabilities };
        return { ...seen, body: { ...seen.body, params: { ...params, _meta } } };
      },
    }),
  ],
  [
    '2026-listen-is-acknowledged',
    'messages do not carry their subscription',
    () => onTold((params) => without(params, '_meta')),
  ],
  ['2026-listen-shows-the-task', 'only changes are told', tellingChangesOnly],
  [
    '2026-listen-ends-with-its-tasks',
    'a subscription is not answered',
    () => ({
      message: (message, seen) =>
        methodOf(seen) === 'subscriptions/listen' && message['result'] !== undefined
          ? []
          : [message],
    }),
  ],
  [
    '2026-listen-shows-questions',
    'questions are told without their keys',
    () => onTold((params) => without(params, 'inputRequests')),
  ],
  [
    '2026-listen-keeps-to-its-filter',
    'progress is told on a subscription',
    () => onSent('notifications/subscriptions/acknowledged', (message) => [message, PROGRESS]),
  ],
  [
    '2026-questions-go-in-silence',
    'a question that goes is cancelled like a request',
    () =>
      onSent('notifications/tasks', (message) => {
        const keys = Object.keys(at(paramsOf(message), 'inputRequests'));
        const method = 'notifications/cancelled';
        return [
          message,
          ...keys.map((requestId) => ({ jsonrpc: '2.0', method, params: { requestId } })),
        ];
      }),
  ],
  [
    '2026-listen-tells-cancels',
    'a cancel is not told',
    () => onTold((params) => (params['status'] === 'cancelled' ? undefined : params)),
  ],
  ['2025-foreign-task', 'a foreign task is told from an unknown one', tellingForeignFromUnknown],
  ['2026-foreign-task', 'who knows the id may use the task', openingByIdAlone],
  ['2026-foreign-listen', 'who knows the id may listen', openingByIdAlone],
  ['2025-session-is-no-identity', 'who knows the session may use it', openingBySessionAlone],
  ['both-generations-read-one-task', 'a task stays in its generation', separatingGenerations],
  [
    'both-generations-answer-once',
    'an answer from the other generation is lost',
    forgettingAnswers,
  ],
  [
    'eager-polls-are-answered',
    'every second poll comes too early',
    () => {
      let polls = 0;
      return {
        answer({ body }) {
          if (body?.['method'] !== 'tasks/get') return undefined;
          polls += 1;
          const early = { jsonrpc: '2.0', id: body['id'], ...error(-32_000, 'too early') };
          return polls % 2 === 0 ? { status: 429, body: early } : undefined;
        },
      };
    },
  ],
  [
    'nothing-is-invented-under-reserved-names',
    'a name of our own stands under the prefix of the protocol',
    () =>
      onResult({ method: 'tools/list', generation: '2026' }, (result) => ({
        ...result,
        _meta: { ...at(result, '_meta'), 'io.modelcontextprotocol/longcall': true },
      })),
  ],
  ['record-expires', 'a record never expires', keepingForEver],
  [
    'ttl-is-said-alike',
    'the ttl of 2025-11-25 is in seconds',
    () => onResult(GET_2025, (task) => ({ ...task, ttl: Number(task['ttl']) / 1_000 })),
  ],
];

/** Mistakes on 2026-07-28 and on what lies between the generations, one for each check that M1 to M10 leave. */
export const MUTANTS_2026: readonly Mutant[] = ROWS.map(([rejectedBy, title, create]) => ({
  id: `not-${rejectedBy}`,
  title,
  rejectedBy,
  create,
}));
