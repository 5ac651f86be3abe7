import { notification } from '../message.ts';
import type { Hub } from './hub.ts';
import type { Lane } from './lane.ts';
import type { Session } from './session.ts';

/** Pages that are remembered; whose owner never comes back to them must not pile up. */
const PAGES_MAX = 10_000;

export interface PageBookOptions {
  readonly hub: Hub;
  /** Where a client listens for something of that task. */
  readonly laneOf: (taskId: string, session: Session) => Lane;
}

/**
 * Pages that clients were sent to, until the page itself has spoken: then the client that was sent there, and no other,
 * gets `notifications/elicitation/complete` (G1-53). A hint to look, never the word itself.
 */
export interface PageBook {
  sent(key: string, session: Session): void;
  confirmed(taskId: string, key: string): void;
  forget(key: string): void;
}

export function createPageBook({ hub, laneOf }: PageBookOptions): PageBook {
  const pages = new Map<string, Session>();
  return {
    sent(key, session) {
      pages.set(key, session);
      const [oldest] = pages.keys();
      if (pages.size > PAGES_MAX && oldest !== undefined) pages.delete(oldest);
    },
    confirmed(taskId, key) {
      const session = pages.get(key);
      pages.delete(key);
      if (!session || session.generation !== '2025-11-25') return;
      if (!hub.sessions().includes(session)) return;
      const lane = laneOf(taskId, session);
      if (lane.isOpen())
        lane.send(notification('notifications/elicitation/complete', { elicitationId: key }));
    },
    forget: (key) => void pages.delete(key),
  };
}
