import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator } from '../../../identity/authenticator.ts';
import type { Principal } from '../../../identity/principal.ts';
import type { Clock } from '../../../kernel/clock.ts';

/** How often the credentials of open answers are looked at again. */
const LOOK_AGAIN_MS = 1_000;

/** An answer that is still open, and in whose name it was opened. */
export interface StandingAnswer {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly principal: Principal;
}

/** Answers that may go on for hours: streams, and requests that wait. */
export interface StandingAnswers {
  enter(answer: StandingAnswer): void;
}

/** Whether both may read the same: the person, what they may do, and until when. */
const isSame = (a: Principal, b: Principal): boolean =>
  a.key === b.key && a.expiresAt === b.expiresAt && a.scopes.join() === b.scopes.join();

/**
 * Cuts answers whose credential was taken back, has expired, or stands for something else by now (decision 2, T36):
 * who comes back is judged anew. A credential counts when its request arrives, and here, but not in between.
 */
export function createStandingAnswers(authenticator: Authenticator, clock: Clock): StandingAnswers {
  const open = new Set<StandingAnswer>();
  const stillCounts = ({ req, principal }: StandingAnswer): boolean => {
    const now = authenticator.authenticate(req.headers.authorization, req);
    return now.kind === 'principal' && isSame(now.principal, principal);
  };
  let looking = false;
  const lookLater = (): void => {
    looking = open.size > 0;
    if (looking) clock.after(LOOK_AGAIN_MS, look);
  };
  const look = (): void => {
    for (const answer of Array.from(open)) if (!stillCounts(answer)) answer.res.destroy();
    lookLater();
  };
  return {
    enter(answer) {
      open.add(answer);
      answer.res.once('close', () => open.delete(answer));
      if (!looking) lookLater();
    },
  };
}
