import type { Readable } from 'node:stream';

export interface LineHandlers {
  line(text: string): void;
  /** A line that is no UTF-8 text, or longer than allowed; reading goes on with the next. */
  bad(why: 'not_utf8' | 'too_long'): void;
  end(): void;
}

const NEWLINE = 0x0a;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Cuts a byte stream into lines. Never holds more than one line of `maxBytes`; whatever comes, it goes on. */
export function readLines(input: Readable, maxBytes: number, handlers: LineHandlers): () => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let skipping = false;

  const hold = (bytes: Buffer): void => {
    if (skipping) return;
    heldBytes += bytes.length;
    if (heldBytes <= maxBytes) return void held.push(bytes);
    skipping = true;
    held = [];
    handlers.bad('too_long');
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
    const wasSkipping = skipping;
    held = [];
    heldBytes = 0;
    skipping = false;
    if (wasSkipping) return;
    const text = decode(bytes);
    if (text === undefined) handlers.bad('not_utf8');
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
