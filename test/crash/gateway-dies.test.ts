import { afterAll, beforeAll, describe } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import { MOMENTS, POINT_OF, rowsWhere } from './crash-rows.ts';
import type { Moment } from './crash-rows.ts';
import { startMortalUpstream } from './mortal-upstream.ts';
import type { MortalUpstream } from './mortal-upstream.ts';
import { bundlesOf, createChain, titleOf } from './play.ts';
import type { Chain } from './play.ts';
import { ROUNDS_ALONE, ROUNDS_TOGETHER, testMsFor } from './rounds.ts';
import { createEffects, createSite } from './site.ts';
import type { Site } from './site.ts';

/** What each moment has to do with the protocol; all of them show that a terminal status stays. */
const SHOWN: Readonly<Record<Moment, readonly string[]>> = {
  'before-commit': ['G2-27', 'T27'],
  'after-commit': ['G1-78', 'G2-28', 'T26', 'T27'],
  'before-first-upstream-byte': ['G1-37', 'G2-43'],
  'mid-call': ['G1-37', 'G2-43', 'G2-159', 'T9'],
  'input-required': ['G1-21', 'G2-22', 'G2-50'],
  'after-cancel-request': ['G1-69', 'G2-86', 'T9'],
  'after-upstream-answer': ['G1-37', 'G2-43'],
  'after-settlement': ['G1-22', 'G1-35', 'G2-23'],
};

const effects = createEffects();
let upstream: MortalUpstream;

beforeAll(async () => {
  upstream = await startMortalUpstream('effects', effects.file);
});
afterAll(async () => {
  await upstream.kill();
  effects.remove();
});

describe.each(MOMENTS)('the gateway dies: %s', (moment) => {
  const rounds = POINT_OF[moment] === undefined ? ROUNDS_TOGETHER : ROUNDS_ALONE;
  let site: Site;
  let chain: Chain;

  beforeAll(() => {
    site = createSite({ effects, upstream: { url: upstream.url } });
    chain = createChain({ site });
  });
  afterAll(() => site.remove());

  for (const bundle of bundlesOf(rowsWhere('gateway'), moment))
    verifies(
      SHOWN[moment],
      titleOf(bundle),
      async () => {
        for (let round = 0; round < rounds; round += 1) await chain.play(bundle);
      },
      testMsFor(rounds),
    );
});
