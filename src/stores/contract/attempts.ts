import { describe } from 'vitest';
import { describeClaims } from './claims.ts';
import { describeLeases } from './leases.ts';
import { describeOrphans } from './orphans.ts';
import type { OpenScene } from './scene.ts';

/** The contract of AttemptStore. */
export function describeAttempts(open: OpenScene): void {
  describe('AttemptStore', () => {
    describeClaims(open);
    describeLeases(open);
    describeOrphans(open);
  });
}
