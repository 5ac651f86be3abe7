import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Message } from '../channel.ts';
import type { Mutation, OwnAnswer, Seen } from './mutation.ts';

/** A server that passes everything on to another and alters what its mutation says. */
export interface MutatingProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** Headers that belong to one connection, and those that a changed body makes untrue. */
const OF_THE_HOP = [
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'accept-encoding',
  'content-encoding',
];

/** Stands between a client and the server at `upstream`. Without a mutation it changes nothing. */
export async function startMutatingProxy(
  upstream: string,
  mutation: Mutation = {},
): Promise<MutatingProxy> {
  const http = createServer((req, res) => {
    void pass({ upstream, mutation, req, res }).catch(() => res.destroy());
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

interface Passage {
  readonly upstream: string;
  readonly mutation: Mutation;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

async function pass({ upstream, mutation, req, res }: Passage): Promise<void> {
  const text = await readBody(req);
  const original: Seen = {
    httpMethod: req.method ?? '',
    headers: ownHeaders(req.headers),
    body: parseObject(text),
  };
  const own = mutation.answer?.(original);
  if (own) return writeJson(res, own);
  const seen = mutation.request?.(original) ?? original;
  const response = await forward({ upstream, mutation, res, seen, text });
  const headers = ownHeaders(Object.fromEntries(response.headers));
  const changed = { ...(mutation.headers?.(headers, seen) ?? headers) };
  const isStream = headers['content-type']?.includes('text/event-stream') ?? false;
  const framing = mutation.framing?.(seen) ?? (isStream ? 'stream' : 'json');
  const change = (message: Message): readonly Message[] =>
    mutation.message?.(message, seen) ?? [message];
  if (framing === 'stream' && response.ok) {
    const status = mutation.status?.(response.status, seen, undefined) ?? response.status;
    res.writeHead(status, { ...changed, 'content-type': 'text/event-stream' });
    res.flushHeaders();
    const write = (message: Message): void =>
      void res.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    mutation.opened?.(seen, write);
    for await (const message of readMessages(response, isStream)) change(message).forEach(write);
    return void res.end();
  }
  const messages: Message[] = [];
  for await (const message of readMessages(response, isStream)) messages.push(...change(message));
  const last = messages.at(-1);
  const status = mutation.status?.(response.status, seen, last) ?? response.status;
  const answer = last ? { status, body: last } : { status };
  return writeJson(res, answer, without(changed, 'content-type'));
}

async function forward({
  upstream,
  mutation,
  res,
  seen,
  text,
}: Omit<Passage, 'req'> & { seen: Seen; text: string }): Promise<Response> {
  const leave = new AbortController();
  const send = (body: Message, signal?: AbortSignal): Promise<Response> =>
    fetch(upstream, {
      method: 'POST',
      headers: seen.headers,
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });
  res.once('close', () => {
    if (res.writableFinished) return;
    const keeps =
      mutation.disconnected?.(seen, (body) => void send(body).catch(() => undefined)) ?? false;
    if (!keeps) leave.abort();
  });
  const hasBody = seen.httpMethod === 'POST';
  const body = seen.body ? JSON.stringify(seen.body) : text;
  const { httpMethod: method, headers } = seen;
  return fetch(upstream, { method, headers, ...(hasBody ? { body } : {}), signal: leave.signal });
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function parseObject(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Message)
      : undefined;
  } catch {
    return undefined;
  }
}

async function* readMessages(response: Response, isStream: boolean): AsyncGenerator<Message> {
  if (!response.body) return;
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (!isStream) continue;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events)
      yield* parsed(
        event.replaceAll(/^(?:event|id|retry):.*$|^:.*$/gm, '').replaceAll(/^data: ?/gm, ''),
      );
  }
  if (!isStream) yield* parsed(text);
}

function* parsed(text: string): Generator<Message> {
  const message = parseObject(text);
  if (message) yield message;
}

function writeJson(
  res: ServerResponse,
  { status, body }: OwnAnswer,
  headers: Readonly<Record<string, string>> = {},
): void {
  res.writeHead(status, body ? { ...headers, 'content-type': 'application/json' } : headers);
  res.end(body ? JSON.stringify(body) : undefined);
}

function ownHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const own = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !OF_THE_HOP.includes(name),
  );
  return Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
}

const without = (headers: Readonly<Record<string, string>>, name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
