import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '../identity/private-file.ts';
import { isJsonObject, stringAt } from '../kernel/json.ts';

/** What the process behind a socket is: one that windows started, or a gateway over HTTP that somebody runs. */
export const ENGINE_ROLES = ['engine', 'gateway'] as const;
export type EngineRole = (typeof ENGINE_ROLES)[number];

/** Who serves the windows of a data directory, and where. Only there while it does, or after it was killed. */
export interface EngineRecord {
  readonly socket: string;
  readonly pid: number;
  readonly version: string;
  readonly role: EngineRole;
}

export const ENGINE_FILE = 'engine.json';

/** The answer removes it again. */
export function writeEngineRecord(directory: string, record: EngineRecord): () => void {
  const path = join(directory, ENGINE_FILE);
  writePrivateFile(path, `${JSON.stringify(record)}\n`);
  return () => rmSync(path, { force: true });
}

/** Nothing where there is none, or none that makes sense. Throws LONGCALL_KEY_FILE_UNSAFE where others could write it. */
export function readEngineRecord(directory: string): EngineRecord | undefined {
  const text = readPrivateFile(join(directory, ENGINE_FILE))?.toString('utf8');
  const parsed = text === undefined ? undefined : parse(text);
  if (!isJsonObject(parsed)) return undefined;
  const { pid } = parsed;
  const [socket, version] = [stringAt(parsed, 'socket'), stringAt(parsed, 'version')];
  const role = ENGINE_ROLES.find((known) => known === parsed['role']);
  if (socket === undefined || version === undefined || role === undefined) return undefined;
  return typeof pid === 'number' ? { socket, pid, version, role } : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
