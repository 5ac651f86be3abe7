import { describe, expect, test } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { InvariantError } from '../../kernel/invariant.ts';
import { systemRandom } from '../../kernel/random.ts';
import type { BlobStore } from '../artifacts.ts';

/** An empty store and the way to open the same content again. */
export interface BlobScene {
  readonly blobs: BlobStore;
  readonly reopen: () => Promise<BlobStore>;
  readonly dispose: () => Promise<void>;
}

export type OpenBlobScene = () => Promise<BlobScene>;

const freshId = (): string => newId('artifact', systemRandom);
const bytesOf = (count: number): Uint8Array =>
  Uint8Array.from({ length: count }, (_, at) => at % 251);

async function readAll(
  blobs: BlobStore,
  id: string,
  range?: { readonly start: number; readonly end: number },
): Promise<Buffer | undefined> {
  const chunks = await blobs.read(id, range);
  if (!chunks) return undefined;
  const read: Uint8Array[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read);
}

async function idsOf(blobs: BlobStore): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const id of blobs.ids()) ids.push(id);
  return ids.toSorted();
}

/** The contract of BlobStore: files, and every object store, pass it. */
export function describeBlobs(open: OpenBlobScene): void {
  const within = (play: (scene: BlobScene) => Promise<void>) => async () => {
    const scene = await open();
    try {
      await play(scene);
    } finally {
      await scene.dispose();
    }
  };
  describe('BlobStore', () => {
    testContent(within);
    testOnce(within);
    testIds(within);
  });
}

type Within = (play: (scene: BlobScene) => Promise<void>) => () => Promise<void>;

function testContent(within: Within): void {
  test.each([0, 1, 65_535, 65_536, 65_537, 5_000_001])(
    'content of %i bytes is read as it was put, also after a restart',
    (count) =>
      within(async ({ blobs, reopen }) => {
        const id = freshId();
        const content = bytesOf(count);
        await blobs.put(id, content);
        expect((await readAll(blobs, id))?.equals(content)).toBe(true);
        expect((await readAll(await reopen(), id))?.equals(content)).toBe(true);
      })(),
  );

  test(
    'a range is read with both its ends, and no more than there is',
    within(async ({ blobs }) => {
      const id = freshId();
      const content = Buffer.from(bytesOf(200_000));
      await blobs.put(id, content);
      for (const [start, end] of [
        [0, 0],
        [10, 20],
        [65_000, 140_000],
        [199_999, 199_999],
      ] as const)
        expect(await readAll(blobs, id, { start, end })).toEqual(content.subarray(start, end + 1));
      expect(await readAll(blobs, id, { start: 199_990, end: 999_999 })).toEqual(
        content.subarray(199_990),
      );
      expect(await readAll(blobs, id, { start: 200_000, end: 200_001 })).toEqual(Buffer.alloc(0));
    }),
  );

  test(
    'several readers are served at once, and one that stops early hurts nobody',
    within(async ({ blobs }) => {
      const id = freshId();
      const content = bytesOf(1_000_000);
      await blobs.put(id, content);
      const early = async () => {
        for await (const _ of (await blobs.read(id)) ?? []) return;
      };
      const reads = await Promise.all([readAll(blobs, id), early(), readAll(blobs, id)]);
      expect(reads[0]?.equals(content)).toBe(true);
      expect(reads[2]?.equals(content)).toBe(true);
    }),
  );
}

function testOnce(within: Within): void {
  test(
    'an id is put once, and what is there stays',
    within(async ({ blobs }) => {
      const id = freshId();
      await blobs.put(id, bytesOf(10));
      await expect(blobs.put(id, bytesOf(20))).rejects.toBeInstanceOf(Error);
      expect(await readAll(blobs, id)).toEqual(Buffer.from(bytesOf(10)));
    }),
  );

  test(
    'nothing is read where nothing was put, or what was put is removed',
    within(async ({ blobs }) => {
      const id = freshId();
      expect(await blobs.read(id)).toBeUndefined();
      await blobs.put(id, bytesOf(10));
      await blobs.remove(id);
      await blobs.remove(id);
      expect(await blobs.read(id)).toBeUndefined();
    }),
  );
}

function testIds(within: Within): void {
  test(
    'it says which ids are there',
    within(async ({ blobs, reopen }) => {
      const ids = [freshId(), freshId(), freshId()];
      for (const id of ids) await blobs.put(id, bytesOf(10));
      await blobs.remove(ids[1] ?? '');
      const left = [ids[0] ?? '', ids[2] ?? ''].toSorted();
      expect(await idsOf(blobs)).toEqual(left);
      expect(await idsOf(await reopen())).toEqual(left);
    }),
  );

  test.each([
    '',
    '.',
    '..',
    '../x',
    '/etc/passwd',
    'art_',
    `art_${'a'.repeat(26)}/`,
    `tsk_${'a'.repeat(27)}`,
    `art_${'a'.repeat(28)}`,
    `art_${'a'.repeat(27)}\0`,
  ])('what is no id of an artifact is refused: %j', (id) =>
    within(async ({ blobs }) => {
      await expect(blobs.put(id, bytesOf(1))).rejects.toBeInstanceOf(InvariantError);
      await expect(blobs.read(id)).rejects.toBeInstanceOf(InvariantError);
      await expect(blobs.remove(id)).rejects.toBeInstanceOf(InvariantError);
      expect(await idsOf(blobs)).toEqual([]);
    })(),
  );
}
