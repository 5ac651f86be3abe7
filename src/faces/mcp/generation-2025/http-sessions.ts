import type { Principal } from '../../../identity/principal.ts';
import type { Timer } from '../../../kernel/clock.ts';
import { isId, newId } from '../../../kernel/ids.ts';
import type { Face } from '../face.ts';
import { atCapacity } from '../failures.ts';
import type { Greeting } from './initialize.ts';
import { createSession, type Session } from './session.ts';
import type { SessionService } from './session-service.ts';
import { createStreamBook, type StreamBook } from './stream-book.ts';

const SESSIONS_MAX = 1024;
const SESSIONS_PER_PRINCIPAL_MAX = 256;
const RETRY_MS = 30_000;

/** A session over HTTP, with its event streams. */
export interface HttpSession {
  readonly session: Session;
  readonly streams: StreamBook;
  lastSeenMs: number;
}

/** Sessions by id. An id is good for the principal that it was made for and for nobody else (G1-104, T12). */
export interface HttpSessions {
  open(principal: Principal, greeting: Greeting): HttpSession;
  /** The principal's own; a foreign id is an unknown one. */
  find(principal: Principal, id: string): HttpSession | undefined;
  end(held: HttpSession): void;
  close(): void;
}

export function createHttpSessions(face: Face, service: SessionService): HttpSessions {
  const { clock, random } = face;
  const sessions = new Map<string, HttpSession>();
  const end = ({ session, streams }: HttpSession): void => {
    if (!sessions.delete(session.id)) return;
    service.end(session);
    streams.closeAll('forget');
  };
  const isIdle = ({ session, streams }: HttpSession): boolean =>
    session.isIdle() && !streams.isBusy();
  const ownedBy = (principal: Principal): readonly HttpSession[] =>
    Array.from(sessions.values()).filter(
      ({ session }) => session.principal().key === principal.key,
    );

  /** Makes room by ending the session that was idle the longest; with none idle there is no room. */
  const makeRoom = (among: Iterable<HttpSession>, limit: string): void => {
    const idle = Array.from(among).filter(isIdle);
    const oldest = idle.toSorted((a, b) => a.lastSeenMs - b.lastSeenMs)[0];
    if (!oldest) throw atCapacity(limit, RETRY_MS);
    end(oldest);
  };
  const evict = (): void => {
    const limitMs = clock.monotonic() - face.sessionIdleMs;
    for (const held of Array.from(sessions.values()))
      if (held.lastSeenMs < limitMs && isIdle(held)) end(held);
  };
  let sweeper: Timer;
  const sweep = (): void => {
    sweeper = clock.after(face.sessionIdleMs / 4, () => {
      evict();
      sweep();
    });
  };
  sweep();

  return {
    open(principal, { version, capabilities }) {
      const own = ownedBy(principal);
      if (own.length >= SESSIONS_PER_PRINCIPAL_MAX) makeRoom(own, 'sessions per principal');
      if (sessions.size >= SESSIONS_MAX) makeRoom(sessions.values(), 'sessions');
      const id = newId('session', random);
      const primes = version === '2025-11-25';
      const streams = createStreamBook({
        clock,
        keepAliveMs: face.keepAliveMs,
        sessionId: id,
        primes,
      });
      const { standalone } = streams;
      const session = createSession({ id, version, capabilities, principal, standalone });
      const held = { session, streams, lastSeenMs: clock.monotonic() };
      sessions.set(id, held);
      service.add(session);
      return held;
    },
    find(principal, id) {
      const held = isId('session', id) ? sessions.get(id) : undefined;
      if (held?.session.principal().key !== principal.key) return undefined;
      held.lastSeenMs = clock.monotonic();
      held.session.seen(principal);
      return held;
    },
    end,
    close() {
      sweeper.cancel();
      for (const held of Array.from(sessions.values())) {
        held.streams.closeAll('interrupt');
        end(held);
      }
    },
  };
}
