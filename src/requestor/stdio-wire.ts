import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { sleep, type Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import { safeText } from '../kernel/text.ts';
import { endChild, signalGroup, spawnGroup, type ChildCommand } from './child-process.ts';
import { createLastWords } from './last-words.ts';
import { createLineReader } from './line-reader.ts';
import { DEAF, type SendFailure, type Wire, type WireListener } from './wire.ts';

/** How long the last output of a process that has ended is read on; a grandchild may hold the pipe for ever. */
const LAST_WORDS_MS = 250;

export interface StdioWireOptions extends ChildCommand {
  readonly clock: Clock;
  /** Longest message in bytes. */
  readonly maxMessageBytes: number;
  /** Told of each process as it starts and ends, so that orphans can be found after our own death. */
  readonly onProcess?: (pid: number, state: 'started' | 'ended') => void;
  /** Lines of its standard error, made safe to show. */
  readonly onStderr?: (line: string) => void;
  /** The id in what can be seen of a message that was too long to read. */
  idIn(excerpt: string): string | undefined;
}

/** A wire to a child process: one JSON message a line. */
export function createStdioWire(options: StdioWireOptions): Wire {
  let listener: WireListener = DEAF;
  let child: ChildProcessWithoutNullStreams | undefined;
  let ended: string | undefined;
  const lastWords = createLastWords();

  const end = (problem: string): void => {
    if (ended !== undefined) return;
    ended = problem;
    listener.closed(problem);
  };
  const watchExit = (process: ChildProcessWithoutNullStreams): void => {
    process.once('exit', (code, signal) => {
      if (process.pid !== undefined) {
        options.onProcess?.(process.pid, 'ended');
        signalGroup(process.pid, 'SIGTERM');
      }
      const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
      const said = lastWords.telling();
      const problem = `its process ${how}${said === undefined ? '' : `, after saying: ${said}`}`;
      const output = process.stdout.readableEnded
        ? undefined
        : once(process.stdout, 'close').catch(() => undefined);
      void Promise.race([output, sleep(options.clock, LAST_WORDS_MS)]).then(() => end(problem));
    });
  };

  return {
    kind: 'stdio',
    pid: () => child?.pid,
    keepsState: () => true,
    isWatched: () => true,
    listen: (next) => void (listener = next),
    async start() {
      child = spawnGroup(options);
      if (child.pid !== undefined) options.onProcess?.(child.pid, 'started');
      // A broken pipe shows as the exit of the process.
      for (const stream of [child.stdin, child.stdout, child.stderr])
        stream.on('error', () => undefined);
      readLines(child, options, () => listener);
      readStderr(child, options.maxMessageBytes, (line) => {
        lastWords.add(line);
        options.onStderr?.(line);
      });
      watchExit(child);
      await once(child, 'spawn').catch((error: unknown) => {
        throw new Error(`cannot run "${options.command}": ${messageOf(error)}`, { cause: error });
      });
    },
    setProtocolVersion: () => undefined,
    send: (message) => Promise.resolve(writeLine(child, message, ended)),
    drop: () => undefined,
    async close(graceMs) {
      if (child) await endChild(child, { clock: options.clock, graceMs });
      end('it was closed');
    },
  };
}

function writeLine(
  child: ChildProcessWithoutNullStreams | undefined,
  message: JsonObject,
  ended: string | undefined,
): SendFailure | undefined {
  if (!child || ended !== undefined)
    return { kind: 'unsent', problem: ended ?? 'it was not started' };
  if (!child.stdin.writable) return { kind: 'unsent', problem: 'its input is closed' };
  child.stdin.write(`${JSON.stringify(message)}\n`);
  return undefined;
}

function readLines(
  child: ChildProcessWithoutNullStreams,
  options: StdioWireOptions,
  to: () => WireListener,
): void {
  const reader = createLineReader({
    maxBytes: options.maxMessageBytes,
    onLine(text, bytes) {
      const value = parse(text);
      if (value !== undefined) to().message(value, { bytes });
    },
    onTooLong(excerpt, bytes) {
      const id = options.idIn(excerpt);
      if (id !== undefined)
        to().failed(id, { kind: 'too_large', problem: `its answer has ${bytes} bytes` });
    },
  });
  child.stdout.on('data', (chunk: Buffer) => reader.push(chunk));
}

/** Servers print what is no message at times (a banner, a stray log line): it is passed over. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readStderr(
  child: ChildProcessWithoutNullStreams,
  maxBytes: number,
  onLine: (line: string) => void,
): void {
  const say = (text: string): void => {
    const line = safeText(text);
    if (line !== '') onLine(line);
  };
  const reader = createLineReader({ maxBytes, onLine: say, onTooLong: say });
  child.stderr.on('data', (chunk: Buffer) => reader.push(chunk));
}
