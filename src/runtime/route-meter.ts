import type { ToolMode } from './tool.ts';
import type { CallDecision, CallerKind } from './modes.ts';

/** One decision how a call runs, and why. */
export interface RouteDecision {
  readonly route: CallDecision['kind'];
  /** `task-optional:2025-plain`: how the tool is served, and who called. */
  readonly reason: `${ToolMode}:${CallerKind}`;
}

export interface RouteCount extends RouteDecision {
  readonly count: number;
}

/** Counts how calls are routed, before anything is sent (decision 14). */
export interface RouteMeter {
  add(decision: RouteDecision): void;
  counts(): readonly RouteCount[];
}

export function createRouteMeter(): RouteMeter {
  const counts = new Map<string, RouteCount>();
  return {
    add(decision) {
      const key = `${decision.route} ${decision.reason}`;
      const { count } = counts.get(key) ?? { count: 0 };
      counts.set(key, { ...decision, count: count + 1 });
    },
    counts: () => Array.from(counts.values()),
  };
}
