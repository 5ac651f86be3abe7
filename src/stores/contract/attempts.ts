import { describe } from 'vitest';
import { describeClaims } from './claims.ts';
import { describeLeases } from './leases.ts';
import { describeOrphans } from './orphans.ts';
import { describeParking } from './parking.ts';
import type { OpenScene } from './scene.ts';
import { describeWaking } from './waking.ts';

/** The contract of AttemptStore. */
export function describeAttempts(open: OpenScene): void {
  describe('AttemptStore', () => {
    describeClaims(open);
    describeLeases(open);
    describeOrphans(open);
    describeParking(open);
    describeWaking(open);
  });
}
