import { anonymousPrincipal } from '../identity/principal.ts';
import type { StoredEvent } from '../stores/events.ts';
import { eventDocument } from './documents.ts';
import type { EventDocument } from './documents.ts';

/** Events of a task that the reader has named, so that its id is known to it. */
export const eventDocuments = (events: readonly StoredEvent[]): readonly EventDocument[] =>
  events.map(eventDocument);

const ANONYMOUS_TENANT = anonymousPrincipal().tenant;

/** Events of many tasks. The id of an anonymous caller's task is all that protects it, so audit shows its hash. */
export function auditDocuments(
  events: readonly StoredEvent[],
  hashId: (id: string) => string,
): readonly EventDocument[] {
  return events.map((event) => {
    const document = eventDocument(event);
    const isSecret = event.tenant === ANONYMOUS_TENANT && document.taskId !== null;
    return isSecret ? { ...document, taskId: hashId(document.taskId ?? '') } : document;
  });
}
