/** RFC 5424 levels as MCP names them, least severe first. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const isLogLevel = (value: unknown): value is LogLevel =>
  (LOG_LEVELS as readonly unknown[]).includes(value);

/** Whether a message is at least as severe as the caller asked for. A level that nobody knows passes. */
export function isLoggable(message: unknown, least: LogLevel): boolean {
  return !isLogLevel(message) || LOG_LEVELS.indexOf(message) >= LOG_LEVELS.indexOf(least);
}
