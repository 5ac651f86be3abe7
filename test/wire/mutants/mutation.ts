import type { Message } from '../channel.ts';

export type Json = Readonly<Record<string, unknown>>;

/** One HTTP request on its way through the proxy. */
export interface Seen {
  readonly httpMethod: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined where the body is no JSON object. */
  readonly body: Message | undefined;
}

/** An answer that the proxy gives itself. */
export interface OwnAnswer {
  readonly status: number;
  readonly body?: Message;
}

/** One way to be wrong: every part that is left out leaves things as they are. */
export interface Mutation {
  /** Changes a request before the server sees it. */
  request?(seen: Seen): Seen;
  /** Answers in the server's stead. */
  answer?(seen: Seen): OwnAnswer | undefined;
  /** Changes a message of the answer: to nothing, itself, another one or several. */
  message?(message: Message, seen: Seen): readonly Message[];
  status?(status: number, seen: Seen, message: Message | undefined): number;
  headers?(headers: Readonly<Record<string, string>>, seen: Seen): Readonly<Record<string, string>>;
  /** How the answer is framed, where that is not left to the server. */
  framing?(seen: Seen): 'json' | 'stream' | undefined;
  /** Hears of a stream that has opened, with a way to write on it. */
  opened?(seen: Seen, write: (message: Message) => void): void;
  /** Hears that the client went away; true keeps that from the server. */
  disconnected?(seen: Seen, send: (body: Message) => void): boolean;
}

/** A server with one mistake, and the check that must reject it. */
export interface Mutant {
  readonly id: string;
  readonly title: string;
  readonly rejectedBy: string;
  create(): Mutation;
}

/** The object at a key, or an empty one. */
export function at(value: unknown, key: string): Json {
  const found = (value as Json | undefined)?.[key];
  return typeof found === 'object' && found !== null ? (found as Json) : {};
}

/** A copy without some members. */
export const without = (value: Json, ...keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));

export const paramsOf = (message: Message | undefined): Json => at(message, 'params');
export const isModern = (seen: Seen): boolean => seen.headers['mcp-method'] !== undefined;
export const methodOf = (seen: Seen): unknown => seen.body?.['method'];

/** Whether an answer is to this method, in this generation where one is named. */
const isTo = (seen: Seen, method: string, generation?: '2025' | '2026'): boolean =>
  methodOf(seen) === method &&
  (generation === undefined || (generation === '2026') === isModern(seen));

/** Which answers a change is about. */
export interface Scope {
  readonly method: string;
  readonly generation?: '2025' | '2026';
}

/** Changes the results of a method. */
export function onResult(scope: Scope, change: (result: Json, seen: Seen) => Json): Mutation {
  return {
    message(message, seen) {
      const isMeant = message['result'] !== undefined && isTo(seen, scope.method, scope.generation);
      return [isMeant ? { ...message, result: change(at(message, 'result'), seen) } : message];
    },
  };
}

/** Turns the errors of a method into something else. */
export function onError(scope: Scope, change: (message: Message, seen: Seen) => Message): Mutation {
  return {
    message(message, seen) {
      const isMeant = message['error'] !== undefined && isTo(seen, scope.method, scope.generation);
      return [isMeant ? change(message, seen) : message];
    },
  };
}

/** Answers a JSON-RPC error with a result. */
export const asResult = ({ id }: Message, result: Json): Message => ({
  jsonrpc: '2.0',
  id,
  result,
});

/** Changes the params of a method's requests. */
export function onParams(scope: Scope, change: (params: Json, seen: Seen) => Json): Mutation {
  return {
    request: (seen) =>
      isTo(seen, scope.method, scope.generation)
        ? { ...seen, body: { ...seen.body, params: change(paramsOf(seen.body), seen) } }
        : seen,
  };
}

/** Changes or drops what the server sends unasked: notifications and requests. */
export function onSent(
  method: string,
  change: (message: Message, seen: Seen) => readonly Message[],
): Mutation {
  return {
    message: (message, seen) => (message['method'] === method ? change(message, seen) : [message]),
  };
}

/** Changes the headers of requests. */
export const onHeaders = (
  change: (headers: Seen['headers'], seen: Seen) => Seen['headers'],
): Mutation => ({
  request: (seen) => ({ ...seen, headers: change(seen.headers, seen) }),
});

const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** Members of `_meta` without the related task. */
export function withoutRelatedTask(value: Json): Json {
  return { ...value, _meta: without(at(value, '_meta'), RELATED_TASK) };
}

/** The same with one. */
export const withRelatedTask = (value: Json, taskId: unknown): Json => ({
  ...value,
  _meta: { ...at(value, '_meta'), [RELATED_TASK]: { taskId } },
});

export const relatedTaskOf = (value: Json): unknown =>
  at(at(value, '_meta'), RELATED_TASK)['taskId'];

/** The id of the task that an answer created, in either generation. */
export function createdId(message: Message, seen: Seen): string | undefined {
  if (methodOf(seen) !== 'tools/call') return undefined;
  const result = at(message, 'result');
  const taskId = result['resultType'] === 'task' ? result['taskId'] : at(result, 'task')['taskId'];
  return typeof taskId === 'string' ? taskId : undefined;
}
