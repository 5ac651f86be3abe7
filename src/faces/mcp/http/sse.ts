import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Delivery } from '../reply.ts';

/** A reader that lets more than this pile up is not reading: it is cut off, and may come back. */
const BACKLOG_BYTES_MAX = 48 * 1024 * 1024;

const SSE_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no', // G2-108: no proxy in between may hold events back
} as const;

/** One HTTP response that carries events for as long as its socket lives. */
export interface SseSocket {
  isOpen(): boolean;
  /** Tells what became of the text once it was handed to the system, or the socket went away before. */
  write(text: string): Promise<Delivery>;
  end(): void;
  destroy(): void;
}

export interface SseOptions {
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onClose?: () => void;
}

function keepAlive(res: ServerResponse, { clock, keepAliveMs }: SseOptions): () => void {
  let timer: Timer;
  const arm = (): void => {
    timer = clock.after(keepAliveMs, () => {
      res.write(': keep-alive\n\n');
      arm();
    });
  };
  arm();
  return () => timer.cancel();
}

function writeTo(res: ServerResponse, text: string): Promise<Delivery> {
  if (res.destroyed || res.writableEnded) return Promise.resolve('gone');
  return new Promise((resolve) => {
    res.write(text, (error) => resolve(error ? 'gone' : 'written'));
    if (res.writableLength > BACKLOG_BYTES_MAX) res.destroy();
  });
}

/** One message as an event. */
export const sseText = (message: JsonObject, id?: string): string =>
  `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;

/** Answers with an event stream: the headers leave at once, a comment at least every `keepAliveMs`. */
export function openSse(res: ServerResponse, options: SseOptions): SseSocket {
  res.writeHead(200, { ...SSE_HEADERS, ...options.headers });
  res.flushHeaders();
  const stop = keepAlive(res, options);
  res.on('error', () => undefined); // 'close' follows and says all there is to say
  res.once('close', () => {
    stop();
    options.onClose?.();
  });
  return {
    isOpen: () => !res.destroyed && !res.writableEnded,
    write: (text) => writeTo(res, text),
    end: () => void res.end(),
    destroy: () => void res.destroy(),
  };
}
