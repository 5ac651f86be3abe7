import { messageOf, type Logger } from '../../../kernel/logger.ts';
import type { AbandonOptions, Receiver } from '../../../runtime/receiver.ts';

/**
 * Keeps account of handles on their way out. A handle counts as given only when it was written to a caller that was
 * still there (decision 1). Recording that is a write of its own, which no answer waits for.
 */
export interface HandleDesk {
  given(taskId: string): void;
  inline(taskId: string): void;
  /** The outcome was written to a caller who was still there. */
  delivered(taskId: string): void;
  abandon(taskId: string, options: AbandonOptions): void;
  /** Whether the handle left and only its record is still being written. */
  isLeaving(taskId: string): boolean;
  /** Resolves when everything recorded so far is durable. */
  settled(): Promise<void>;
}

export function createHandleDesk(receiver: Receiver, logger: Logger): HandleDesk {
  const leaving = new Map<string, Promise<void>>();
  const others = new Set<Promise<void>>();
  const record = (what: string, write: Promise<void>): Promise<void> =>
    write.catch((error: unknown) =>
      logger.error(`face.${what}_failed`, { problem: messageOf(error) }),
    );
  const track = (what: string, write: Promise<void>): void => {
    const done = record(what, write).finally(() => others.delete(done));
    others.add(done);
  };
  return {
    given(taskId) {
      const done = record('handle_given', receiver.handleGiven(taskId));
      leaving.set(
        taskId,
        done.finally(() => leaving.delete(taskId)),
      );
    },
    inline: (taskId) => track('answered_inline', receiver.answeredInline(taskId)),
    delivered: (taskId) => track('delivered', receiver.delivered(taskId)),
    abandon: (taskId, options) => track('abandon', receiver.abandon(taskId, options)),
    isLeaving: (taskId) => leaving.has(taskId),
    settled: async () => void (await Promise.all([...leaving.values(), ...others])),
  };
}
