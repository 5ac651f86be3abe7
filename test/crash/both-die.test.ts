import { afterAll, beforeAll, describe } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import { MOMENTS, POINT_OF, rowsWhere } from './crash-rows.ts';
import { startMortalUpstream } from './mortal-upstream.ts';
import type { MortalUpstream } from './mortal-upstream.ts';
import { bundlesOf, createChain, titleOf } from './play.ts';
import type { Chain } from './play.ts';
import { ROUNDS_ALONE, ROUNDS_TOGETHER, testMsFor } from './rounds.ts';
import { createEffects, createSite } from './site.ts';
import type { Site } from './site.ts';

const effects = createEffects();
afterAll(() => effects.remove());

describe.each(MOMENTS)('gateway and upstream die together: %s', (moment) => {
  const rounds = POINT_OF[moment] === undefined ? ROUNDS_TOGETHER : ROUNDS_ALONE;
  let upstream: MortalUpstream;
  let site: Site;
  let chain: Chain;

  beforeAll(async () => {
    upstream = await startMortalUpstream('effects', effects.file);
    site = createSite({ effects, upstream: { url: upstream.url } });
    chain = createChain({ site, upstream });
  });
  afterAll(async () => {
    await site.remove();
    await upstream.kill();
  });

  for (const bundle of bundlesOf(rowsWhere('both'), moment))
    verifies(
      ['G1-22', 'G1-37', 'G2-23', 'G2-27', 'G2-43', 'T27'],
      titleOf(bundle),
      async () => {
        for (let round = 0; round < rounds; round += 1) await chain.play(bundle);
      },
      testMsFor(rounds),
    );
});
