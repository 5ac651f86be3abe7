import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { PeerQuestion } from '../../src/requestor/attendance.ts';
import { createKit, tool } from '../faces/face-kit.ts';
import {
  caller2025,
  caller2026,
  errorOf,
  nextId,
  resultOf,
  textOf as textIn,
  WITH_FORMS,
  WITH_TASKS,
  type Answer,
  type Sending,
} from '../faces/wire.ts';
import { typescriptCommand } from '../fixtures/upstreams/launch.ts';
import { failureOf, forward, startGateway, textOf, until } from '../gateway/gateway-kit.ts';
import { run } from '../gateway/test-job.ts';
import { answered } from '../runtime/receiving-side.ts';

const MINUTE = 60_000;
const LATE = new URL('./servers/late.ts', import.meta.url).pathname;
const PAY = tool('gated', { mode: 'sync', effect: 'consequential' });

/** A caller without Tasks on either wire. */
type Plain = (args?: JsonObject, how?: Sending) => Promise<Answer>;
const PLAIN: Readonly<Record<string, (url: string) => Promise<Plain>>> = {
  async '2025-11-25'(url) {
    const caller = await caller2025(url, 'alice');
    return (args, how) => caller.tool('gated', args, how);
  },
  async '2026-07-28'(url) {
    const caller = caller2026(url, 'alice', WITH_FORMS);
    return (args, how) => caller.tool('gated', args, how);
  },
};

describe('an answer that comes after its caller gave up', () => {
  test.each(['shared', 'auto'] as const)(
    'does not get between an upstream and the next call (connections: %s) [L1]',
    async (connections) => {
      const endpoint = { kind: 'stdio', ...typescriptCommand(LATE) } as const;
      const gateway = await startGateway({ upstreams: [{ endpoint, connections }] });
      const late = run(gateway, { tool: 'late' });
      await until(() => expect(late.logs).toHaveLength(1));
      late.stop('cancelled');
      await late.end;
      const { outcome, end } = await run(gateway, { tool: 'next' }).end;
      expect(end).toBe('answered');
      expect(textOf(outcome.kind === 'result' ? outcome.result : {})).toBe('next');
    },
  );

  test('and its question are not taken for those of the next call, where its time was over [L1]', async () => {
    const clock = createManualClock();
    const endpoint = { kind: 'stdio', ...typescriptCommand(LATE) } as const;
    const gateway = await startGateway({ clock, upstreams: [{ endpoint }] });
    const asked: PeerQuestion[] = [];
    const logs: JsonObject[] = [];
    const rest = {
      asks: ['elicitation-form'],
      onLog: (params: JsonObject) => void logs.push(params),
      onAsk: (question: PeerQuestion) => (
        asked.push(question),
        Promise.resolve({ kind: 'result', result: { action: 'decline' } } as const)
      ),
    } as const;
    const late = failureOf(forward(gateway, ['tools/call', { name: 'late' }], rest));
    await until(() => expect(logs).toHaveLength(1));
    clock.advance(MINUTE);
    expect((await late).data).toMatchObject({ reason: 'upstream_timeout' });
    expect(textOf(await forward(gateway, ['tools/call', { name: 'next' }], rest))).toBe('next');
    expect(asked).toEqual([]);
  });

  test('is not written among the answers to later calls on the same pipe [L1]', async () => {
    const kit = await createKit({ tools: [PAY, tool('echo', { mode: 'sync' })] });
    const { send, next, lines } = kit.stdio();
    const ask = async (method: string, params: JsonObject): Promise<JsonObject> => {
      const id = nextId();
      send({ jsonrpc: '2.0', id, method, params });
      return next((message) => message['id'] === id);
    };
    const clientInfo = { name: 't', version: '1' };
    await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    send({ jsonrpc: '2.0', id: 'A', method: 'tools/call', params: { name: 'gated' } });
    const job = await kit.gate.next();
    await job.dispatched();
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'A' } });
    const answer = await ask('tools/call', { name: 'echo', arguments: { b: 1 } });
    kit.gate.end(job, answered('A'));
    await kit.side.outcome(job.task);
    expect(textIn(resultOf(answer))).toContain('echo');
    await ask('ping', {});
    expect(lines.filter((line) => line.includes('"A"'))).toEqual([]);
  });

  test.each(Object.entries(PLAIN))(
    'is kept: the same call of %s again gets it, and nothing is done twice [L1]',
    async (_generation, connect) => {
      const kit = await createKit({ tools: [PAY] });
      const { url } = await kit.http();
      const call = await connect(url);
      const gone = new AbortController();
      const first = call({ amount: 5 }, { signal: gone.signal });
      const job = await kit.gate.next();
      await job.dispatched();
      gone.abort();
      await expect(first).rejects.toThrow('aborted');
      kit.gate.end(job, answered('paid'));
      await kit.side.outcome(job.task);
      const again = await call({ amount: 5 });
      expect(textIn(resultOf(again))).toContain('paid');
      expect(await kit.side.operationState(job.task)).toBe('acknowledged');
    },
  );
});

