import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { createTurns, type Lane } from './lane.ts';
import { createResumableStream, type ResumableStream } from './resumable-stream.ts';

/** How long a stream without a socket can be resumed; shorter once everything was written, in case it was lost on the way. */
export const RESUME_MS = 120_000;
const DONE_MS = 10_000;
/** Beyond it streams that nobody reads are given up, the oldest first. */
const STREAMS_MAX = 32;
const GET_STREAMS_MAX = 4;

/** The event streams of one session, by the number that their event ids begin with. */
export interface StreamBook {
  /** Opens the stream of a POST on its response. */
  openPost(res: ServerResponse): ResumableStream;
  /** Opens a GET stream. */
  openGet(res: ServerResponse): void;
  /** Takes up the stream that an event id names; false: it is not there (any more). Only ever of this session (G1-129). */
  resume(lastEventId: string, res: ServerResponse): boolean;
  /** The newest GET stream that is open, else nothing reads. */
  readonly standalone: Lane;
  /** Calls back when a POST stream can no longer be resumed. */
  onForgotten(stream: ResumableStream, listener: () => void): void;
  isBusy(): boolean;
  /** `interrupt`: with the hint to come back. */
  closeAll(how: 'interrupt' | 'forget'): void;
}

export interface StreamBookOptions {
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly sessionId: string;
  readonly primes: boolean;
}

const EVENT_ID = /^(\d{1,9})-(\d{1,9})$/;

interface Entry {
  readonly stream: ResumableStream;
  readonly isGet: boolean;
  expiry?: Timer;
  onForgotten?: () => void;
}

/** What belongs to no request goes on the newest GET stream, open or waiting to be resumed. */
function standaloneOf(entries: () => Iterable<Entry>, onTurn: Lane['onTurn']): Lane {
  const newest = (): ResumableStream | undefined => {
    const gets = Array.from(entries()).filter(({ isGet }) => isGet);
    return (gets.findLast(({ stream }) => stream.isOpen()) ?? gets.at(-1))?.stream;
  };
  return {
    isOpen: () => newest()?.isOpen() === true,
    send: (message) => newest()?.send(message) ?? { takeBack: () => undefined },
    onTurn,
  };
}

export function createStreamBook(options: StreamBookOptions): StreamBook {
  const entries = new Map<string, Entry>();
  const turns = createTurns();
  let opened = 0;

  const forget = ({ stream, expiry, onForgotten }: Entry): void => {
    if (!entries.delete(stream.id)) return;
    expiry?.cancel();
    stream.forget();
    onForgotten?.();
  };
  const turned = (entry: Entry): void => {
    const { stream, isGet } = entry;
    entry.expiry?.cancel();
    if (!stream.isOpen() && entries.has(stream.id)) {
      const afterMs = stream.isDone() ? DONE_MS : RESUME_MS;
      entry.expiry = options.clock.after(afterMs, () => forget(entry));
    }
    if (isGet) turns.tell();
  };
  const trim = (): void => {
    const all = Array.from(entries.values());
    const gets = all.filter(({ isGet }) => isGet);
    gets.slice(0, -GET_STREAMS_MAX).forEach(forget);
    all
      .filter(({ stream }) => !stream.isOpen())
      .slice(0, -STREAMS_MAX)
      .forEach(forget);
  };
  const open = (res: ServerResponse, isGet: boolean): ResumableStream => {
    opened += 1;
    const stream = createResumableStream({ ...options, id: String(opened) });
    const entry: Entry = { stream, isGet };
    entries.set(stream.id, entry);
    stream.onTurn(() => turned(entry));
    stream.attach(res, 0);
    trim();
    return stream;
  };
  return {
    openPost: (res) => open(res, false),
    openGet: (res) => void open(res, true),
    standalone: standaloneOf(() => entries.values(), turns.onTurn),
    resume(lastEventId, res) {
      const [, id = '', sequence = ''] = EVENT_ID.exec(lastEventId) ?? [];
      const stream = entries.get(id)?.stream;
      stream?.attach(res, Number(sequence));
      return stream !== undefined;
    },
    onForgotten(stream, listener) {
      const entry = entries.get(stream.id);
      if (entry) entry.onForgotten = listener;
    },
    isBusy: () => Array.from(entries.values()).some(({ stream }) => stream.isOpen()),
    closeAll(how) {
      for (const entry of Array.from(entries.values()))
        if (how === 'interrupt') entry.stream.interrupt();
        else forget(entry);
    },
  };
}
