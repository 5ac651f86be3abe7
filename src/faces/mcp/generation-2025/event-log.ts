/** How much of a stream is kept for a resumption; the oldest goes first, the newest never. */
const KEPT_CHARS_MAX = 256 * 1024;
const KEPT_EVENTS_MAX = 256;

/** The events of one stream by their sequence numbers, as long as a resumption may want them. */
export interface EventLog {
  /** Keeps the event that `text` makes of its number. */
  add(text: (sequence: number) => string): LoggedEvent;
  takeBack(sequence: number): void;
  /** The texts of what came after that event, oldest first. */
  after(sequence: number): readonly string[];
  isEmpty(): boolean;
  clear(): void;
}

export interface LoggedEvent {
  readonly sequence: number;
  readonly text: string;
}

export function createEventLog(): EventLog {
  let kept: LoggedEvent[] = [];
  let keptChars = 0;
  let sequence = 0;
  const keepOnly = (wanted: (event: LoggedEvent) => boolean): void => {
    kept = kept.filter(wanted);
    keptChars = kept.reduce((chars, event) => chars + event.text.length, 0);
  };
  const trim = (): void => {
    while (kept.length > 1 && (kept.length > KEPT_EVENTS_MAX || keptChars > KEPT_CHARS_MAX))
      keptChars -= kept.shift()?.text.length ?? 0;
  };
  return {
    add(text) {
      sequence += 1;
      const event = { sequence, text: text(sequence) };
      kept.push(event);
      keptChars += event.text.length;
      trim();
      return event;
    },
    takeBack: (gone) => keepOnly((event) => event.sequence !== gone),
    after: (last) => kept.filter((event) => event.sequence > last).map(({ text }) => text),
    isEmpty: () => sequence === 0,
    clear: () => keepOnly(() => false),
  };
}
