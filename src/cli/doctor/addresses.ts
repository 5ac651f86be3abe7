import { connect, createServer } from 'node:net';
import { formatAddress } from '../../gateway/config/address.ts';
import type { ListenAddress, ListenConfig } from '../../gateway/config/config.ts';
import { fail, ok } from './finding.ts';
import type { Finding } from './finding.ts';

const CONNECT_MS_MAX = 3_000;

/** Whether a gateway that is started now could listen where it is told to. */
export async function freeAddressFindings(listen: ListenConfig): Promise<readonly Finding[]> {
  return [
    await freeAddressFinding('listen.mcp', listen.mcp),
    await freeAddressFinding('listen.admin', listen.admin),
  ];
}

async function freeAddressFinding(check: string, address: ListenAddress): Promise<Finding> {
  const problem = await problemOfListening(address);
  if (problem === undefined) return ok(check, `${formatAddress(address)} is free`);
  const taken = problem === 'EADDRINUSE' ? 'another process listens there' : problem;
  const hint = 'end what listens there, or name another address in the configuration';
  return fail(check, { detail: `${formatAddress(address)}: ${taken}`, hint });
}

function problemOfListening({ host, port }: ListenAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}

/** Whether the running gateway's MCP endpoint takes connections from here. */
export async function reachableFinding(mcpUrl: string): Promise<Finding> {
  const { hostname, port, protocol } = new URL(mcpUrl);
  const standard = protocol === 'https:' ? 443 : 80;
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || standard };
  const problem = await problemOfConnecting(address);
  if (problem === undefined) return ok('listen.mcp', `${mcpUrl} takes connections`);
  const hint = 'look for its listener in the log of the gateway';
  return fail('listen.mcp', { detail: `${mcpUrl}: ${problem}`, hint });
}

function problemOfConnecting(address: ListenAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: CONNECT_MS_MAX });
    const end = (problem: string | undefined): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.once('connect', () => end(undefined));
    socket.once('timeout', () => end('no answer'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
