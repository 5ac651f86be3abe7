import { LongcallError } from '../kernel/errors.ts';
import type { Attendant } from '../requestor/attendance.ts';
import type { Line, Seat } from '../requestor/tool-call.ts';
import type { Lease } from './connection-pool.ts';

export interface CallLineOptions {
  /** `signal`: gives the wait up, in place of the call's own. */
  lease(signal?: AbortSignal): Promise<Lease>;
  /** What the upstream says while the call is under way; nudges are the line's own. */
  readonly attendant: Omit<Attendant, 'nudge'>;
}

/** A line whose connection comes from the pool. */
export interface CallLine extends Line {
  /** The call is over; `discard`: it was given up, and the upstream may still be at it. */
  end(how: 'release' | 'discard'): void;
}

interface Held extends Seat {
  readonly lease: Lease;
}

export function createCallLine({ lease, attendant }: CallLineOptions): CallLine {
  const nudged = new Set<() => void>();
  let held: Promise<Held> | undefined;
  let current: Held | undefined;
  let taskId: string | undefined;
  let over = false;

  const sit = async (signal?: AbortSignal): Promise<Held> => {
    const given = await lease(signal);
    if (over) {
      given.release();
      throw new LongcallError(
        'LONGCALL_CAPACITY',
        'the call was given up while it waited for a connection',
      );
    }
    const attendance = given.connection.enter({
      ...attendant,
      nudge: () => nudged.forEach((listener) => listener()),
    });
    if (taskId !== undefined) attendance.observe(taskId);
    current = { lease: given, connection: given.connection, attendance };
    return current;
  };
  const stand = (how: 'release' | 'discard'): void => {
    current?.attendance.leave();
    current?.lease[how]();
    [held, current] = [undefined, undefined];
  };
  return {
    seat(signal) {
      if (current && !current.connection.isOpen()) stand('release');
      held ??= sit(signal).catch((error: unknown) => {
        held = undefined;
        throw error;
      });
      return held;
    },
    hangUp: () => stand('release'),
    observe(id) {
      taskId = id;
      current?.attendance.observe(id);
    },
    onNudge: (listener) => void nudged.add(listener),
    end(how) {
      over = true;
      stand(how);
    },
  };
}
