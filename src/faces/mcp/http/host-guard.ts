import type { IncomingMessage } from 'node:http';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'] as const;

/** The host name of a `Host` value, lower case, brackets kept, without the port. */
function nameOfHost(host: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]+)(?::\d{1,5})?$/i.exec(host.trim());
  return match?.[1]?.toLowerCase();
}

function nameOfOrigin(origin: string): string | undefined {
  const match = /^https?:\/\/(.+)$/i.exec(origin.trim());
  return match?.[1] === undefined ? undefined : nameOfHost(match[1]);
}

/** What a request names that is not allowed here, or nothing. */
export type HostGuard = (req: IncomingMessage) => 'Host' | 'Origin' | undefined;

/**
 * Against DNS rebinding: a browser that was lured to our address names the lure in `Host` or `Origin`, and is
 * refused whatever port it found us on (G1-133, G2-162). Callers that are no browser send no `Origin`.
 */
export function createHostGuard(allowedHosts: readonly string[]): HostGuard {
  const names = [...LOOPBACK, ...allowedHosts].map(
    (host) => nameOfHost(host) ?? host.toLowerCase(),
  );
  const allowed = new Set<string>(names);
  const knows = (name: string | undefined): boolean => name !== undefined && allowed.has(name);
  return ({ headers: { host, origin } }) => {
    if (host === undefined || !knows(nameOfHost(host))) return 'Host';
    return origin !== undefined && !knows(nameOfOrigin(origin)) ? 'Origin' : undefined;
  };
}
