import { join } from 'node:path';
import type { LogConfig } from '../gateway/config/config.ts';
import type { Clock } from '../kernel/clock.ts';
import { silentLogger, type Logger } from '../kernel/logger.ts';
import { createLogger, openLogFile } from './logger.ts';

export const LOG_FILE = 'longcall.log';

/** Takes the lines of a log. */
export interface LogSink {
  write(text: string): void;
  /** Whether a person reads along. */
  readonly isTty: boolean;
}

export interface ProcessLogOptions {
  /** The data directory, which is there. */
  readonly data: string;
  readonly log: LogConfig;
  readonly clock: Clock;
  /** Where the standard streams are a client's, or nobody's, the log goes to a file in the data directory. */
  readonly toFile: boolean;
  readonly sink: LogSink | undefined;
}

export interface ProcessLog {
  readonly logger: Logger;
  close(): void;
}

/** The log of one process. */
export function openProcessLog({ data, log, clock, toFile, sink }: ProcessLogOptions): ProcessLog {
  if (toFile) {
    const file = openLogFile(join(data, LOG_FILE));
    return {
      logger: createLogger({ log, clock, write: file.write, isTty: false }),
      close: file.close,
    };
  }
  if (!sink) return { logger: silentLogger, close: () => undefined };
  const write = (text: string): void => sink.write(text);
  return { logger: createLogger({ log, clock, write, isTty: sink.isTty }), close: () => undefined };
}
