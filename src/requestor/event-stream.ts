import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { messageOf } from '../kernel/logger.ts';
import { ExchangeError } from './http-exchange.ts';

export interface EventStreamListener {
  /** Data of one message event. */
  onData(text: string): void;
  onId(id: string): void;
  /** The peer's wish how long to wait before connecting again. */
  onRetry(retryMs: number): void;
}

/** How an event stream came to its end. */
export type StreamEnd = 'ended' | 'too_large';

/** Reads server-sent events until the stream ends. Rejects with ExchangeError when it breaks. */
export async function readEvents(
  response: IncomingMessage,
  maxChars: number,
  listener: EventStreamListener,
): Promise<StreamEnd> {
  let tooLarge = false;
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: maxChars,
    onEvent({ id, event, data }) {
      if (id !== undefined) listener.onId(id);
      if (data !== '' && (event === undefined || event === 'message')) listener.onData(data);
    },
    onRetry: (retryMs) => listener.onRetry(retryMs),
    onError: (error) => void (tooLarge ||= error.type === 'max-buffer-size-exceeded'),
  });
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parser.feed(decoder.decode(part, { stream: true }));
      if (tooLarge) return 'too_large';
    }
  } catch (error) {
    throw new ExchangeError({ kind: 'lost', problem: messageOf(error) }, error);
  }
  return 'ended';
}
