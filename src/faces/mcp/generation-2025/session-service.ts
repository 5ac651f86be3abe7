import type { Face } from '../face.ts';
import { errorOfThrown, idInUse } from '../failures.ts';
import type { RpcNotification } from '../message.ts';
import { errorReply, type Reply } from '../reply.ts';
import { assertScope } from '../scopes.ts';
import { createAnnouncer } from './announcer.ts';
import { createHub } from './hub.ts';
import { createMethodTable, type MethodTable } from './method-table.ts';
import { createProgressDesk } from './progress-desk.ts';
import { createQuestionDesk } from './question-desk.ts';
import type { SessionRequest } from './request.ts';
import type { Session } from './session.ts';
import { createSurfaceRelay } from './surface-events.ts';

/** A request as its transport hands it over; how it is cancelled is the session's affair. */
export type HandedRequest = Omit<SessionRequest, 'signal'>;

/** Serves sessions of 2025-11-25 and older, whatever they come through. */
export interface SessionService {
  /** The answer; nothing where the request was stopped and none is due (G1-74). */
  dispatch(request: HandedRequest): Promise<Reply | undefined>;
  notified(session: Session, message: RpcNotification): void;
  add(session: Session): void;
  /** Ends a session: its requests stop, its subscriptions end, nobody listens for it any more. */
  end(session: Session): void;
  close(): void;
}

type Answer = (request: SessionRequest) => Promise<Reply | undefined>;

/** Refusals and mishaps become errors of the protocol; a request that was stopped gets no answer. */
function createAnswer(face: Face, table: MethodTable): Answer {
  return async (request) => {
    try {
      const answer = table(request);
      assertScope(request.principal, request.method);
      return await answer(request);
    } catch (error) {
      return request.signal.aborted ? undefined : errorReply(errorOfThrown(face, error));
    }
  };
}

export function createSessionService(face: Face): SessionService {
  const { receiver, surface, clock, logger } = face;
  const hub = createHub();
  const desk = createQuestionDesk({ receiver, hub, clock, logger });
  const progress = createProgressDesk(desk);
  const announce = createAnnouncer({
    hub,
    pending: desk.pending,
    isLeaving: face.handles.isLeaving,
  });
  const answer = createAnswer(face, createMethodTable({ face, desk, progress }));
  const stops = [
    surface.onEvent(createSurfaceRelay(hub)),
    receiver.feed.watchAll((event) => {
      desk.onEvent(event);
      progress.onEvent(event);
      announce(event);
    }),
  ];
  const end = (session: Session): void => {
    hub.remove(session);
    progress.forget(session);
    session.end();
  };
  return {
    async dispatch(request) {
      const { session, id } = request;
      const stop = session.begin(id);
      if (!stop) return errorReply(errorOfThrown(face, idInUse()));
      const reply = await answer({ ...request, signal: stop.signal });
      session.finish(id);
      return stop.signal.aborted ? undefined : reply;
    },
    notified(session, { method, params: { requestId } }) {
      if (method !== 'notifications/cancelled') return;
      if (typeof requestId === 'string' || typeof requestId === 'number') session.cancel(requestId);
    },
    add(session) {
      hub.add(session);
      session.standalone.onTurn(() => desk.turned(session));
    },
    end,
    close() {
      for (const stop of stops) stop();
      hub.sessions().forEach(end);
    },
  };
}
