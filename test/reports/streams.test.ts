import { createServer, request as forwardRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createManualClock, type ManualClock } from '../../src/kernel/manual-clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { createKit, tool } from '../faces/face-kit.ts';
import {
  caller2025,
  caller2026,
  resultOf,
  stream,
  textOf,
  WITH_FORMS,
  type Caller2025,
  type SseReader,
} from '../faces/wire.ts';
import { createJobSite, factsOf, follow, jobOf, plainHost, textsOf } from '../job-tools/hosts.ts';
import { restClient, idOf } from '../rest/rest-client.ts';
import { answered, settleDown, until } from '../runtime/receiving-side.ts';

const SYNC = tool('gated', { mode: 'sync' });
const taskIdOf = (created: JsonObject): string =>
  String((created['task'] as JsonObject | undefined)?.['taskId'] ?? created['taskId']);

describe('a stream with nothing to say', () => {
  /** The frames of streams by a clock of their own, while everything else goes on in real time. */
  async function scene(tools = [tool('gated')]) {
    const manual = createManualClock();
    const clock = { ...systemClock, after: manual.after, monotonic: manual.monotonic };
    const kit = await createKit({ tools, face: { clock } });
    const { url } = await kit.http();
    return { kit, url, clock: manual };
  }

  test('lives through a cut of five idle minutes, whatever is waited for on it [S1]', async () => {
    const { kit, url, clock } = await scene();
    const session = await caller2025(url, 'alice');
    const modern = caller2026(url, 'alice');
    const taskId = taskIdOf(resultOf(await session.tool('gated', {}, { task: {} })));
    const notifications = { taskIds: [taskId] };
    const [result, changes, listen] = await Promise.all([
      stream(session.open('tasks/result', { taskId }, { id: 'r' })),
      session.listen(),
      stream(modern.open('subscriptions/listen', { notifications }, { id: 'l' })),
    ]);
    for (let elapsedS = 0; elapsedS < 301; elapsedS += 15) {
      clock.advance(15_000);
      for (const quiet of [result, changes, listen])
        expect(await quiet.comment()).toBe('keep-alive');
    }
    kit.gate.end(await kit.gate.next(), answered('after five minutes'));
    expect(textOf(resultOf((await result.rest()).at(-1) ?? {}))).toContain('after five minutes');
    expect((await listen.rest()).at(-1)).toMatchObject({ id: 'l' });
    await changes.cancel();
  });

  test.each(['2025-11-25', '2026-07-28'])(
    'is there before half a minute is over, for a plain call of %s too [S1]',
    async (generation) => {
      const { kit, url, clock } = await scene([SYNC]);
      const caller =
        generation === '2025-11-25'
          ? await caller2025(url, 'alice')
          : caller2026(url, 'alice', WITH_FORMS);
      const opened = caller.open('tools/call', { name: 'gated', arguments: {} });
      const job = await kit.gate.next();
      clock.advance(15_000);
      const events = await stream(opened);
      clock.advance(15_000);
      expect(await events.comment()).toBe('keep-alive');
      clock.advance(15_000);
      expect(await events.comment()).toBe('keep-alive');
      kit.gate.end(job, answered('done'));
      expect(textOf(resultOf((await events.rest()).at(-1) ?? {}))).toContain('done');
    },
  );
});

const howItEnds = (events: SseReader): Promise<string> =>
  events.rest().then(
    () => 'whole',
    () => 'cut off',
  );

