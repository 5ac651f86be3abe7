import { describe, expect, test } from 'vitest';
import type { Gateway } from '../../src/gateway/gateway.ts';
import type { Principal } from '../../src/identity/principal.ts';
import {
  ALICE,
  BOB,
  effectsLog,
  httpFixture,
  startGateway,
  stdioEndpoint,
  textOf,
  until,
} from './gateway-kit.ts';
import { accept, run } from './test-job.ts';

const FORM = ['elicitation-form'] as const;

interface Served {
  readonly pid: number;
  readonly session: string | null;
}

/** Which connection serves a call of that principal. */
async function servedBy(
  gateway: Gateway,
  principal: Principal,
  asks: typeof FORM | readonly [] = [],
): Promise<Served> {
  const { outcome } = await run(gateway, { tool: 'connection', principal, asks }).end;
  return JSON.parse(textOf(outcome.kind === 'result' ? outcome.result : {})) as Served;
}

describe('connections: auto', () => {
  test('calls that may not be asked share their principal’s connection; others have one each', async () => {
    const effects = effectsLog();
    const gateway = await startGateway({
      upstreams: [{ endpoint: stdioEndpoint('effects', effects) }],
    });
    const slow = run(gateway, { tool: 'slow', arguments: { tag: 's', ms: 60_000 } });
    await until(() => expect(effects.lines('s')).not.toHaveLength(0));
    const first = run(gateway, { tool: 'ask', arguments: { tag: 'a' }, asks: FORM });
    const second = run(gateway, { tool: 'ask', arguments: { tag: 'b' }, asks: FORM });
    await until(() => expect([...first.questions, ...second.questions]).toHaveLength(2));
    const pids = ['s', 'a', 'b'].map((tag) => effects.lines(tag)[0]?.pid);
    expect(new Set(pids).size).toBe(3);
    expect((await servedBy(gateway, ALICE)).pid).toBe(pids[0]);
    for (const asking of [first, second]) asking.questions[0]?.answer(accept({ answer: 'x' }));
    await Promise.all([first.end, second.end]);
    expect([pids[1], pids[2]]).toContain((await servedBy(gateway, ALICE, FORM)).pid);
    slow.stop('cancelled');
    await slow.end;
  });

  test('the connection that read the manifest is the first principal’s, and no other’s', async () => {
    const gateway = await startGateway({ upstreams: [{ endpoint: stdioEndpoint('effects') }] });
    const bob = await servedBy(gateway, BOB);
    const alice = await servedBy(gateway, ALICE);
    expect(alice.pid).not.toBe(bob.pid);
    expect(await servedBy(gateway, BOB)).toMatchObject({ pid: bob.pid });
  });

  test('beyond the most connections calls wait, in their order', async () => {
    const effects = effectsLog();
    const endpoint = stdioEndpoint('effects', effects);
    const gateway = await startGateway({ upstreams: [{ endpoint, connectionsMax: 2 }] });
    const calls = ['1', '2', '3', '4'].map((tag) =>
      run(gateway, { tool: 'ask', arguments: { tag }, asks: FORM }),
    );
    await until(() =>
      expect(calls.filter(({ questions }) => questions.length > 0)).toHaveLength(2),
    );
    expect(effects.lines('3')).toEqual([]);
    for (const call of calls) {
      await until(() => expect(call.questions).toHaveLength(1));
      call.questions[0]?.answer(accept({ answer: 'x' }));
      await call.end;
    }
    expect(new Set(effects.lines().map(({ pid }) => pid)).size).toBe(2);
  });

  test('a call that is given up while it waits leaves the queue', async () => {
    const gateway = await startGateway({
      upstreams: [{ endpoint: stdioEndpoint('effects'), connectionsMax: 1 }],
    });
    const first = run(gateway, { tool: 'ask', asks: FORM });
    await until(() => expect(first.questions).toHaveLength(1));
    const second = run(gateway, { tool: 'ask', asks: FORM });
    second.stop('cancelled');
    expect(await second.end).toMatchObject({ end: 'cancelled' });
    expect(second.dispatchedCount()).toBe(0);
    const third = run(gateway, { tool: 'append' });
    first.questions[0]?.answer(accept({ answer: 'x' }));
    expect(await third.end).toMatchObject({ end: 'answered' });
  });

  test('a connection whose call was given up is not used again: a late question reaches nobody', async () => {
    const effects = effectsLog();
    const gateway = await startGateway({
      upstreams: [{ endpoint: stdioEndpoint('effects', effects) }],
    });
    const given = run(gateway, { tool: 'ask', arguments: { tag: 'g' }, asks: FORM });
    await until(() => expect(given.questions).toHaveLength(1));
    given.stop('cancelled');
    await given.end;
    const next = run(gateway, { tool: 'ask', arguments: { tag: 'n' }, asks: FORM });
    await until(() => expect(next.questions).toHaveLength(1));
    expect(next.questions[0]?.params['message']).toBe('Question for n');
    expect(effects.lines('n')[0]?.pid).not.toBe(effects.lines('g')[0]?.pid);
    next.questions[0]?.answer(accept({ answer: 'x' }));
    await next.end;
  });

  test('idle connections beyond one are ended', async () => {
    const effects = effectsLog();
    const endpoint = stdioEndpoint('effects', effects);
    const gateway = await startGateway({ idleMs: 300, upstreams: [{ endpoint }] });
    const calls = ['1', '2', '3'].map((tag) =>
      run(gateway, { tool: 'ask', arguments: { tag }, asks: FORM }),
    );
    await until(() =>
      expect(calls.filter(({ questions }) => questions.length > 0)).toHaveLength(3),
    );
    const pids = effects.lines().flatMap(({ event, pid }) => (event === 'start' ? [pid] : []));
    const alive = () => pids.filter((pid) => isAlive(pid));
    expect(alive()).toHaveLength(3);
    for (const call of calls) call.questions[0]?.answer(accept({ answer: 'x' }));
    await Promise.all(calls.map(({ end }) => end));
    await until(() => expect(alive()).toHaveLength(1));
    expect(gateway.manifests()[0]?.state).toBe('up');
  });

  test('over HTTP a session belongs to one principal', async () => {
    const upstream = await httpFixture('effects');
    const gateway = await startGateway({
      upstreams: [{ endpoint: { kind: 'http', url: upstream.url } }],
    });
    const alice = await servedBy(gateway, ALICE);
    const bob = await servedBy(gateway, BOB);
    expect(alice.session).not.toBeNull();
    expect(bob.session).not.toBe(alice.session);
    expect(await servedBy(gateway, ALICE)).toMatchObject({ session: alice.session });
  });
});

