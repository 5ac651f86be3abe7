import { accessSync, constants, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { SECRET_FILES } from '../../identity/data-secrets.ts';
import { messageOf } from '../../kernel/logger.ts';
import type { DataInspection } from '../../compose/inspect-data.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Finding } from './finding.ts';
import { storeFinding } from './store-health.ts';

const GROUP_AND_OTHERS = 0o077;
/** Windows has no modes; there the directory's own access rules decide. */
const HAS_MODES = process.platform !== 'win32';

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0');

/** Whether the directory of the store is there, ours, and closed to others. */
export function directoryFinding(data: string): Finding {
  const check = 'data.directory';
  const stats = statOf(data);
  if (stats === undefined) return ok(check, `${data} is not there yet; the first start makes it`);
  if (!stats.isDirectory())
    return fail(check, { detail: `${data} is no directory`, hint: 'name another one with --data' });
  const problem = notWritable(data);
  if (problem !== undefined)
    return fail(check, {
      detail: problem,
      hint: 'run as its owner, or name another one with --data',
    });
  if (HAS_MODES && (stats.mode & GROUP_AND_OTHERS) !== 0) {
    const detail = `${data} has mode ${octal(stats.mode)}: others can look into it`;
    return warn(check, { detail, hint: `chmod 700 ${data}` });
  }
  return ok(check, data);
}

/** Keys and tokens: each readable by its owner alone. */
export function secretFindings(data: string, tokensFile: string | undefined): readonly Finding[] {
  const files = Object.values(SECRET_FILES).map((name) => ({ name, path: join(data, name) }));
  const named = tokensFile === undefined ? [] : [{ name: 'tokens', path: tokensFile }];
  return [...files, ...named].map(({ name, path }) => secretFinding(`key.${name}`, path));
}

function secretFinding(check: string, path: string): Finding {
  const stats = statOf(path);
  if (stats === undefined) return skipped(check, `${path} is not there yet`);
  if (HAS_MODES && (stats.mode & GROUP_AND_OTHERS) !== 0) {
    const detail = `${path} has mode ${octal(stats.mode)}: others may read or write it`;
    return fail(check, { detail, hint: `chmod 600 ${path}; if others have seen it, replace it` });
  }
  return ok(check, `${path} (${octal(stats.mode)})`);
}

/** Lock and store of a directory whose gateway did not answer. */
export function inspectionFindings(
  data: string,
  inspect: (directory: string) => DataInspection,
): readonly Finding[] {
  try {
    const { lock, store } = inspect(data);
    return [
      lock.held ? heldFinding(lock.pid) : ok('data.lock', 'free'),
      store === undefined ? skipped('store', 'there is none yet') : storeFinding(store),
    ];
  } catch (error) {
    const hint = 'run as the owner of the data directory';
    return [fail('data.lock', { detail: messageOf(error), hint })];
  }
}

function heldFinding(pid: number | undefined): Finding {
  const holder = pid === undefined ? 'a process' : `process ${pid}`;
  const hint = 'it is starting or stopping, or hangs: look at its log';
  return warn('data.lock', {
    detail: `held by ${holder}, whose admin endpoint does not answer`,
    hint,
  });
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a folder on the way is closed or no folder: it is not there for us
  }
}

function notWritable(data: string): string | undefined {
  try {
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
