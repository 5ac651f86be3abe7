import { owns } from '../../../identity/permissions.ts';
import { isIdentified } from '../../../identity/principal.ts';
import type { Task } from '../../../protocol/model.ts';
import type { Session } from './session.ts';

/** The sessions of one face, whatever they came through. */
export interface Hub {
  add(session: Session): void;
  remove(session: Session): void;
  sessions(): readonly Session[];
  /**
   * Sessions that may hear of a task unasked: its owner's. Anonymous callers share one owner, so only those that have
   * named the id to us may (decision 3).
   */
  listenersOf(task: Pick<Task, 'id' | 'owner' | 'tenant'>): readonly Session[];
}

export function createHub(): Hub {
  const sessions = new Set<Session>();
  return {
    add: (session) => void sessions.add(session),
    remove: (session) => void sessions.delete(session),
    sessions: () => Array.from(sessions),
    listenersOf: (task) =>
      Array.from(sessions).filter((session) => {
        const principal = session.principal();
        return owns(principal, task) && (isIdentified(principal) || session.knows(task.id));
      }),
  };
}
