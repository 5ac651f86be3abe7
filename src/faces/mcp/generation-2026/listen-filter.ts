import { isJsonObject, objectAt, type JsonObject } from '../../../kernel/json.ts';
import { extensionRequired, invalidParams } from '../failures.ts';
import type { Envelope } from './envelope.ts';

/** How many tasks or resources one listen may name. */
const NAMED_MAX = 256;

/** The list changes that a caller can ask for, by the member of the filter. */
export const LIST_FILTERS = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
} as const;
export type ListFilter = keyof typeof LIST_FILTERS;
const LIST_FILTER_NAMES = Object.keys(LIST_FILTERS) as readonly ListFilter[];

/** What a `subscriptions/listen` asks for. */
export interface Filter {
  readonly lists: readonly ListFilter[];
  readonly resourceUris: readonly string[];
  readonly taskIds: readonly string[];
}

function readNames(filter: JsonObject, member: string): readonly string[] {
  const names = filter[member];
  if (names === undefined) return [];
  const strings = Array.isArray(names)
    ? names.filter((name) => typeof name === 'string')
    : undefined;
  if (!Array.isArray(names) || strings?.length !== names.length)
    throw invalidParams(`notifications.${member} must be an array of strings`);
  if (strings.length > NAMED_MAX)
    throw invalidParams(
      `notifications.${member} names more than ${NAMED_MAX}; use several listens`,
    );
  return Array.from(new Set(strings));
}

function wants(filter: JsonObject, member: ListFilter): boolean {
  const value = filter[member];
  if (value !== undefined && typeof value !== 'boolean')
    throw invalidParams(`notifications.${member} must be a boolean`);
  return value === true;
}

export function readFilter({ notifications }: JsonObject, envelope: Envelope): Filter {
  if (!isJsonObject(notifications)) throw invalidParams('notifications must be an object');
  if (notifications['taskIds'] !== undefined && !envelope.tasks)
    throw extensionRequired('listening to taskIds'); // G2-100
  return {
    lists: LIST_FILTER_NAMES.filter((member) => wants(notifications, member)),
    resourceUris: readNames(notifications, 'resourceSubscriptions'),
    taskIds: readNames(notifications, 'taskIds'),
  };
}

/** What of a filter can be served at all, by what is declared. */
export function serveable(filter: Filter, capabilities: JsonObject): Filter {
  const flag = (of: string, name: string): boolean => objectAt(capabilities, of)?.[name] === true;
  return {
    ...filter,
    lists: filter.lists.filter((member) => flag(LIST_FILTERS[member], 'listChanged')),
    resourceUris: flag('resources', 'subscribe') ? filter.resourceUris : [],
  };
}

/** The accepted part, as the acknowledgement shows it (G2-101). */
export function shownFilter({ lists, resourceUris, taskIds }: Filter): JsonObject {
  return {
    ...Object.fromEntries(lists.map((member) => [member, true])),
    ...(resourceUris.length > 0 ? { resourceSubscriptions: resourceUris } : {}),
    ...(taskIds.length > 0 ? { taskIds } : {}),
  };
}