describe('other ways of sharing', () => {
  test('per-call: each call has a connection of its own while it runs', async () => {
    const effects = effectsLog();
    const endpoint = stdioEndpoint('effects', effects);
    const gateway = await startGateway({ upstreams: [{ endpoint, connections: 'per-call' }] });
    const calls = ['1', '2'].map((tag) =>
      run(gateway, { tool: 'slow', arguments: { tag, ms: 500 } }),
    );
    await Promise.all(calls.map(({ end }) => end));
    expect(effects.lines('1')[0]?.pid).not.toBe(effects.lines('2')[0]?.pid);
  });

  test('per-principal: calls that may be asked run one at a time', async () => {
    const effects = effectsLog();
    const endpoint = stdioEndpoint('effects', effects);
    const gateway = await startGateway({ upstreams: [{ endpoint, connections: 'per-principal' }] });
    const calls = ['1', '2'].map((tag) =>
      run(gateway, { tool: 'ask', arguments: { tag }, asks: FORM }),
    );
    await until(() => expect(calls[0]?.questions).toHaveLength(1));
    expect(effects.lines('2')).toEqual([]);
    calls[0]?.questions[0]?.answer(accept({ answer: 'x' }));
    await until(() => expect(calls[1]?.questions).toHaveLength(1));
    calls[1]?.questions[0]?.answer(accept({ answer: 'x' }));
    await Promise.all(calls.map(({ end }) => end));
    expect(new Set(effects.lines().map(({ pid }) => pid)).size).toBe(1);
  });

  test('shared: one connection for everybody', async () => {
    const gateway = await startGateway({
      upstreams: [{ endpoint: stdioEndpoint('effects'), connections: 'shared' }],
    });
    expect((await servedBy(gateway, BOB)).pid).toBe((await servedBy(gateway, ALICE)).pid);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
