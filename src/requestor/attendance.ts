import type { JsonObject } from '../kernel/json.ts';
import type { InputAnswer, InputMethod } from '../protocol/model.ts';

/** A question of the peer, as it came. */
export interface PeerQuestion {
  readonly method: InputMethod;
  readonly params: JsonObject;
}

/** A call of ours while it is under way on a connection: what the peer says in between belongs to one of these. */
export interface Attendant {
  /** Answers a question; `signal` is aborted when the peer takes it back. */
  ask(question: PeerQuestion, signal: AbortSignal): Promise<InputAnswer>;
  /** Params of notifications/progress without the token. */
  progress(params: JsonObject): void;
  /** Params of notifications/message. */
  log(params: JsonObject): void;
  /** The peer says that its task has moved. */
  nudge(): void;
}

/** A call's place on a connection. */
export interface Attendance {
  /** From now on what names this task of the peer belongs here. */
  observe(taskId: string): void;
  leave(): void;
}

/** Who is under way on one connection. */
export interface AttendanceBook {
  enter(attendant: Attendant): Attendance;
  /** The call of that place, as long as it has not left. */
  at(attendance: Attendance | undefined): Attendant | undefined;
  ofTask(taskId: string | undefined): Attendant | undefined;
  /** The only call under way, if there is exactly one: whatever the peer asks is its question (decision 8). */
  sole(): Attendant | undefined;
}

export function createAttendanceBook(): AttendanceBook {
  const places = new Map<Attendance, { readonly attendant: Attendant; taskId?: string }>();
  return {
    enter(attendant) {
      const place: { readonly attendant: Attendant; taskId?: string } = { attendant };
      const attendance: Attendance = {
        observe: (taskId) => void (place.taskId = taskId),
        leave: () => void places.delete(attendance),
      };
      places.set(attendance, place);
      return attendance;
    },
    at: (attendance) => (attendance === undefined ? undefined : places.get(attendance)?.attendant),
    ofTask(taskId) {
      if (taskId === undefined) return undefined;
      return Array.from(places.values()).find((place) => place.taskId === taskId)?.attendant;
    },
    sole() {
      const [first] = places.values();
      return places.size === 1 ? first?.attendant : undefined;
    },
  };
}
