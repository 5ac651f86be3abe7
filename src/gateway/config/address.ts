import { isIP } from 'node:net';
import type { ListenAddress } from './config.ts';

const HOST_PORT = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:\s[\]/]+)):(?<port>\d{1,9})$/;
const PORT_MAX = 65_535;

/** Why a text is no address: the port where it alone is wrong. */
export function addressProblem(text: string): string {
  const port = HOST_PORT.exec(text)?.groups?.['port'] ?? '0';
  if (Number(port) <= PORT_MAX) return 'must be host:port, for example 127.0.0.1:8787';
  return `has the port ${port}; a port is a number from 0 to ${PORT_MAX}`;
}

/** `host:port`, an IPv6 host in brackets; nothing where the text is neither. */
export function parseAddress(text: string): ListenAddress | undefined {
  const parts = HOST_PORT.exec(text)?.groups;
  const host = parts?.['bracketed'] ?? parts?.['plain'];
  const port = Number(parts?.['port']);
  if (host === undefined || port > PORT_MAX) return undefined;
  if (parts?.['bracketed'] !== undefined && isIP(host) !== 6) return undefined;
  return { host, port };
}

/** The address as it stands in a URL. */
export function formatAddress({ host, port }: ListenAddress): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether nobody but this machine can reach it. A name counts only when it is `localhost`. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  if (isIP(host) === 6) return host === '::1' || /^::ffff:127\./i.test(host);
  return host.toLowerCase() === 'localhost';
}

/** Whether it stands for every address of this machine. */
export const isWildcard = (host: string): boolean =>
  /^(?:0\.0\.0\.0|::|::0|0:0:0:0:0:0:0:0)$/.test(host);

/** Names that requests may give: the allowed ones, and the address itself where it is a name for this machine. */
export function reachableNames(
  { host }: ListenAddress,
  allowed: readonly string[],
): readonly string[] {
  if (isWildcard(host)) return allowed;
  return [...allowed, isIP(host) === 6 ? `[${host}]` : host];
}
