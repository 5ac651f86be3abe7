import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { systemRandom } from '../../kernel/random.ts';
import { describeBlobs } from '../contract/blobs.ts';
import { openFileBlobStore } from './blob-store.ts';

describe('files', () => {
  describeBlobs(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'longcall-blobs-'));
    const open = () => openFileBlobStore({ directory });
    return {
      blobs: await open(),
      reopen: open,
      dispose: () => rm(directory, { recursive: true, force: true }),
    };
  });
});

describe('files of artifacts', () => {
  let directory: string;
  beforeEach(async () => {
    directory = join(await mkdtemp(join(tmpdir(), 'longcall-blobs-')), 'artifacts');
  });
  afterEach(() => rm(join(directory, '..'), { recursive: true, force: true }));

  const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

  test('only their owner can read them, and see which there are', async () => {
    const blobs = await openFileBlobStore({ directory });
    const id = newId('artifact', systemRandom);
    await blobs.put(id, Buffer.from('x'));
    expect(await modeOf(join(directory, id))).toBe(0o600);
    expect(await modeOf(directory)).toBe(0o700);
  });

  test('what a dead process left unfinished goes at the next start, and nothing else does', async () => {
    const blobs = await openFileBlobStore({ directory });
    const id = newId('artifact', systemRandom);
    await blobs.put(id, Buffer.from('x'));
    await writeFile(join(directory, `${newId('artifact', systemRandom)}.part`), 'half');
    await writeFile(join(directory, 'download.part'), 'somebody’s');
    await writeFile(join(directory, 'a-file-of-somebody'), 'kept');
    await openFileBlobStore({ directory });
    const kept = [id, 'a-file-of-somebody', 'download.part'];
    expect((await readdir(directory)).toSorted()).toEqual(kept.toSorted());
  });

  test('a link that somebody put there is not followed', async () => {
    const blobs = await openFileBlobStore({ directory });
    const id = newId('artifact', systemRandom);
    const secret = join(directory, '..', 'secret');
    await writeFile(secret, 'secret');
    await symlink(secret, join(directory, id));
    const read = async () => {
      for await (const chunk of (await blobs.read(id)) ?? []) expect(chunk).toBeUndefined();
    };
    await expect(read()).rejects.toThrow('ELOOP');
  });

  test('a directory that cannot be used is said to be that', async () => {
    await writeFile(directory, 'a file');
    await expect(openFileBlobStore({ directory })).rejects.toMatchObject({
      code: 'LONGCALL_STORE_FAILED',
    });
  });
});

const built = (path: string): string => new URL(`../../../dist/${path}`, import.meta.url).href;

/** Puts a small content and one for which the disk has no room, and tells what became of them. */
const WRITER = `
  const { openFileBlobStore } = await import(${JSON.stringify(built('stores/files/blob-store.js'))});
  const [directory, small, large] = process.argv.slice(1);
  const blobs = await openFileBlobStore({ directory });
  await blobs.put(small, Buffer.alloc(1024));
  const failure = await blobs.put(large, Buffer.alloc(4 * 1024 ** 2)).catch((error) => error);
  process.stdout.write(JSON.stringify({ code: failure.code, data: failure.data, retryable: failure.retryable }));`;

describe('a full disk', () => {
  test('is said to be that, and leaves nothing half-written', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'longcall-blobs-'));
    const [small, large] = [newId('artifact', systemRandom), newId('artifact', systemRandom)];
    const command = 'ulimit -f 1024 && exec "$0" --no-warnings --input-type=module --eval "$@"';
    const args = ['-c', command, process.execPath, WRITER, directory, small, large];
    const { stdout, stderr } = spawnSync('bash', args, { encoding: 'utf8' });
    expect(JSON.parse(stdout || `"${stderr}"`)).toEqual({
      code: 'LONGCALL_STORE_FULL',
      data: { written: 'no' },
      retryable: true,
    });
    expect(await readdir(directory)).toEqual([small]);
    await rm(directory, { recursive: true, force: true });
  });
});
