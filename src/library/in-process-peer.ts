import type { Sharing } from '../gateway/options.ts';
import { anonymousPrincipal } from '../identity/principal.ts';
import { LongcallError } from '../kernel/errors.ts';
import type { PeerTarget } from '../requestor/connect.ts';
import { currentRun, outsideRuns } from './current-run.ts';
import { isConnectable, isFastMcp, type ConnectableServer, type ServerSource } from './servers.ts';

/** An author's server as an upstream. */
export interface InProcessPeer {
  readonly endpoint: PeerTarget;
  readonly connections: Sharing;
}

const NOBODY = anonymousPrincipal().key;

/** Calls wait beyond it; each is a server object, which costs next to nothing. */
export const CONNECTIONS_MAX = 1_024;

export function createInProcessPeer(source: ServerSource): InProcessPeer {
  const open = (): ConnectableServer | Promise<ConnectableServer> =>
    typeof source === 'function' ? source() : source;
  return {
    endpoint: {
      kind: 'in-process',
      connect: (transport) =>
        outsideRuns(async () => releaseOf(await checked(await open()).connect(transport as never))),
      extra: callerOf,
    },
    // One server of the SDK serves one transport; a factory and FastMCP make something of their own for each.
    connections: typeof source === 'function' || isFastMcp(source) ? 'auto' : 'shared',
  };
}

function checked(server: unknown): ConnectableServer {
  if (isConnectable(server)) return server;
  throw new LongcallError(
    'LONGCALL_LIBRARY_USAGE',
    'what the factory returned is no MCP server: it has no connect(); return the server from it',
  );
}

/** FastMCP answers with a session, whose timers only its own `close` ends. */
function releaseOf(session: unknown): (() => void) | undefined {
  if (typeof session !== 'object' || session === null || !('close' in session)) return undefined;
  const { close } = session;
  if (typeof close !== 'function') return undefined;
  return () => void Promise.resolve(close.call(session)).catch(() => undefined);
}

/**
 * What the SDK shows its handlers as `authInfo`: who asks, as far as the record knows it. The token itself is never kept,
 * so that it can be nothing that a handler relies on: after a restart there is none.
 */
function callerOf(): object | undefined {
  const run = currentRun();
  if (!run) return undefined;
  const { owner, tenant } = run.job.task;
  if (owner === NOBODY) return undefined;
  return {
    authInfo: { token: '', clientId: owner, scopes: [], extra: { principal: owner, tenant } },
  };
}
