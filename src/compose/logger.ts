import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { LogConfig } from '../gateway/config/config.ts';
import { toIso, type Clock } from '../kernel/clock.ts';
import type { LogFields, Logger } from '../kernel/logger.ts';
import { safeText } from '../kernel/text.ts';

const FIELD_CHARS_MAX = 500;
const LOG_FILE_BYTES_MAX = 16 * 1024 ** 2;
const PRIVATE_MODE = 0o600;

/** Names of fields that would hold a secret; the rule is not to log them at all, this is the net below it. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'token',
  'apiKey',
  'arguments',
  'result',
  'answer',
];

export interface LoggerOptions {
  readonly log: LogConfig;
  readonly clock: Pick<Clock, 'now'>;
  /** Takes whole lines. */
  write(text: string): void;
  /** Whether a person reads along: decides what `auto` means. */
  readonly isTty: boolean;
}

/** A structured log: one JSON object a line, or the same for the eye. Text of fields is made safe to show. */
export function createLogger({ log, clock, write, isTty }: LoggerOptions): Logger {
  const isPretty = log.format === 'pretty' || (log.format === 'auto' && isTty);
  const line = isPretty ? prettyLine(isTty) : (text: string) => text;
  const base = pino(
    {
      level: log.level,
      base: null,
      messageKey: 'event',
      timestamp: () => `,"time":"${toIso(clock.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS, censor: '[redacted]' },
    },
    { write: (text: string) => write(line(text)) },
  );
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: LogFields = {}): void =>
      base[level]({ event, ...safeFields(fields) });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function safeFields(fields: LogFields): LogFields {
  const safe = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? safeText(value, FIELD_CHARS_MAX).replaceAll(/\s+/g, ' ') : value,
  ]);
  return Object.fromEntries(safe) as LogFields;
}

function prettyLine(colorize: boolean): (text: string) => string {
  return prettyFactory({
    colorize,
    messageKey: 'event',
    translateTime: 'HH:MM:ss.l',
    singleLine: true,
  });
}

/**
 * Appends lines to a file that only its owner can read; for a process whose streams belong to somebody else. A file
 * that has grown beyond 16 MiB is set aside as `<path>.1`, whenever that is: with the one before it at most 32 MiB stay.
 */
export function openLogFile(path: string): { write(text: string): void; close(): void } {
  const open = (): number => {
    if (sizeOf(path) > LOG_FILE_BYTES_MAX) renameSync(path, `${path}.1`);
    return openSync(path, 'a', PRIVATE_MODE);
  };
  let file = open();
  let bytes = sizeOf(path);
  return {
    write(text) {
      bytes += writeSync(file, text);
      if (bytes <= LOG_FILE_BYTES_MAX) return;
      closeSync(file);
      file = open();
      bytes = sizeOf(path);
    },
    close: () => closeSync(file),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
