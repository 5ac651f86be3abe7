import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WireCheck, WireTarget } from './check.ts';
import { CHECKS } from './checks/all.ts';
import { MUTANTS, mutateTarget, OFFICIAL_MUTANTS } from './mutants.ts';
import type { Mutant, Mutation } from './mutants/mutation.ts';
import { chosenTarget, startTarget } from './target.ts';
import type { RunningTarget } from './target.ts';

/** What a mutant leaves out is waited for in vain; whoever makes no mistake answers long before. */
const PATIENCE_MS = '3000';

function checkOf({ rejectedBy }: Mutant): WireCheck {
  const check = CHECKS.find(({ id }) => id === rejectedBy);
  if (!check) throw new Error(`there is no check ${rejectedBy}`);
  return check;
}

async function runMutated(base: WireTarget, check: WireCheck, mutation?: Mutation) {
  const target = await mutateTarget(base, mutation);
  try {
    return await check.run(target);
  } finally {
    await target.stop();
  }
}

/** The reference is cheap: every run gets its own, so that they can go on beside each other. */
async function runOnReference(check: WireCheck, mutation?: Mutation) {
  const reference = await startTarget('reference');
  try {
    return await runMutated(reference, check, mutation);
  } finally {
    await reference.stop();
  }
}

beforeAll(() => {
  process.env['LONGCALL_WIRE_PATIENCE_MS'] = PATIENCE_MS;
});

describe(`the ${chosenTarget()} behind a proxy`, () => {
  let base: RunningTarget;

  beforeAll(async () => {
    base = await startTarget();
  });
  afterAll(() => base.stop());

  test.each(OFFICIAL_MUTANTS)('$id is rejected by $rejectedBy: $title', async (mutant) => {
    const check = checkOf(mutant);
    expect(await runMutated(base, check)).toEqual({ verdict: 'pass' });
    expect(await runMutated(base, check, mutant.create())).toMatchObject({ verdict: 'fail' });
  });
});

describe('the reference behind a proxy', { concurrent: true }, () => {
  test.each(MUTANTS)('$id is rejected by $rejectedBy: $title', async (mutant) => {
    const verdict = await runOnReference(checkOf(mutant), mutant.create());
    expect(verdict).toMatchObject({ verdict: 'fail' });
  });

  test.each(CHECKS)('passes $id while the proxy changes nothing', async (check) => {
    expect(await runOnReference(check)).toEqual({ verdict: 'pass' });
  });
});

test('there is a mutant for each check, and M1 to M10 are among them', () => {
  const rejecting = new Set(MUTANTS.map(({ rejectedBy }) => rejectedBy));
  expect(CHECKS.filter(({ id }) => !rejecting.has(id)).map(({ id }) => id)).toEqual([]);
  expect(OFFICIAL_MUTANTS.map(({ id }) => id)).toEqual(
    Array.from({ length: 10 }, (_, index) => `M${index + 1}`),
  );
  expect(new Set(MUTANTS.map(({ id }) => id)).size).toBe(MUTANTS.length);
});
