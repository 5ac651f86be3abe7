import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationDocument } from '../src/admin/documents.ts';
import { launchUpstream } from './fixtures/upstreams/launch.ts';
import type { HttpUpstream } from './fixtures/upstreams/launch.ts';
import { connectFront, FRONT_KINDS, personOf } from './crash/front.ts';
import type { Front } from './crash/front.ts';
import { PEOPLE } from './crash/people.ts';
import { createEffects, createSite } from './crash/site.ts';
import type { Site } from './crash/site.ts';
import { until } from './crash/until.ts';

const effects = createEffects();
let upstream: HttpUpstream;
let site: Site;
let front: Front;

beforeAll(async () => {
  upstream = await launchUpstream('effects', { EFFECTS_LOG: effects.file });
  site = createSite({ effects, upstream: { url: upstream.url } });
  front = await connectFront((await site.start()).url);
});
afterAll(async () => {
  await site.remove();
  await upstream.stop();
  effects.remove();
});

const operationsOf = async (tool: string): Promise<readonly OperationDocument[]> =>
  (await site.admin().operations()).filter((operation) => operation.tool === tool);

describe('an action with consequences, whatever protocol wrapped it', () => {
  test('has an operation of the same kind in the ledger, before and after it was sent', async () => {
    for (const [at, kind] of FRONT_KINDS.entries()) {
      const tag = `wrapped-${kind}`;
      const call = front.call(kind, 'do_append', { tag, ms: 400 });
      await until(
        async () => ((await operationsOf('do_append')).length === at + 1 ? true : undefined),
        `the operation of ${kind}`,
      );
      await call.answer;
    }
    const operations = await until(async () => {
      const found = await operationsOf('do_append');
      return found.every(({ state }) => state === 'acknowledged') ? found : undefined;
    }, 'four operations that were answered');
    const tenants = FRONT_KINDS.map((kind) => PEOPLE[personOf(kind)].tenant);
    expect(operations.map(({ tenant }) => tenant).toSorted()).toEqual(tenants.toSorted());
    for (const operation of operations)
      expect(operation).toMatchObject({
        effect: 'consequential',
        upstream: 'consequentials',
        argumentsDigest: expect.any(String),
        dispatchedAt: expect.any(String),
      });
  });

  test('a read has none, whatever wrapped it', async () => {
    for (const kind of FRONT_KINDS)
      await front.call(kind, 'read_append', { tag: `read-${kind}` }).answer;
    expect(await operationsOf('read_append')).toEqual([]);
  });
});
