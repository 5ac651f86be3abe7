import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../../identity/principal.ts';
import { RPC_CODES } from '../../../protocol/names.ts';
import { refuse } from '../http/answer.ts';
import type { HttpSession, HttpSessions } from './http-sessions.ts';
import { isSessionVersion, SESSION_VERSIONS } from './versions.ts';

/** One HTTP request of this line; host, origin and token are settled. */
export interface Visit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly principal: Principal;
}

export const headerOf = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** Refuses with an HTTP status; the answer is always nothing, for the caller to return. */
export function turnAway({ res }: Visit, status: number, message: string): undefined {
  refuse(res, { code: RPC_CODES.invalidRequest, message }, { status });
}

/** Whether the caller says that it can read what we may answer with (G1-122). */
export function canRead({ headers }: IncomingMessage, ...types: readonly string[]): boolean {
  const { accept = '*/*' } = headers;
  return accept.includes('*/*') || types.every((type) => accept.includes(type));
}

function versionProblem(req: IncomingMessage): string | undefined {
  const version = headerOf(req, 'mcp-protocol-version');
  if (version === undefined || isSessionVersion(version)) return undefined; // G1-98, G1-124
  return `unsupported MCP-Protocol-Version; served here: ${SESSION_VERSIONS.join(', ')}, 2026-07-28`;
}

/** The session that a request names, or nothing after it was turned away (G1-131, G1-132). */
export function enterSession(sessions: HttpSessions, visit: Visit): HttpSession | undefined {
  const problem = versionProblem(visit.req);
  if (problem !== undefined) return turnAway(visit, 400, problem);
  const id = headerOf(visit.req, 'mcp-session-id');
  if (id === undefined)
    return turnAway(visit, 400, 'Mcp-Session-Id is missing; send initialize first');
  const held = sessions.find(visit.principal, id);
  return held ?? turnAway(visit, 404, 'session not found; send initialize to begin a new one');
}
