import { describe, expect, test } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import { systemRandom } from '../../kernel/random.ts';
import type { Artifact, ArtifactLimits, NewArtifact } from '../artifacts.ts';
import type { Store } from '../store.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

const MIB = 1024 ** 2;
const KEEP_MS = 60_000;
const NO_LIMITS: ArtifactLimits = {
  perPrincipalBytes: Infinity,
  perTenantBytes: Infinity,
  totalBytes: Infinity,
};

function draft(members: Partial<NewArtifact> = {}): NewArtifact {
  return {
    id: newId('artifact', systemRandom),
    ...ALICE,
    name: 'report.txt',
    mediaType: 'text/plain; charset=utf-8',
    bytes: MIB,
    sha256: 'a'.repeat(64),
    keepMs: KEEP_MS,
    ...members,
  };
}

async function given(store: Store, members: Partial<NewArtifact> = {}): Promise<Artifact> {
  const added = await store.artifacts.add(draft(members), NO_LIMITS);
  invariant(added.kind === 'added', 'there are no limits');
  return added.artifact;
}

/** The contract of ArtifactStore. */
export function describeArtifacts(open: OpenScene): void {
  describe('ArtifactStore', () => {
    const scene = useScene(open);
    testKeeping(scene);
    testWhoseItIs(scene);
    testExpiry(scene);
    testLimits(scene);
    testCleaning(scene);
  });
}

function testKeeping(scene: Scene): void {
  test('what was added is found again, also after a restart', async () => {
    const taskId = newId('task', systemRandom);
    const { keepMs: _, ...members } = draft({ taskId });
    const artifact = await given(scene.store, members);
    const times = { createdAt: SCENE_START, expiresAt: SCENE_START + KEEP_MS };
    expect(artifact).toEqual({ ...members, ...times });
    await scene.reopen();
    expect(await scene.store.artifacts.get(ALICE, artifact.id)).toEqual(artifact);
  });

  test('an id is given once', async () => {
    const { id } = await given(scene.store);
    await expect(scene.store.artifacts.add(draft({ id }), NO_LIMITS)).rejects.toBeInstanceOf(Error);
    expect(await scene.store.artifacts.usage()).toEqual({ count: 1, bytes: MIB });
  });

  test('those of a task are listed in the order in which they were made', async () => {
    const [taskId, other] = [newId('task', systemRandom), newId('task', systemRandom)];
    const first = await given(scene.store, { taskId });
    await given(scene.store, { taskId: other });
    await given(scene.store);
    const second = await given(scene.store, { taskId });
    expect(await scene.store.artifacts.ofTask(ALICE, taskId)).toEqual([first, second]);
    expect(await scene.store.artifacts.ofTask('system', taskId)).toEqual([first, second]);
    expect(await scene.store.artifacts.ofTask(BOB, taskId)).toEqual([]);
  });
}

function testWhoseItIs(scene: Scene): void {
  test('a foreign artifact looks unknown, and is in no list of another', async () => {
    const mine = await given(scene.store);
    const theirs = await given(scene.store, { ...BOB });
    const elsewhere = { ...ALICE, tenant: 'elsewhere' };
    expect(await scene.store.artifacts.get(BOB, mine.id)).toBeUndefined();
    expect(await scene.store.artifacts.get(elsewhere, mine.id)).toBeUndefined();
    expect(await scene.store.artifacts.get('system', mine.id)).toEqual(mine);
    expect(await scene.store.artifacts.list(ALICE, 10)).toEqual([mine]);
    expect(await scene.store.artifacts.list(BOB, 10)).toEqual([theirs]);
    expect(await scene.store.artifacts.list('system', 10)).toEqual([theirs, mine]);
  });

  test('lists are newest first, and no longer than asked for', async () => {
    const made: Artifact[] = [];
    for (let at = 0; at < 5; at += 1) {
      scene.clock.advance(1);
      made.unshift(await given(scene.store));
    }
    expect(await scene.store.artifacts.list(ALICE, 3)).toEqual(made.slice(0, 3));
  });
}

function testExpiry(scene: Scene): void {
  test('at its time it is gone for everybody, before any sweep', async () => {
    const { id } = await given(scene.store, { taskId: 'tsk_x' });
    scene.clock.advance(KEEP_MS - 1);
    expect(await scene.store.artifacts.get(ALICE, id)).toBeDefined();
    scene.clock.advance(1);
    const { artifacts } = scene.store;
    expect(await artifacts.get(ALICE, id)).toBeUndefined();
    expect(await artifacts.get('system', id)).toBeUndefined();
    expect(await artifacts.list(ALICE, 10)).toEqual([]);
    expect(await artifacts.ofTask(ALICE, 'tsk_x')).toEqual([]);
  });

  test('who needs it longer gets it longer, and never shorter', async () => {
    const { id, expiresAt } = await given(scene.store);
    const { artifacts } = scene.store;
    expect(await artifacts.prolong(BOB, id, expiresAt + 5)).toBeUndefined();
    expect(await artifacts.prolong(ALICE, id, expiresAt - 5)).toMatchObject({ expiresAt });
    expect(await artifacts.prolong(ALICE, id, expiresAt + 5)).toMatchObject({
      expiresAt: expiresAt + 5,
    });
    scene.clock.advance(KEEP_MS);
    expect(await artifacts.get(ALICE, id)).toBeDefined();
    scene.clock.advance(5);
    expect(await artifacts.prolong(ALICE, id, expiresAt + 99)).toBeUndefined();
  });

  test('a sweep deletes what has expired, so many at a time, and says which', async () => {
    const expired = [];
    for (let at = 0; at < 3; at += 1) expired.push((await given(scene.store)).id);
    scene.clock.advance(KEEP_MS);
    const kept = await given(scene.store);
    const first = await scene.store.artifacts.sweepExpired(2);
    expect(first).toHaveLength(2);
    const second = await scene.store.artifacts.sweepExpired(2);
    expect(new Set([...first, ...second])).toEqual(new Set(expired));
    expect(await scene.store.artifacts.sweepExpired(2)).toEqual([]);
    expect(await scene.store.artifacts.get(ALICE, kept.id)).toEqual(kept);
    expect(await scene.store.artifacts.usage()).toEqual({ count: 1, bytes: MIB });
  });
}

