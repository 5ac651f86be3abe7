import type { Principal } from '../../../identity/principal.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { messageOf } from '../../../kernel/logger.ts';
import type { AskKind } from '../../../protocol/model.ts';
import { codec2026 } from '../../../protocol/select-codec.ts';
import { readableBy } from '../client-capabilities.ts';
import type { Face } from '../face.ts';
import { emittableView } from './results.ts';

export interface FollowOptions {
  readonly face: Face;
  readonly principal: Principal;
  readonly asks: readonly AskKind[];
  readonly taskId: string;
  readonly send: (method: string, params: JsonObject) => void;
  /** The task has ended, or its reader may not see it any more; nothing follows. */
  readonly onEnd: () => void;
}

/** Follows one task for one listener. */
export interface TaskFollower {
  /** Sends the state of now, and from then on each further one. */
  begin(): void;
  stop(): void;
}

/**
 * Each message is what `tasks/get` would answer at that moment, read and authorized anew (G2-96, T36). Events only say
 * that it is time to look; one that changes nothing visible sends nothing.
 */
export function followTask(options: FollowOptions): TaskFollower {
  const { face, principal, taskId, asks, send, onEnd } = options;
  let last = '';
  let begun = false;
  let looking = false;
  let again = false;
  let over = false;

  const stop = (): void => {
    over = true;
    unwatch();
  };
  const end = (): void => {
    if (over) return;
    stop();
    onEnd();
  };
  const look = async (): Promise<void> => {
    const view = await face.receiver.view(principal, taskId, true);
    if (over) return;
    if (!view) return end();
    const { method, params } = codec2026.encodeNotification(readableBy(asks, emittableView(view)));
    const text = JSON.stringify(params);
    if (text !== last) send(method, params);
    last = text;
    if (view.task.phase === 'ended') end();
  };
  const turn = (): void => {
    if (!begun || over) return;
    again = looking;
    if (looking) return;
    looking = true;
    look()
      .catch((error: unknown) =>
        face.logger.error('face.follow_failed', { taskId, problem: messageOf(error) }),
      )
      .finally(() => {
        looking = false;
        if (again) turn();
      });
  };
  const unwatch = face.receiver.feed.watch(taskId, (event) => {
    if (event.kind !== 'progress' && event.kind !== 'log') turn();
  });
  return {
    begin() {
      begun = true;
      turn();
    },
    stop,
  };
}
