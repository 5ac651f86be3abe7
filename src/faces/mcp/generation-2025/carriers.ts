import type { InputRequest } from '../../../protocol/model.ts';
import type { Lane } from './lane.ts';
import type { Session } from './session.ts';

/** A lane that a client has opened for one task: `tasks/result`, or the stream of a plain call. */
export interface Carrier {
  readonly session: Session;
  readonly lane: Lane;
  /** Which questions go on it; absent: every one. */
  readonly takes?: (input: InputRequest) => boolean;
}

/** The carriers of each task. */
export interface Carriers {
  add(taskId: string, carrier: Carrier): () => void;
  /** Those that are open now. */
  openFor(taskId: string): readonly Carrier[];
}

export function createCarriers(): Carriers {
  const byTask = new Map<string, Set<Carrier>>();
  return {
    openFor: (taskId) => Array.from(byTask.get(taskId) ?? []).filter(({ lane }) => lane.isOpen()),
    add(taskId, carrier) {
      const set = byTask.get(taskId) ?? new Set<Carrier>();
      byTask.set(taskId, set.add(carrier));
      return () => {
        set.delete(carrier);
        if (set.size === 0 && byTask.get(taskId) === set) byTask.delete(taskId);
      };
    },
  };
}
