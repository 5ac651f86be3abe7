import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { LongcallError } from '../kernel/errors.ts';
import { messageOf } from '../kernel/logger.ts';

/** Files that only their owner may read: keys, tokens, the tokens file. */
export const PRIVATE_MODE = 0o600;
const OTHERS = 0o077;

/**
 * The content of a private file; nothing where there is none. Throws LONGCALL_KEY_FILE_UNSAFE when the group or
 * others may read or write it, or another user owns it: what they may have seen is no secret any more. Checks the
 * opened file, not its name.
 */
export function readPrivateFile(path: string): Buffer | undefined {
  const handle = openIfThere(path);
  if (handle === undefined) return undefined;
  try {
    const { mode, uid } = fstatSync(handle);
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) throw unsafeMode(path, mode);
    if (isForeign(uid)) throw foreignOwner(path, uid);
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Puts a private file in place in one step; a crash leaves the old one or the new one, never half of it. */
export function writePrivateFile(path: string, content: string | Uint8Array): void {
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const handle = openSync(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    PRIVATE_MODE,
  );
  try {
    writeFileSync(handle, content);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(draft, path);
  syncFolder(dirname(path));
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new LongcallError(
      'LONGCALL_DATA_UNUSABLE',
      `${path} cannot be read: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** Root may be trusted with everybody's files; for root itself, files of a container's or a volume's user are usual. */
function isForeign(uid: number): boolean {
  const own = process.geteuid?.();
  return own !== undefined && own !== 0 && uid !== own && uid !== 0;
}

function foreignOwner(path: string, uid: number): LongcallError {
  return new LongcallError(
    'LONGCALL_KEY_FILE_UNSAFE',
    `${path} belongs to user ${uid}, who may read and change it`,
    {
      hint: 'run as that user, or replace the file with one of your own',
    },
  );
}

function unsafeMode(path: string, mode: number): LongcallError {
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  return new LongcallError(
    'LONGCALL_KEY_FILE_UNSAFE',
    `${path} has mode ${octal}: others may read or write it`,
    {
      hint: `if nobody else has seen it: chmod 600 ${path}; otherwise replace what it holds`,
    },
  );
}

/** Makes the rename itself durable; systems that cannot open a folder do without. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
