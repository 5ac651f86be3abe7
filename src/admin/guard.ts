import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { LongcallError } from '../kernel/errors.ts';
import { refuse, usage } from './refusals.ts';

/** The only route that answers without a token: it says that something lives here, and nothing about it. */
export const HEALTH_PATH = '/healthz';

const BODY_BYTES_MAX = 16 * 1024;
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The host of a Host header or an origin, in lower case and without its port; nothing where it is no such thing. */
function hostnameOf(authority: string): string | undefined {
  const match = /^(?:https?:\/\/)?(\[[0-9a-f:.]+\]|[^\s:/@?#]+)(?::\d{1,5})?$/i.exec(authority);
  return match?.[1]?.toLowerCase();
}

/**
 * Names under which this endpoint may be asked. A page that a browser loaded elsewhere can point its own name at
 * 127.0.0.1, but it cannot change the Host and Origin that the browser sends (DNS rebinding).
 */
export function createHostGuard(allowedHosts: readonly string[]): MiddlewareHandler {
  const allowed = new Set([...LOOPBACK_NAMES, ...allowedHosts.map((host) => host.toLowerCase())]);
  const isAllowed = (authority: string | undefined): boolean => {
    const hostname = authority === undefined ? undefined : hostnameOf(authority);
    return hostname !== undefined && allowed.has(hostname);
  };
  return async (context, next) => {
    const origin = context.req.header('origin');
    const isOurs =
      isAllowed(context.req.header('host')) && (origin === undefined || isAllowed(origin));
    if (isOurs) return next();
    const denied = new LongcallError(
      'LONGCALL_ADMIN_DENIED',
      'this Host or Origin is not served here',
      { hint: 'use the loopback address, or name the host in listen.allowedHosts' },
    );
    return refuse(context, denied, 403);
  };
}

/** Compares in constant time, whatever the lengths are. */
export function createTokenGuard(adminToken: string, onDenied: () => void): MiddlewareHandler {
  const wanted = digest(adminToken);
  return async (context, next) => {
    if (context.req.path === HEALTH_PATH) return next();
    const given = /^Bearer ([\x21-\x7e]+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
    if (given !== undefined && timingSafeEqual(digest(given), wanted)) return next();
    onDenied();
    context.header('www-authenticate', 'Bearer realm="longcall-admin"');
    const words = given === undefined ? 'an admin token is needed' : 'the admin token was refused';
    const hint = 'send the content of admin-token in the data directory as a bearer token';
    return refuse(context, new LongcallError('LONGCALL_ADMIN_DENIED', words, { hint }));
  };
}

/** Headers of every answer: nothing is kept, sniffed, framed or leaked to the next page. No CORS header, ever. */
export const sealHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  context.header('cache-control', 'no-store');
  context.header('x-content-type-options', 'nosniff');
  context.header('referrer-policy', 'no-referrer');
  context.header('cross-origin-resource-policy', 'same-origin');
  context.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
};

/**
 * Reading is GET and writing is POST with JSON, which a form of another site cannot send. HEAD is not served: it
 * would record the read of a result, or hold a watch open, for an answer that nobody gets.
 */
export const knownMethods: MiddlewareHandler = async (context, next) => {
  if (context.req.method === 'GET') return next();
  if (context.req.method !== 'POST') {
    context.header('allow', 'GET, POST');
    return refuse(context, usage(`${context.req.method} is not served here`), 405);
  }
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return next();
  return refuse(context, usage('the body must be application/json; send {} for none'), 415);
};

export const smallBody: MiddlewareHandler = bodyLimit({
  maxSize: BODY_BYTES_MAX,
  onError: (context) =>
    refuse(context, usage(`the body is larger than ${BODY_BYTES_MAX} bytes`), 413),
});
