import type { SurfaceEvent } from '../../../runtime/surface.ts';
import { notification } from '../message.ts';
import type { Hub } from './hub.ts';
import type { Session } from './session.ts';

function wants(session: Session, event: SurfaceEvent): boolean {
  if (event.kind === 'list_changed') return true;
  if (session.principal().key !== event.principalKey) return false;
  return event.kind === 'log'
    ? session.wantsLog(event.params['level'])
    : session.watching(event.uri);
}

function messageOf(event: SurfaceEvent): ReturnType<typeof notification> {
  switch (event.kind) {
    case 'list_changed':
      return notification(`notifications/${event.list}/list_changed`, {});
    case 'resource_updated':
      return notification('notifications/resources/updated', { ...event.params, uri: event.uri });
    case 'log':
      return notification('notifications/message', event.params);
  }
}

/** What upstreams let us know, passed on to the sessions that it concerns. Returns the listener for the surface. */
export function createSurfaceRelay(hub: Hub): (event: SurfaceEvent) => void {
  return (event) => {
    for (const session of hub.sessions())
      if (wants(session, event)) session.standalone.send(messageOf(event));
  };
}
