import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import type { Reply } from './job.ts';

/**
 * Where the questions of this process's runs wait. A place is taken before the question is stored, so that no answer
 * can come too early; whoever has the reply hands it in, once.
 */
export interface QuestionDesk {
  expect(taskId: string, key: string): Promise<Reply>;
  /** Nothing happens where nobody waits for that key (any more). */
  reply(key: string, reply: Reply): void;
  /** Keys of that task which wait here. */
  waiting(taskId: string): readonly string[];
  size(): number;
}

interface Seat {
  readonly taskId: string;
  readonly reply: Deferred<Reply>;
}

export function createQuestionDesk(): QuestionDesk {
  const seats = new Map<string, Seat>();
  const byTask = new Map<string, Set<string>>();
  const leave = (key: string, { taskId }: Seat): void => {
    seats.delete(key);
    const keys = byTask.get(taskId);
    keys?.delete(key);
    if (keys?.size === 0) byTask.delete(taskId);
  };
  return {
    expect(taskId, key) {
      const seat: Seat = { taskId, reply: createDeferred<Reply>() };
      seats.set(key, seat);
      byTask.set(taskId, (byTask.get(taskId) ?? new Set()).add(key));
      return seat.reply.promise;
    },
    reply(key, reply) {
      const seat = seats.get(key);
      if (!seat) return;
      leave(key, seat);
      seat.reply.resolve(reply);
    },
    waiting: (taskId) => Array.from(byTask.get(taskId) ?? []),
    size: () => seats.size,
  };
}
