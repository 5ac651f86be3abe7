import { constants } from 'node:fs';
import { mkdir, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoint } from '../../kernel/crash-point.ts';
import { LongcallError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import { messageOf } from '../../kernel/logger.ts';
import type { BlobStore } from '../artifacts.ts';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** What is being written has a name that no id has. */
const UNFINISHED = '.part';
const CHUNK_BYTES = 64 * 1024;
const FULL: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

export interface FileBlobStoreOptions {
  /** Made where it is not there. Belongs to one process: what a dead one left unfinished in it goes. */
  readonly directory: string;
}

/**
 * Content of artifacts as files, one each, readable by their owner only. A file appears under its name when it is
 * whole and on the disk.
 */
export async function openFileBlobStore({ directory }: FileBlobStoreOptions): Promise<BlobStore> {
  await failing('opened', () => prepare(directory));
  const pathOf = (id: string): string => {
    invariant(isId('artifact', id), 'only ids of artifacts become names of files');
    return join(directory, id);
  };
  return {
    put: async (id, content) => {
      const path = pathOf(id);
      await failing('written', () => putFile({ directory, path, content }));
    },
    read: async (id, range) => {
      const path = pathOf(id);
      return failing('read', () => readFile(path, range));
    },
    remove: async (id) => {
      const path = pathOf(id);
      await failing('removed', () => rm(path, { force: true }));
    },
    ids: () => idsIn(directory),
  };
}

/** Only what `putFile` writes: the folder may be one that others use too. */
const isUnfinished = (name: string): boolean =>
  name.endsWith(UNFINISHED) && isId('artifact', name.slice(0, -UNFINISHED.length));

async function prepare(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: PRIVATE_FOLDER });
  const names = await readdir(directory);
  for (const name of names.filter(isUnfinished)) await rm(join(directory, name), { force: true });
}

async function failing<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw blobFailure(error, what);
  }
}

/** What a caller sees of a failure. Nothing was kept: the file had not its name yet. */
function blobFailure(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string')
    return error;
  const data = { written: 'no' };
  if (FULL.includes(error.code))
    return new LongcallError('LONGCALL_STORE_FULL', 'the disk of the artifacts is full', {
      cause: error,
      hint: 'free space on the disk of the data directory; nothing is lost that was promised',
      data,
    });
  const message = `the content of an artifact could not be ${what}: ${messageOf(error)}`;
  return new LongcallError('LONGCALL_STORE_FAILED', message, { cause: error, data });
}

interface NewFile {
  readonly directory: string;
  readonly path: string;
  readonly content: Uint8Array;
}

/** Whole and on the disk first, then under its name, then the name on the disk. */
async function putFile({ directory, path, content }: NewFile): Promise<void> {
  invariant(!(await isThere(path)), 'an artifact is written once');
  const unfinished = `${path}${UNFINISHED}`;
  try {
    await writeSynced(unfinished, content);
    crashPoint('before-blob-named');
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncDirectory(directory);
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function writeSynced(path: string, content: Uint8Array): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, PRIVATE_FILE);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Without it a crash of the machine could take the name back. Windows cannot, and does not need to. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(directory, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

type Range = { readonly start: number; readonly end: number };

async function readFile(
  path: string,
  range: Range | undefined,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  return (await isThere(path)) ? chunksOf(path, range) : undefined;
}

/** A piece at a time. The file is opened when somebody begins to read, and closed when they have enough. */
async function* chunksOf(path: string, range: Range | undefined): AsyncGenerator<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    let at = range?.start ?? 0;
    const end = range?.end ?? Infinity;
    while (at <= end) {
      const length = Math.min(CHUNK_BYTES, end - at + 1);
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function* idsIn(directory: string): AsyncIterable<string> {
  for await (const { name } of await opendir(directory)) if (isId('artifact', name)) yield name;
}
