import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** One answer as it stood on the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** How the other side dealt with the bytes that it was sent. */
export interface Exchange {
  readonly answers: readonly RawAnswer[];
  /** `answered`: whole; `streaming`: an event stream that goes on; `closed`: it closed; `silent`: nothing in time. */
  readonly end: 'answered' | 'streaming' | 'closed' | 'silent';
  readonly tookMs: number;
}

export interface Sending {
  readonly port: number;
  readonly bytes: Buffer;
  /** What this side does when everything is written: waits, says that no more comes, or is gone. */
  readonly then: 'wait' | 'half-close' | 'vanish';
  /** How many answers are waited for. */
  readonly answers: number;
  readonly patienceMs: number;
}

/** A stream is watched for this long; what it has to say at once it has said by then. */
const STREAM_MS = 60;

/** Sends bytes on a connection of their own and reads what comes back, until there is no more to expect. */
export function exchange({
  port,
  bytes,
  then,
  answers: wanted,
  patienceMs,
}: Sending): Promise<Exchange> {
  const began = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let received = Buffer.alloc(0);
    let streamTimer: NodeJS.Timeout | undefined;
    const finish = (end: Exchange['end']): void => {
      clearTimeout(timer);
      clearTimeout(streamTimer);
      socket.destroy();
      const { answers, isStreaming } = readAnswers(received);
      // A stream may be ended by the other side as well: by a newer one, for example.
      const how = end === 'closed' && isStreaming ? 'streaming' : end;
      resolve({ answers, end: how, tookMs: performance.now() - began });
    };
    const timer = setTimeout(() => finish('silent'), patienceMs);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const read = readAnswers(received);
      if (read.answers.length >= wanted) finish('answered');
      else if (read.isStreaming) streamTimer ??= setTimeout(() => finish('streaming'), STREAM_MS);
    });
    socket.on('end', () => finish('closed'));
    socket.on('close', () => finish('closed'));
    socket.on('error', () => finish('closed'));
    socket.once('connect', () => write(socket, bytes, then));
  });
}

function write(socket: Socket, bytes: Buffer, then: Sending['then']): void {
  if (then === 'half-close') socket.end(bytes);
  else socket.write(bytes, () => (then === 'vanish' ? socket.resetAndDestroy() : undefined));
}

interface Read {
  /** Those that are there whole. */
  readonly answers: readonly RawAnswer[];
  /** Whether the next one is an event stream that has begun. */
  readonly isStreaming: boolean;
}

function readAnswers(bytes: Buffer): Read {
  const answers: RawAnswer[] = [];
  for (let rest = bytes; ;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) return { answers, isStreaming: false };
    const { status, headers } = readHead(rest.subarray(0, headEnd).toString('latin1'));
    const after = rest.subarray(headEnd + 4);
    if (status >= 100 && status < 200) {
      rest = after;
      continue;
    }
    const body = readBody(headers, after);
    if (!body)
      return {
        answers,
        isStreaming: headers.get('content-type')?.includes('text/event-stream') ?? false,
      };
    answers.push({ status, headers, body: body.text });
    rest = body.rest;
  }
}

function readHead(head: string): Pick<RawAnswer, 'status' | 'headers'> {
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  return { status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? 0), headers };
}

interface Body {
  readonly text: string;
  readonly rest: Buffer;
}

/** The body, where it is there whole. One without a length ends with its head: this server closes after those. */
function readBody(headers: ReadonlyMap<string, string>, bytes: Buffer): Body | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(bytes);
  const length = Number(headers.get('content-length') ?? 0);
  if (bytes.length < length) return undefined;
  return { text: bytes.subarray(0, length).toString('utf8'), rest: bytes.subarray(length) };
}

function readChunks(bytes: Buffer): Body | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    const start = lineEnd + 2;
    if (bytes.length < start + size + 2) return undefined;
    if (size === 0)
      return { text: Buffer.concat(parts).toString('utf8'), rest: bytes.subarray(start + 2) };
    parts.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}