function testLimits(scene: Scene): void {
  const limited = (members: Partial<ArtifactLimits>): ArtifactLimits => ({
    ...NO_LIMITS,
    ...members,
  });

  test('a limit is told with what is kept under it, and then nothing is added', async () => {
    await given(scene.store, { bytes: 3 * MIB });
    await given(scene.store, { ...BOB, bytes: MIB });
    const { artifacts } = scene.store;
    const more = draft({ bytes: 2 * MIB });
    const perPrincipal = await artifacts.add(more, limited({ perPrincipalBytes: 5 * MIB - 1 }));
    expect(perPrincipal).toEqual({ kind: 'full', limit: 'perPrincipalBytes', bytes: 3 * MIB });
    const total = await artifacts.add(more, limited({ totalBytes: 5 * MIB }));
    expect(total).toEqual({ kind: 'full', limit: 'totalBytes', bytes: 4 * MIB });
    const inTenant = ALICE.tenant === BOB.tenant ? 4 * MIB : 3 * MIB;
    const perTenant = await artifacts.add(
      more,
      limited({ perTenantBytes: inTenant + 2 * MIB - 1 }),
    );
    expect(perTenant).toEqual({ kind: 'full', limit: 'perTenantBytes', bytes: inTenant });
    expect(await artifacts.usage()).toEqual({ count: 2, bytes: 4 * MIB });
    const exact = await artifacts.add(more, limited({ perPrincipalBytes: 5 * MIB }));
    expect(exact).toMatchObject({ kind: 'added' });
  });

  test('many small ones count for what they take up', async () => {
    const limits = limited({ perPrincipalBytes: 8192 });
    for (const bytes of [0, 1])
      expect(await scene.store.artifacts.add(draft({ bytes }), limits)).toMatchObject({
        kind: 'added',
      });
    const third = await scene.store.artifacts.add(draft({ bytes: 1 }), limits);
    expect(third).toMatchObject({ kind: 'full', bytes: 8192 });
  });

  test('at once they share what is left', async () => {
    const limits = limited({ perPrincipalBytes: 5 * MIB });
    const adds = Array.from({ length: 20 }, () => scene.store.artifacts.add(draft(), limits));
    const ends = await Promise.all(adds);
    expect(ends.filter(({ kind }) => kind === 'added')).toHaveLength(5);
  });

  test('what is removed or swept makes room', async () => {
    const limits = limited({ perPrincipalBytes: MIB });
    const first = await given(scene.store);
    expect(await scene.store.artifacts.add(draft(), limits)).toMatchObject({ kind: 'full' });
    await scene.store.artifacts.remove([first.id]);
    expect(await scene.store.artifacts.add(draft(), limits)).toMatchObject({ kind: 'added' });
    scene.clock.advance(KEEP_MS);
    await scene.store.artifacts.sweepExpired(10);
    expect(await scene.store.artifacts.add(draft(), limits)).toMatchObject({ kind: 'added' });
    expect(await scene.store.artifacts.usage()).toEqual({ count: 1, bytes: MIB });
  });
}

function testCleaning(scene: Scene): void {
  test('it knows which ids have a row, expired or not', async () => {
    const { id } = await given(scene.store);
    const stranger = newId('artifact', systemRandom);
    scene.clock.advance(KEEP_MS);
    expect(await scene.store.artifacts.known([id, stranger])).toEqual(new Set([id]));
  });

  test('all ids can be gone through, page by page', async () => {
    const ids = [];
    for (let at = 0; at < 7; at += 1) ids.push((await given(scene.store)).id);
    const seen: string[] = [];
    for (;;) {
      const page = await scene.store.artifacts.idsAfter(seen.at(-1), 3);
      if (page.length === 0) break;
      seen.push(...page);
    }
    expect(seen).toEqual(ids.toSorted());
  });

  test('removing what is not there does nothing', async () => {
    await scene.store.artifacts.remove([newId('artifact', systemRandom)]);
    expect(await scene.store.artifacts.usage()).toEqual({ count: 0, bytes: 0 });
  });
}
