import { describe, expect, test } from 'vitest';
import type { OpenScene, Scene } from './scene.ts';
import { useScene } from './scene.ts';

/** The contract of ManifestStore. */
export function describeManifests(open: OpenScene): void {
  describe('ManifestStore', () => {
    testManifests(useScene(open));
  });
}

function testManifests(scene: Scene): void {
  test('the last manifest of an upstream is kept, also over a reopening', async () => {
    const first = { upstream: 'everything', takenAt: 1, document: { tools: [] } };
    const second = { ...first, takenAt: 2, document: { tools: [{ name: 'echo' }] } };
    const other = { ...first, upstream: 'other' };
    for (const manifest of [first, other, second]) await scene.store.manifests.put(manifest);
    await scene.reopen();
    expect(await scene.store.manifests.get('everything')).toEqual(second);
    expect(await scene.store.manifests.get('other')).toEqual(other);
  });

  test('an upstream that was never seen has none', async () => {
    expect(await scene.store.manifests.get('everything')).toBeUndefined();
  });
}
