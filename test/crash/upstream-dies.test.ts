import { fileURLToPath } from 'node:url';
import { afterAll, describe } from 'vitest';
import { typescriptCommand, upstreamCommand } from '../fixtures/upstreams/launch.ts';
import { verifies } from '../requirements/verifies.ts';
import { MOMENTS, rowsWhere } from './crash-rows.ts';
import type { Moment } from './crash-rows.ts';
import { startMortalUpstream } from './mortal-upstream.ts';
import { bundlesOf, titleOf } from './play.ts';
import { ROUNDS_TOGETHER, testMsFor } from './rounds.ts';
import { createEffects, createSite } from './site.ts';
import type { UpstreamPlace } from './site.ts';
import { playDeathsOfUpstream } from './upstream-deaths.ts';

const effects = createEffects();
afterAll(() => effects.remove());

const overStdio = ({
  command,
  args,
}: {
  command: string;
  args: readonly string[];
}): UpstreamPlace => ({
  command: [command, ...args],
  env: { EFFECTS_LOG: effects.file },
});

/** Upstreams that the gateway starts itself, by the moments that need one; the others are reached over HTTP. */
const CHILDREN: Readonly<Partial<Record<Moment, UpstreamPlace>>> = {
  'mid-call': overStdio(upstreamCommand('effects')),
  'input-required': overStdio(upstreamCommand('effects')),
  'after-upstream-answer': overStdio(
    typescriptCommand(fileURLToPath(new URL('./last-words.ts', import.meta.url))),
  ),
};

describe.each(MOMENTS)('the upstream dies: %s', (moment) => {
  for (const bundle of bundlesOf(rowsWhere('upstream'), moment))
    verifies(
      ['G1-22', 'G1-37', 'G2-23', 'G2-43', 'T9'],
      titleOf(bundle),
      async () => {
        const child = CHILDREN[moment];
        const upstream = child ? undefined : await startMortalUpstream('effects', effects.file);
        const site = createSite({ effects, upstream: child ?? { url: upstream?.url ?? '' } });
        try {
          await playDeathsOfUpstream(
            { site, ...(upstream ? { upstream } : {}) },
            bundle,
            ROUNDS_TOGETHER,
          );
        } finally {
          await site.remove();
          await upstream?.kill();
        }
      },
      testMsFor(ROUNDS_TOGETHER),
    );
});
