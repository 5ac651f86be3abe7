import type { IncomingMessage } from 'node:http';
import { hasScope } from '../../identity/permissions.ts';
import { isIdentified, type Principal } from '../../identity/principal.ts';
import { LongcallError } from '../../kernel/errors.ts';
import type { Face } from '../mcp/face.ts';
import { createHostGuard } from '../mcp/http/host-guard.ts';
import { Refusal, scopeMissing, tooManyReads } from './problems.ts';
import type { RestRoute } from './route.ts';

const unauthenticated = (words: string, challenge: string): Refusal =>
  new Refusal(
    new LongcallError('LONGCALL_UNAUTHENTICATED', words, {
      hint: 'send a token as Authorization: Bearer <token>',
    }),
    { headers: { 'www-authenticate': challenge } },
  );

const CHALLENGE = 'Bearer realm="longcall"';

/** Who asks; the same door as at /mcp: host and origin, then the credential. Nothing was read of the request before. */
export function createDoor(face: Face): (req: IncomingMessage) => Principal {
  const guard = createHostGuard(face.allowedHosts);
  return (req) => {
    const bad = guard(req);
    if (bad !== undefined)
      throw new Refusal(
        new LongcallError('LONGCALL_UNAUTHENTICATED', `this ${bad} is not served here`, {
          hint: 'use the loopback address, or name the host in listen.allowedHosts',
        }),
        { status: 403 },
      );
    const authentication = face.authenticator.authenticate(req.headers.authorization, req);
    if (authentication.kind === 'principal') return authentication.principal;
    const { reason } = authentication;
    const challenge = reason === 'missing' ? CHALLENGE : `${CHALLENGE}, error="invalid_token"`;
    throw unauthenticated(`not authenticated: ${reason} credential`, challenge);
  };
}

/** Whether this principal may use the route now: its scope, and how often it has read status. */
export function admit(
  face: Face,
  route: RestRoute,
  visit: { principal: Principal; id: string },
): void {
  const { principal, id } = visit;
  const { scope, method } = route;
  if (scope !== undefined && !hasScope(principal, scope)) {
    if (!isIdentified(principal)) throw unauthenticated('this needs an identity', CHALLENGE);
    throw scopeMissing(scope);
  }
  if (method !== 'GET') return;
  const params = id === '' ? {} : { taskId: id };
  const tooMany = face.reads.refusal(principal, { method: 'tasks/get', params });
  if (tooMany) throw tooManyReads(tooMany.retryAfterSeconds * 1000);
}
