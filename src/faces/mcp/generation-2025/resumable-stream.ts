import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { openSse, sseText, type SseSocket } from '../http/sse.ts';
import type { Delivery } from '../reply.ts';
import { createEventLog } from './event-log.ts';
import { createTurns, type Lane } from './lane.ts';

/** What clients are told to wait before they come back (G1-128). */
const RETRY_MS = 1000;

export interface ResumableStream extends Lane {
  readonly id: string;
  /** Takes over a response: replays what came after that event, then goes on (G1-129). The newest socket wins. */
  attach(res: ServerResponse, afterSequence: number): void;
  /** Sends an answer; the callback hears when it was written, at once or on a resumption, or that it never will be. */
  answer(message: JsonObject, onDelivery: (delivery: Delivery) => void): void;
  /** Nothing follows: ends the response, now or after a replay. */
  finish(): void;
  /** Ends the socket early with the hint to come back. */
  interrupt(): void;
  /** Gives up on a resumption. */
  forget(): void;
  /** Finished, and every answer was written: nobody needs to come back. */
  isDone(): boolean;
}

export interface StreamOptions {
  readonly id: string;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly sessionId: string;
  /** An event with an id and no data, first: from 2025-11-25 on, older clients choke on it (G1-128). */
  readonly primes: boolean;
}

/** One event stream of a session, which outlives its sockets. */
export function createResumableStream(options: StreamOptions): ResumableStream {
  const { id, sessionId, primes } = options;
  const turns = createTurns();
  const log = createEventLog();
  const undelivered = new Set<(delivery: Delivery) => void>();
  let socket: SseSocket | undefined;
  let finished = false;

  const emit = (message: JsonObject): { sequence: number; written: Promise<Delivery> } => {
    const { sequence, text } = log.add((number) => sseText(message, `${id}-${number}`));
    return { sequence, written: socket?.write(text) ?? Promise.resolve('gone') };
  };
  const settle = (delivery: Delivery): void => {
    for (const onDelivery of undelivered) onDelivery(delivery);
    undelivered.clear();
  };
  const write = (text: string): void => void socket?.write(text);
  const replay = (afterSequence: number): void => {
    if (afterSequence === 0 && log.isEmpty() && primes)
      write(`id: ${id}-0\nretry: ${RETRY_MS}\ndata: \n\n`);
    log.after(afterSequence).forEach(write);
    if (!finished) return;
    socket?.end();
    settle('written');
  };

  return {
    id,
    isOpen: () => socket?.isOpen() === true,
    onTurn: turns.onTurn,
    isDone: () => finished && undelivered.size === 0,
    attach(res, afterSequence) {
      socket?.destroy();
      const headers = { 'mcp-session-id': sessionId };
      const onClose = (): void => void (socket === next && turns.tell());
      const next = openSse(res, { ...options, headers, onClose });
      socket = next;
      replay(afterSequence);
      turns.tell();
    },
    send(message) {
      const { sequence } = emit(message);
      return { takeBack: () => log.takeBack(sequence) };
    },
    answer(message, onDelivery) {
      undelivered.add(onDelivery);
      void emit(message).written.then((delivery) => {
        if (delivery === 'written' && undelivered.delete(onDelivery)) onDelivery('written');
      });
    },
    finish() {
      finished = true;
      socket?.end();
    },
    interrupt() {
      write(`retry: ${RETRY_MS}\n\n`);
      socket?.end();
    },
    forget() {
      socket?.destroy();
      log.clear();
      settle('gone');
    },
  };
}
