import type { JsonObject } from '../kernel/json.ts';
import type { InputRequest, Task } from '../protocol/model.ts';

/** Why a question is not shown any more. `opened`: its owner went to the page, whose word is waited for. */
export const CLOSED_BECAUSE = ['answered', 'opened', 'expired', 'withdrawn'] as const;
export type ClosedBecause = (typeof CLOSED_BECAUSE)[number];

/**
 * What happens to a task while somebody may be watching. Never a delivery promise: the store is the truth. A commit
 * that changed the task is told once, as `changed` or `asked`, in the order of the commits: its creation, each change
 * of status or message, its end. When the handle of a task that has changed since its creation is marked as given, its
 * state is told once more, with that handle: before, it was nobody's to know.
 */
export type TaskEvent =
  | { readonly kind: 'changed'; readonly task: Task }
  | { readonly kind: 'asked'; readonly task: Task; readonly inputs: readonly InputRequest[] }
  /** Keys that are no longer open: answered elsewhere, withdrawn, expired, or the task ended. */
  | {
      readonly kind: 'closed';
      readonly taskId: string;
      readonly keys: readonly string[];
      readonly why: ClosedBecause;
    }
  /** The page of a question has confirmed or refused: what happened outside is over (G1-53). */
  | { readonly kind: 'confirmed'; readonly taskId: string; readonly key: string }
  | { readonly kind: 'progress'; readonly taskId: string; readonly params: JsonObject }
  | { readonly kind: 'log'; readonly taskId: string; readonly params: JsonObject };

export type TaskListener = (event: TaskEvent) => void;

/** In-process fan-out of task events. */
export interface Feed {
  publish(taskId: string, event: TaskEvent): void;
  /** Returns the way to stop. A listener that throws disturbs neither the others nor what it hears next. */
  watch(taskId: string, listener: TaskListener): () => void;
  /** Listens to every task: for the faces' sessions and for tests. */
  watchAll(listener: TaskListener): () => void;
}

/** `onFailed`: hears what a listener throws. */
export function createFeed(onFailed: (thrown: unknown) => void = () => undefined): Feed {
  const byTask = new Map<string, Set<TaskListener>>();
  const everywhere = new Set<TaskListener>();
  const deliver = (listeners: Set<TaskListener>, event: TaskEvent): void => {
    for (const listener of Array.from(listeners)) {
      try {
        listener(event);
      } catch (thrown) {
        onFailed(thrown);
      }
    }
  };
  return {
    publish(taskId, event) {
      deliver(everywhere, event);
      const listeners = byTask.get(taskId);
      if (listeners) deliver(listeners, event);
    },
    watch(taskId, listener) {
      const listeners = byTask.get(taskId) ?? new Set();
      byTask.set(taskId, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byTask.get(taskId) === listeners) byTask.delete(taskId);
      };
    },
    watchAll(listener) {
      everywhere.add(listener);
      return () => void everywhere.delete(listener);
    },
  };
}
