import type { Page } from '../admin/documents.ts';
import { LongcallError } from '../kernel/errors.ts';
import { isId } from '../kernel/ids.ts';
import type { AdminClient } from './admin-client.ts';

const PREFIX_CHARS_MIN = 8;

const KINDS = {
  task: { path: '/tasks', unknown: 'LONGCALL_TASK_UNKNOWN', list: 'longcall tasks list' },
  operation: {
    path: '/operations',
    unknown: 'LONGCALL_OPERATION_UNKNOWN',
    list: 'longcall ops list',
  },
} as const;

/**
 * The whole id for what was typed: itself, or its first 8 or more characters where they fit one record only. The
 * mark of a cut-off table cell at its end is let pass.
 */
export async function resolveId(
  client: AdminClient,
  kind: keyof typeof KINDS,
  given: string,
): Promise<string> {
  if (isId(kind, given)) return given;
  const { path, unknown, list } = KINDS[kind];
  const prefix = given.replace(/[…~]$/, '');
  if (prefix.length < PREFIX_CHARS_MIN) {
    throw new LongcallError(
      'LONGCALL_USAGE',
      `${given} is too short for the start of a ${kind} id; give at least ${PREFIX_CHARS_MIN} characters`,
      { hint: `\`${list}\` shows the ids` },
    );
  }
  const { items } = await client.get<Page<{ readonly id: string }>>(path, {
    idPrefix: prefix,
    limit: '2',
  });
  const [found, another] = items.filter(({ id }) => id.startsWith(prefix));
  if (found === undefined)
    throw new LongcallError(unknown, `no ${kind} id begins with ${prefix}`, {
      hint: `\`${list}\` shows the ids`,
    });
  if (another !== undefined)
    throw new LongcallError('LONGCALL_USAGE', `more than one ${kind} id begins with ${prefix}`, {
      hint: 'give more of it',
    });
  return found.id;
}
