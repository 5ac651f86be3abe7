import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import { CHECKS } from './checks/all.ts';
import { chosenTarget, startTarget } from './target.ts';
import type { RunningTarget } from './target.ts';

let target: RunningTarget;

beforeAll(async () => {
  target = await startTarget();
});
afterAll(() => target.stop());

describe(`the wire of the ${chosenTarget()}`, () => {
  for (const check of CHECKS) {
    verifies(check.requirements, `${check.id}: ${check.title}`, async () => {
      // `untested` fails too: a check that found no occasion shows nothing, and must not be cited.
      expect(await check.run(target)).toEqual({ verdict: 'pass' });
    });
  }
});