/** A proxy that ends every exchange 25 s after it began, whatever flows. */
async function startImpatientProxy(target: string, clock: ManualClock): Promise<string> {
  const proxy = createServer((req, res) => {
    const url = new URL(req.url ?? '/', target);
    const { method = 'GET', headers } = req;
    const onward = forwardRequest(url, { method, headers, agent: false }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      res.flushHeaders();
      answer.pipe(res);
      answer.on('error', () => res.destroy());
    });
    onward.on('error', () => res.destroy());
    const limit = clock.after(25_000, () => {
      res.destroy();
      onward.destroy();
    });
    res.on('close', () => limit.cancel());
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    return new Promise<void>((resolve) => void proxy.close(() => resolve()));
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describe('behind a proxy that cuts responses at 25 s, a tool of 40 s', () => {
  const SLOW = tool('gated', { syncWindowMs: 2_000, jobWindowMs: 15_000 });

  async function scene(tools = [SLOW]) {
    const clock = createManualClock();
    const site = await createJobSite({ tools, clock, face: { clock } });
    const origin = await startImpatientProxy(site.origin, clock);
    const pass = async (seconds: number): Promise<void> => {
      await settleDown(); // what was sent has arrived, and its timers are armed
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1_000);
        await settleDown();
      }
    };
    return { kit: site.kit, clock, origin, url: `${origin}/mcp`, pass };
  }

  test('comes by task to a client of 2026-07-28 [S2]', async () => {
    const { kit, url, pass } = await scene();
    const alice = caller2026(url, 'alice');
    const call = alice.tool('gated');
    const job = await kit.gate.next();
    await until(() => kit.side.runtime.stats().waiters === 1);
    await pass(2);
    const taskId = taskIdOf(resultOf(await call));
    await pass(38);
    kit.gate.end(job, answered('after 40 s'));
    await kit.side.outcome(job.task);
    const read = resultOf(await alice.call('tasks/get', { taskId }));
    expect(read).toMatchObject({ status: 'completed' });
    expect(textOf(read['result'] as JsonObject)).toContain('after 40 s');
  });

  test('comes to one of 2025-11-25 whose tasks/result was cut in the middle [S2]', async () => {
    const { kit, url, pass } = await scene();
    const alice = await caller2025(url, 'alice');
    const taskId = taskIdOf(resultOf(await alice.tool('gated', {}, { task: {} })));
    const job = await kit.gate.next();
    const held = await stream(alice.open('tasks/result', { taskId }));
    await held.event();
    const end = howItEnds(held);
    await pass(25);
    expect(await end).toBe('cut off');
    await pass(15);
    expect(resultOf(await alice.call('tasks/get', { taskId }))).toMatchObject({
      status: 'working',
    });
    kit.gate.end(job, answered('after 40 s'));
    expect(textOf(resultOf(await alice.call('tasks/result', { taskId })))).toContain('after 40 s');
  });

  test('comes to a session that is cut off a plain call, by its last event [S2]', async () => {
    const { kit, url, pass } = await scene([SYNC]);
    const alice = await caller2025(url, 'alice');
    const held = await stream(alice.open('tools/call', { name: 'gated', arguments: {} }));
    const { id } = await held.event();
    const job = await kit.gate.next();
    const end = howItEnds(held);
    await pass(25);
    expect(await end).toBe('cut off');
    kit.gate.end(job, answered('after all'));
    const resumed = await alice.listen(id);
    expect(textOf(resultOf((await resumed.rest()).at(-1) ?? {}))).toContain('after all');
  });

  test('comes by job tools to a host without Tasks [S2]', async () => {
    const { kit, url, pass } = await scene();
    const host = await plainHost(url, '2025-06-18');
    const call = host.call('gated');
    const job = await kit.gate.next();
    await until(() => kit.side.runtime.stats().waiters === 1);
    await pass(15);
    const begun = await call;
    expect(factsOf(begun)).toMatchObject({ status: 'working' });
    const waiting = follow(host, begun);
    await until(() => kit.side.runtime.stats().waiters === 1);
    await pass(20);
    expect(jobOf(await waiting)).toBe(jobOf(begun));
    kit.gate.end(job, answered('after 40 s'));
    expect(textsOf(await follow(host, begun)).at(-1)).toBe('after 40 s');
  });

  test('comes to a program over REST [S2]', async () => {
    const { kit, origin, pass } = await scene();
    const client = restClient(origin);
    const id = idOf(await client.start({ tool: 'gated' }));
    const job = await kit.gate.next();
    const waiting = client.ask(`/jobs/${id}/wait`);
    await until(() => kit.side.runtime.stats().waiters === 1);
    await pass(20);
    expect((await waiting).body).toMatchObject({ protocol: { phase: 'working' } });
    kit.gate.end(job, answered('after 40 s'));
    await kit.side.outcome(job.task);
    expect(JSON.stringify((await client.ask(`/jobs/${id}/result`)).body)).toContain('after 40 s');
  });
});

describe('a socket that is lost just before the last frame', () => {
  /** The answers to what is awaited on it, before anything of it was read but its first event. */
  async function lose(events: SseReader, end: () => Promise<void>): Promise<string | undefined> {
    const { id } = await events.event();
    await end();
    await settleDown(); // the last frame is on its way to nobody
    await events.cancel();
    return id;
  }

  const answersAfter = async (alice: Caller2025, id: string | undefined) =>
    (await (await alice.listen(id)).rest()).map((message) => textOf(resultOf(message)));

  test.each<readonly [string, string]>([
    ['a plain call', 'tools/call'],
    ['tasks/result', 'tasks/result'],
  ])(
    'of %s costs no answer: it is replayed, as often as it is asked for [S3]',
    async (_of, method) => {
      const kit = await createKit({
        tools: [method === 'tools/call' ? SYNC : tool('gated')],
      });
      const { url } = await kit.http();
      const alice = await caller2025(url, 'alice');
      const isCall = method === 'tools/call';
      const taskId = isCall ? '' : taskIdOf(resultOf(await alice.tool('gated', {}, { task: {} })));
      const params = isCall ? { name: 'gated', arguments: {} } : { taskId };
      const events = await stream(alice.open(method, params));
      const job = await kit.gate.next();
      const lastSeen = await lose(events, async () => {
        kit.gate.end(job, answered('the last frame'));
        await kit.side.outcome(job.task);
      });
      for (let time = 1; time <= 2; time += 1)
        expect(await answersAfter(alice, lastSeen)).toEqual(['"the last frame"']);
    },
  );

  test('with its session too, leaves the result of a task where it was, until its record expires [S3]', async () => {
    const kit = await createKit({ tools: [tool('gated')] });
    const { url } = await kit.http();
    const alice = await caller2025(url, 'alice');
    const taskId = taskIdOf(resultOf(await alice.tool('gated', {}, { task: {} })));
    const events = await stream(alice.open('tasks/result', { taskId }));
    const job = await kit.gate.next();
    await lose(events, async () => {
      kit.gate.end(job, answered('the last frame'));
      await kit.side.outcome(job.task);
    });
    await fetch(url, { method: 'DELETE', headers: alice.headers });
    const again = await caller2025(url, 'alice');
    for (let time = 1; time <= 2; time += 1)
      expect(textOf(resultOf(await again.call('tasks/result', { taskId })))).toContain(
        'last frame',
      );
    const modern = caller2026(url, 'alice');
    expect(JSON.stringify(resultOf(await modern.call('tasks/get', { taskId })))).toContain(
      'last frame',
    );
  });
});
