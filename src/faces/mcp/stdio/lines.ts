import type { Readable } from 'node:stream';
import { createEnvelopeScanner } from '../../../kernel/envelope-scanner.ts';

export interface LineHandlers {
  line(text: string): void;
  /** A line that is no UTF-8 text, or longer than allowed; reading goes on with the next. */
  bad(bad: BadLine): void;
  end(): void;
}

export type BadLine =
  | { readonly why: 'not_utf8' }
  /** `ids`: of the requests in it, as JSON: who sent one waits for an answer, however long it was. */
  | { readonly why: 'too_long'; readonly ids: readonly string[] };

/** Most requests of one line that are answered; more are a batch that no revision has. */
const IDS_MAX = 100;

const NEWLINE = 0x0a;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A line that is not kept: only the ids in it are. */
interface SkippedLine {
  push(bytes: Buffer): void;
  ids(): readonly string[];
}

function skipLine(begun: readonly Buffer[]): SkippedLine {
  const ids: string[] = [];
  const scanner = createEnvelopeScanner(({ id, method }) => {
    if (id !== undefined && method !== undefined && ids.length < IDS_MAX) ids.push(id);
  });
  for (const bytes of begun) scanner.push(bytes);
  return { push: (bytes) => scanner.push(bytes), ids: () => ids };
}

/** Cuts a byte stream into lines. Never holds more than one line of `maxBytes`; whatever comes, it goes on. */
export function readLines(input: Readable, maxBytes: number, handlers: LineHandlers): () => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let skipped: SkippedLine | undefined;

  const hold = (bytes: Buffer): void => {
    if (skipped) return skipped.push(bytes);
    heldBytes += bytes.length;
    held.push(bytes);
    if (heldBytes <= maxBytes) return;
    skipped = skipLine(held);
    held = [];
  };
  const decode = (bytes: Buffer): string | undefined => {
    try {
      return UTF8.decode(bytes);
    } catch {
      return undefined;
    }
  };
  const flush = (): void => {
    const bytes = Buffer.concat(held);
    const tooLong = skipped;
    held = [];
    heldBytes = 0;
    skipped = undefined;
    if (tooLong) return handlers.bad({ why: 'too_long', ids: tooLong.ids() });
    const text = decode(bytes);
    if (text === undefined) handlers.bad({ why: 'not_utf8' });
    else if (text.trim() !== '') handlers.line(text);
  };
  const onData = (chunk: Buffer | string): void => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      hold(bytes.subarray(from, at));
      flush();
      from = at + 1;
    }
    if (from < bytes.length) hold(bytes.subarray(from));
  };
  let ended = false;
  const onEnd = (): void => {
    if (ended) return;
    ended = true;
    flush();
    handlers.end();
  };
  input.on('data', onData);
  input.once('end', onEnd);
  input.once('close', onEnd);
  input.once('error', onEnd);
  return () => {
    ended = true;
    input.off('data', onData);
    input.pause();
  };
}
