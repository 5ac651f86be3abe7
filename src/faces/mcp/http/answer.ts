import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../../../kernel/json.ts';
import type { RpcError } from '../../../protocol/model.ts';
import { errorOfThrown, type FailureSink } from '../failures.ts';
import type { RpcId } from '../message.ts';
import { responseOf, type Delivery } from '../reply.ts';

type Headers = Readonly<Record<string, string>>;

/** What became of a response that has been ended: handed to the system whole, or cut off. */
export function deliveryOf(res: ServerResponse): Promise<Delivery> {
  if (res.destroyed) return Promise.resolve('gone');
  return new Promise((resolve) => {
    res.once('finish', () => resolve('written'));
    res.once('close', () => resolve(res.writableFinished ? 'written' : 'gone'));
    res.once('error', () => resolve('gone'));
  });
}

/** Answers with one JSON body. Never cached by anybody on the way: what a task says now is old a moment later (T33). */
export function sendJson(
  res: ServerResponse,
  body: JsonObject,
  options: { readonly status?: number; readonly headers?: Headers | undefined } = {},
): Promise<Delivery> {
  if (res.destroyed || res.headersSent) return Promise.resolve('gone');
  const text = Buffer.from(JSON.stringify(body));
  res.writeHead(options.status ?? 200, {
    'content-type': 'application/json',
    'content-length': text.length,
    'cache-control': 'no-store',
    ...options.headers,
  });
  const delivery = deliveryOf(res);
  res.end(text);
  return delivery;
}

/** Refuses at the door: an HTTP status with a JSON-RPC error. */
export function refuse(
  res: ServerResponse,
  error: RpcError,
  options: { readonly status: number; readonly id?: RpcId | null; readonly headers?: Headers },
): void {
  const body = responseOf(options.id ?? null, { kind: 'error', error });
  void sendJson(res, body, { status: options.status, headers: options.headers });
}

/** An answer that cannot be written costs its own response and nothing else. */
export function unanswerable(face: FailureSink, res: ServerResponse, thrown: unknown): void {
  const error = errorOfThrown(face, thrown);
  if (res.headersSent) res.destroy();
  else refuse(res, error, { status: 500 });
}

/** 202: a notification or a response was taken; there is nothing to say (G1-125, G2-155). */
export function accept(res: ServerResponse): void {
  if (!res.destroyed) res.writeHead(202, { 'content-length': 0 }).end();
}
