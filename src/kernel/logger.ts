/** Fields of a log line. Never arguments, results, tokens, answers or raw peer text. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Structured log: an event name (`task.settled`) and fields. The process chooses where it goes. */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

const nothing = (): void => undefined;
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};

/** The message of whatever was thrown; nothing where it has none that can be read. Never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return ''; // somebody else's `toString`, or none
  }
}
