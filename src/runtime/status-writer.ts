import type { Clock, Timer } from '../kernel/clock.ts';
import { safeText } from '../kernel/text.ts';

/** Sets a running task's status message: no more often than it helps, the last word always counts. */
export interface StatusWriter {
  set(text: string): void;
  /** Resolves when what was set is written. */
  flush(): Promise<void>;
  /** Writes nothing more. */
  end(): void;
}

export interface StatusWriterOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  /** Must not reject. */
  readonly write: (message: string) => Promise<void>;
}

export function createStatusWriter({ clock, everyMs, write }: StatusWriterOptions): StatusWriter {
  let wanted: string | undefined;
  let written: string | undefined;
  let timer: Timer | undefined;
  let writing: Promise<void> = Promise.resolve();
  let ended = false;

  const writeWanted = (): void => {
    const message = wanted;
    wanted = undefined;
    if (ended || message === undefined || message === written) return;
    written = message;
    writing = writing.then(() => (ended ? undefined : write(message)));
  };
  /** The first word is written at once; those of the time after it wait, and only the last of them is written. */
  const open = (): void => {
    timer = undefined;
    if (wanted === undefined) return;
    writeWanted();
    timer = clock.after(everyMs, open);
  };

  return {
    set(text) {
      wanted = safeText(text);
      if (!ended && !timer) open();
    },
    flush() {
      writeWanted();
      return writing;
    },
    end() {
      ended = true;
      timer?.cancel();
    },
  };
}
