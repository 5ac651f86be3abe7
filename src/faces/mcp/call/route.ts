import { usesJobTools } from '../../../runtime/job-tools.ts';
import { decideCall, type CallDecision, type CallerKind } from '../../../runtime/modes.ts';
import type { CallSite } from './call-site.ts';

/** Decides how a call runs, and records it before anything is sent (decision 14). */
export function routeOf({ face, tool }: CallSite, caller: CallerKind): CallDecision {
  const decision = decideCall(tool.mode, caller, usesJobTools(tool, face.jobTools));
  face.routes.add({ route: decision.kind, reason: `${tool.mode}:${caller}` });
  return decision;
}
