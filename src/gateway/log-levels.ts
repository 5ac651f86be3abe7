import { objectAt } from '../kernel/json.ts';
import { LOG_LEVELS, type LogLevel } from '../protocol/log-level.ts';
import type { Connection } from '../requestor/connection.ts';
import { EVERYBODY } from './connection-plan.ts';

/**
 * From which level on each principal wants to hear its upstreams: the most talkative that one of its sessions has
 * asked for. What a single session does not want is left out in front.
 */
export interface LogLevels {
  /** Tells whether it changed anything. */
  want(principalKey: string, level: LogLevel): boolean;
  /** `owner` is the pool's: for EVERYBODY the most talkative of all. */
  levelOf(owner: string): LogLevel | undefined;
}

export function createLogLevels(): LogLevels {
  const levels = new Map<string, LogLevel>();
  const lowest = (wanted: readonly LogLevel[]): LogLevel | undefined =>
    LOG_LEVELS.find((level) => wanted.includes(level));
  return {
    want(principalKey, level) {
      const before = levels.get(principalKey);
      const after = lowest(before === undefined ? [level] : [before, level]) ?? level;
      levels.set(principalKey, after);
      return after !== before;
    },
    levelOf: (owner) =>
      owner === EVERYBODY ? lowest(Array.from(levels.values())) : levels.get(owner),
  };
}

const SET_MS_MAX = 10_000;

/** Tells a connection its level; only before 2026-07-28 does a connection have one, and a peer may log nothing. */
export async function applyLogLevel(
  connection: Connection,
  level: LogLevel | undefined,
): Promise<void> {
  if (level === undefined || connection.generation === '2026-07-28') return;
  if (objectAt(connection.hello.capabilities, 'logging') === undefined) return;
  await connection.request({
    method: 'logging/setLevel',
    params: { level },
    timeoutMs: SET_MS_MAX,
  });
}