describe('work whose callers have gone', () => {
  test.each(Object.entries(PLAIN))(
    'goes on, counts until it ends, and beyond the bound %s is told when to come back [L4]',
    async (_generation, connect) => {
      const OPEN = 4;
      const kit = await createKit({ tools: [PAY], open: OPEN });
      const { url } = await kit.http();
      const call = await connect(url);
      const jobs = [];
      for (let count = 0; count < OPEN; count += 1) {
        const gone = new AbortController();
        const left = call({ count }, { signal: gone.signal });
        const job = await kit.gate.next();
        await job.dispatched();
        jobs.push(job);
        gone.abort();
        await expect(left).rejects.toThrow('aborted');
      }
      expect(jobs.map(({ signal }) => signal.aborted)).toEqual(jobs.map(() => false));
      expect(await kit.side.store.tasks.counts()).toMatchObject({ working: OPEN });
      const refused = errorOf(await call({ count: OPEN }));
      expect(refused).toMatchObject({ data: { retryAfterMs: expect.any(Number) } });

      const [first] = jobs;
      if (first) kit.gate.end(first, answered('done'));
      if (first) await kit.side.outcome(first.task);
      const next = call({ count: OPEN });
      kit.gate.end(await kit.gate.next(), answered('there is room again'));
      expect(textIn(resultOf(await next))).toContain('room');
    },
  );

  test('that was given handles is bounded too [L4]', async () => {
    const kit = await createKit({ open: 4 });
    const { url } = await kit.http();
    const alice = caller2026(url, 'alice', WITH_TASKS);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, count) => alice.tool('hangs', { count })),
    );
    const refused = answers.filter(({ body }) => body['error'] !== undefined);
    expect(refused).toHaveLength(16);
    for (const answer of refused)
      expect(errorOf(answer)).toMatchObject({ data: { retryAfterMs: expect.any(Number) } });
  });
});

describe('a gateway under load whose upstream never answers', () => {
  test.each(Object.entries(PLAIN))(
    'answers each call of %s by its own deadline, and says that nobody knows the outcome [L6]',
    async (_generation, connect) => {
      const clock = createManualClock();
      const kit = await createKit({ tools: [PAY], clock, face: { clock } });
      const { url } = await kit.http();
      const call = await connect(url);
      const calls = [1, 2, 3, 4].map((count) => call({ count }));
      for (const _ of calls) await (await kit.gate.next()).dispatched();
      clock.advance(PAY.plainLimitMs);
      for (const answer of await Promise.all(calls))
        expect(errorOf(answer)).toMatchObject({
          data: { reason: 'plain_limit', operationId: expect.any(String) },
        });
    },
  );

  test('lets nobody wait for a connection beyond the time of the call [L6]', async () => {
    const clock = createManualClock();
    const endpoint = { kind: 'stdio', ...typescriptCommand(LATE) } as const;
    const gateway = await startGateway({ clock, upstreams: [{ endpoint, connectionsMax: 1 }] });
    const logs: JsonObject[] = [];
    const rest = {
      asks: ['elicitation-form'],
      onLog: (params: JsonObject) => void logs.push(params),
      onAsk: () => Promise.reject(new Error('nobody is to be asked')),
    } as const;
    const calls = [1, 2, 3].map(() =>
      failureOf(forward(gateway, ['tools/call', { name: 'late' }], rest)),
    );
    await until(() => expect(logs).toHaveLength(1));
    clock.advance(MINUTE);
    const reasons = (await Promise.all(calls)).map(({ data }) => (data as JsonObject)['reason']);
    expect(reasons).toEqual(['upstream_timeout', 'upstream_unreachable', 'upstream_unreachable']);
  });
});
