import type { Writable } from 'node:stream';
import type { JsonObject } from '../../../kernel/json.ts';
import { createTurns, type Lane } from '../generation-2025/lane.ts';
import type { Delivery } from '../reply.ts';

/** A reader that lets more than this pile up is not reading. */
const BACKLOG_BYTES_MAX = 48 * 1024 * 1024;

/** Standard output as a lane: one JSON-RPC message a line, nothing else ever. */
export interface Pipe extends Lane {
  write(message: JsonObject): Promise<Delivery>;
  /** Resolves when everything written so far was handed over, or cannot be. */
  flushed(): Promise<void>;
  /** Nothing is written any more. */
  close(): void;
}

const NOT_KEPT = { takeBack: () => undefined };

/** `onBroken`: the reader is gone. */
export function createPipe(output: Writable, onBroken: () => void): Pipe {
  const turns = createTurns();
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    turns.tell();
  };
  const broken = (): void => {
    close();
    onBroken();
  };
  output.on('error', broken);
  output.once('close', broken);
  const writing = new Set<Promise<Delivery>>();
  const write = (message: JsonObject): Promise<Delivery> => {
    if (!open || output.destroyed) return Promise.resolve('gone');
    const written = new Promise<Delivery>((resolve) => {
      output.write(`${JSON.stringify(message)}\n`, (error) => resolve(error ? 'gone' : 'written'));
    }).finally(() => writing.delete(written));
    writing.add(written);
    if (output.writableLength > BACKLOG_BYTES_MAX) broken();
    return written;
  };
  return {
    write,
    flushed: async () => void (await Promise.all(writing)),
    close,
    isOpen: () => open,
    onTurn: turns.onTurn,
    send(message) {
      void write(message);
      return NOT_KEPT;
    },
  };
}
