import type { JsonObject } from '../kernel/json.ts';
import { stringAt } from '../kernel/json.ts';
import type { AttendanceBook, Attendant } from './attendance.ts';
import { passingMeta } from './envelope.ts';

export interface NotificationRoutes {
  readonly book: AttendanceBook;
  /** The call on whose stream it came. */
  readonly via: Attendant | undefined;
  byToken(token: unknown): Attendant | undefined;
  stray(method: string, params: JsonObject): void;
}

/** Hands a notification to the call that it belongs to, or to whoever listens to the rest. */
export function routeNotification(
  { method, params }: { readonly method: string; readonly params: JsonObject },
  routes: NotificationRoutes,
): void {
  const { book, via } = routes;
  switch (method) {
    case 'notifications/progress': {
      const { progressToken, ...rest } = params;
      routes.byToken(progressToken)?.progress(withPassingMeta(rest));
      return;
    }
    case 'notifications/message': {
      const attendant = via ?? book.sole();
      if (attendant) attendant.log(withPassingMeta(params));
      else routes.stray(method, withPassingMeta(params));
      return;
    }
    case 'notifications/tasks/status':
    case 'notifications/tasks':
      book.ofTask(stringAt(params, 'taskId'))?.nudge();
      return;
    default:
      routes.stray(method, withPassingMeta(params));
  }
}

function withPassingMeta(params: JsonObject): JsonObject {
  const { _meta: meta, ...rest } = params;
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return rest;
  const passing = passingMeta(meta as JsonObject);
  return Object.keys(passing).length === 0 ? rest : { ...rest, _meta: passing };
}
