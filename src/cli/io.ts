import type { Readable, Writable } from 'node:stream';
import { systemClock, type Clock } from '../kernel/clock.ts';

/** The signals that a command may want to hear. */
export type StopSignal = 'SIGINT' | 'SIGTERM';

/**
 * Everything a command touches of its process, so that tests can run it without one. A command never ends the
 * process: it says with `exit` what `main` answers, or throws a `LongcallError`, which `main` reports.
 */
export interface CliIo {
  /** Data only, so that it can be piped. Written as it is: end lines yourself. */
  stdout(text: string): void;
  /** Progress, notes, prompts and errors. Written as it is: end lines yourself. */
  stderr(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether stdout is a terminal: tables and relative times for people, never a prompt without one. */
  readonly isTty: boolean;
  /** Whether stderr is a terminal: errors in words rather than as one line of JSON. */
  readonly stderrIsTty: boolean;
  /** Width of the terminal in characters; 80 where there is none. */
  readonly columns: number;
  /** The raw streams, for what speaks a protocol over them (`gateway --stdio`) and for `--args -`. */
  readonly stdin: Readable;
  readonly rawStdout: Writable;
  readonly clock: Clock;
  /** Sets the exit code (ux §3.2); the last one counts. */
  exit(code: number): void;
  /** Hears a signal instead of dying of it, until the answer is called. */
  onSignal(signal: StopSignal, listener: () => void): () => void;
}

/** A `CliIo` with what was said about the exit code. */
export interface ProcessIo extends CliIo {
  readonly exitCode: number;
}

/** A reader that left early (`longcall tasks list | head`) is no failure; what is left to write goes nowhere. */
function ignoreClosedPipe(stream: Writable): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** The real process. */
export function createProcessIo(): ProcessIo {
  let exitCode = 0;
  for (const stream of [process.stdout, process.stderr]) ignoreClosedPipe(stream);
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    env: process.env,
    cwd: process.cwd(),
    isTty: process.stdout.isTTY === true,
    stderrIsTty: process.stderr.isTTY === true,
    columns: process.stdout.columns ?? 80,
    stdin: process.stdin,
    rawStdout: process.stdout,
    clock: systemClock,
    exit: (code) => void (exitCode = code),
    onSignal(signal, listener) {
      process.on(signal, listener);
      return () => void process.off(signal, listener);
    },
    get exitCode() {
      return exitCode;
    },
  };
}
