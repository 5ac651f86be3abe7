import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../kernel/clock.ts';

/** A caller that does not read its last answer within this time is cut off. */
const CLOSE_GRACE_MS = 2000;

/** The answers of one face that are not over yet. */
export interface OpenResponses {
  enter(res: ServerResponse): void;
  /** Resolves when all are over; what is left after the grace is cut off. */
  closed(): Promise<void>;
}

export function createOpenResponses(clock: Clock): OpenResponses {
  const open = new Set<ServerResponse>();
  return {
    enter(res) {
      open.add(res);
      res.once('close', () => open.delete(res));
    },
    async closed() {
      const cutOff = clock.after(CLOSE_GRACE_MS, () => open.forEach((res) => res.destroy()));
      await Promise.all(Array.from(open, whenClosed));
      cutOff.cancel();
    },
  };
}

const whenClosed = (res: ServerResponse): Promise<void> =>
  res.closed ? Promise.resolve() : new Promise((resolve) => res.once('close', () => resolve()));
