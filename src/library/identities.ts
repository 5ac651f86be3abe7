import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '../identity/authenticator.ts';
import { LongcallError } from '../kernel/errors.ts';
import { createPrincipal, localPrincipal, type Principal } from '../identity/principal.ts';

/**
 * Who asks, as the author's own checks have found out. The same person has the same issuer, tenant and subject, whatever
 * token or session: records are bound to these three (and `client`, for programs that act for themselves).
 */
export interface Identity {
  readonly subject: string;
  /** Default: `default`. */
  readonly tenant?: string;
  /** Who vouches for the subject. Default: `app`. */
  readonly issuer?: string;
  readonly client?: string;
  /** What they may do: `*` for everything (the default), `tool.call`, `task.read`, `task.list` … */
  readonly scopes?: readonly string[];
  /** When the credential ends, in ms since the epoch. */
  readonly expiresAt?: number;
}

/** A request as middleware has left it: the SDK's `requireBearerAuth`, for one, puts its findings into `auth`. */
export type IdentifiedRequest = IncomingMessage & {
  readonly auth?: {
    readonly clientId?: string;
    readonly scopes?: readonly string[];
    readonly extra?: Readonly<Record<string, unknown>>;
  };
};

/** Tells who sent a request. Nothing: nobody that may call, which is answered with HTTP 401. */
export type Identify = (
  request: IdentifiedRequest,
) => Identity | undefined | Promise<Identity | undefined>;

/**
 * `local` is the user of this machine: whoever calls over stdio, or with the token of the data directory.
 * @throws LONGCALL_LIBRARY_USAGE where it names nobody in particular: all whom it fits would share their records
 */
export function principalOfIdentity(identity: Identity | 'local'): Principal {
  if (identity === 'local') return localPrincipal();
  const problem = problemOf(identity);
  if (problem !== undefined)
    throw new LongcallError('LONGCALL_LIBRARY_USAGE', `an identity names nobody: ${problem}`);
  const {
    subject,
    tenant = 'default',
    issuer = 'app',
    client,
    scopes = ['*'],
    expiresAt,
  } = identity;
  return createPrincipal({
    issuer,
    tenant,
    subject,
    method: 'token',
    scopes,
    ...(client === undefined ? {} : { client }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
}

/** The author's word may come from a token's claims, of which any may be missing. */
function problemOf({ subject, scopes, expiresAt, ...named }: Identity): string | undefined {
  if (!isName(subject)) return 'subject has to be a text that is not empty';
  const odd = (['tenant', 'issuer', 'client'] as const).find(
    (member) => named[member] !== undefined && !isName(named[member]),
  );
  if (odd !== undefined) return `${odd} has to be a text that is not empty, or left out`;
  if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every(isName)))
    return 'scopes has to be a list of texts, or left out';
  return expiresAt === undefined || Number.isFinite(expiresAt)
    ? undefined
    : 'expiresAt has to be a time in ms since the epoch, or left out';
}

const isName = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

/** Asks the author's function once for each request, before the face does. */
export interface RequestIdentities {
  readonly authenticator: Authenticator;
  admit(request: IncomingMessage): Promise<void>;
}

export function createRequestIdentities(
  identify: Identify,
  clock: { now(): number },
): RequestIdentities {
  const found = new WeakMap<object, Principal>();
  return {
    async admit(request) {
      const identity = await identify(request);
      if (identity) found.set(request, principalOfIdentity(identity));
    },
    authenticator: {
      allowsAnonymous: false,
      authenticate(authorization, request) {
        const principal = request && found.get(request);
        if (!principal)
          return { kind: 'denied', reason: authorization === undefined ? 'missing' : 'unknown' };
        if (principal.expiresAt !== undefined && principal.expiresAt <= clock.now())
          return { kind: 'denied', reason: 'expired' };
        return { kind: 'principal', principal };
      },
    },
  };
}

/** Callers without a token are served on this machine alone: where the author listens, only the socket knows. */
export function withoutStrangers(authenticator: Authenticator): Authenticator {
  if (!authenticator.allowsAnonymous) return authenticator;
  return {
    allowsAnonymous: true,
    authenticate(authorization, request) {
      const isStranger = authorization === undefined && !isLocal(request);
      return isStranger
        ? { kind: 'denied', reason: 'missing' }
        : authenticator.authenticate(authorization, request);
    },
  };
}

const isLocal = (request: IncomingMessage | undefined): boolean =>
  /^(?:127\.|::1$|::ffff:127\.)/.test(request?.socket.localAddress ?? '');
