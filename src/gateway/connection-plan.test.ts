import { describe, expect, test } from 'vitest';
import { EVERYBODY, planFor, type PlanInput } from './connection-plan.ts';
import { SHARINGS } from './options.ts';

const call: PlanInput = {
  principalKey: 'prn_alice',
  mayAsk: true,
  sharing: 'auto',
  connectionsMax: 8,
  peer: { keepsState: true, generation: '2025-11-25' },
};

describe('which connection a call gets (decision 8)', () => {
  test.each(SHARINGS)(
    '%s: an upstream that keeps no state has one connection for all',
    (sharing) => {
      const peer = { keepsState: false, generation: '2025-11-25' } as const;
      expect(planFor({ ...call, sharing, peer })).toEqual({
        owner: EVERYBODY,
        exclusive: false,
        max: 1,
      });
    },
  );

  test.each([
    ['auto', true, { owner: 'prn_alice', exclusive: true, max: 8 }],
    ['auto', false, { owner: 'prn_alice', exclusive: false, max: 8 }],
    ['per-call', true, { owner: 'prn_alice', exclusive: true, max: 8 }],
    ['per-call', false, { owner: 'prn_alice', exclusive: true, max: 8 }],
    ['per-principal', true, { owner: 'prn_alice', exclusive: true, max: 1 }],
    ['per-principal', false, { owner: 'prn_alice', exclusive: false, max: 1 }],
    ['shared', true, { owner: EVERYBODY, exclusive: true, max: 1 }],
    ['shared', false, { owner: EVERYBODY, exclusive: false, max: 1 }],
  ] as const)('%s, may ask: %s', (sharing, mayAsk, plan) => {
    expect(planFor({ ...call, sharing, mayAsk })).toEqual(plan);
  });

  test('questions of 2026-07-28 come with the answer, so that its connections can be shared', () => {
    const peer = { keepsState: true, generation: '2026-07-28' } as const;
    expect(planFor({ ...call, peer })).toEqual({ owner: 'prn_alice', exclusive: false, max: 8 });
  });
});
