import { expect, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Job } from '../../src/runtime/job.ts';
import {
  effectsLog,
  failureOf,
  forward,
  startGateway,
  stdioEndpoint,
  textOf,
  until,
} from '../gateway/gateway-kit.ts';
import { serveRawHttp, type RawExchange } from '../gateway/servers/raw-http.ts';
import { run } from '../gateway/test-job.ts';
import { createJournalledSide, result } from '../runtime/journalled-side.ts';
import {
  answered,
  callOf,
  createReceivingSide,
  payTool,
  readTool,
  settleDown,
  stopped,
  toldToStop,
} from '../runtime/receiving-side.ts';

const MINUTE = 60_000;

/** A server over HTTP that takes requests of that method and never answers them. */
async function serveSilence(method: string) {
  const held: RawExchange[] = [];
  const server = await serveRawHttp((exchange) => {
    if (exchange.message['method'] !== method) return false;
    held.push(exchange);
    return true;
  });
  return { url: server.url, held, seen: server.seen };
}

const textOfRun = async ({ end }: ReturnType<typeof run>): Promise<string> => {
  const { outcome } = await end;
  return textOf(outcome.kind === 'result' ? outcome.result : {});
};

test('a server that is silent for an hour is not cut off, and one that could report is always given a token [T2]', async () => {
  const clock = createManualClock();
  const { url, held } = await serveSilence('tools/call');
  const gateway = await startGateway({
    clock,
    upstreams: [{ endpoint: { kind: 'http', url } }],
  });
  const call = run(gateway, { tool: 'call', meta: {} });
  await until(() => expect(held).toHaveLength(1));
  const [{ message, stream, event, response } = {} as RawExchange] = held;
  const progressToken = ((message['params'] as JsonObject)['_meta'] as JsonObject)['progressToken'];
  expect(progressToken).toBeTypeOf('string');

  clock.advance(30 * MINUTE);
  stream();
  const params = { progressToken, progress: 1, total: 2 };
  event({ jsonrpc: '2.0', method: 'notifications/progress', params });
  await until(() => expect(call.progress).toEqual([{ progress: 1, total: 2 }]));
  clock.advance(29 * MINUTE);
  event({
    jsonrpc: '2.0',
    id: message['id'],
    result: { content: [{ type: 'text', text: 'slow' }] },
  });
  response.end();
  expect(await textOfRun(call)).toBe('slow');
});

test('a process that is silent for an hour is not cut off either [T2]', async () => {
  const clock = createManualClock();
  const effects = effectsLog();
  const gateway = await startGateway({
    clock,
    upstreams: [{ endpoint: stdioEndpoint('effects', effects) }],
  });
  const call = run(gateway, { tool: 'slow', arguments: { tag: 's', ms: 400 } });
  await until(() => expect(effects.lines('s').at(-1)?.event).toBe('tick'));
  clock.advance(59 * MINUTE);
  expect(await call.end).toMatchObject({ end: 'answered' });
});

test('a tool whose caller gave no progress token, and which reports nothing, keeps its whole time [T2]', async () => {
  const clock = createManualClock();
  const jobs: Job[] = [];
  const side = await createReceivingSide({
    clock,
    run: async (job) => {
      jobs.push(job);
      await toldToStop(job.signal);
      return stopped;
    },
  });
  await side.open();
  const task = await side.call();
  await until(() => expect(jobs).toHaveLength(1));
  clock.advance(readTool.runLimitMs - 1);
  await settleDown();
  expect([jobs[0]?.request.progressToken, jobs[0]?.signal.aborted]).toEqual([undefined, false]);
  expect((await side.row(task)).phase).toBe('working');
});

/** Reports every second of the clock as long as the run lasts. */
function chatter(clock: ReturnType<typeof createManualClock>, job: Job, progress = 1): void {
  if (job.signal.aborted) return;
  job.progress({ progress });
  job.status(`step ${progress}`);
  clock.after(1_000, () => chatter(clock, job, progress + 1));
}

test('a tool that reports every second gets all of its time, and not a second more [T3]', async () => {
  const clock = createManualClock();
  const stops: unknown[] = [];
  const minute = { ...payTool, runLimitMs: MINUTE };
  const side = await createReceivingSide({
    clock,
    tools: [minute],
    run: async (job) => {
      await job.dispatched();
      chatter(clock, job);
      if (job.request.arguments['ends'] === true) {
        await new Promise<void>((resolve) => void clock.after(MINUTE - 1_000, resolve));
        return answered('just in time');
      }
      await toldToStop(job.signal);
      stops.push([job.signal.reason, clock.monotonic()]);
      return stopped;
    },
  });
  await side.open();
  const inTime = await side.call(callOf(minute, { ends: true }));
  const endless = await side.call(callOf(minute, { ends: false }));
  await until(async () => expect(side.engine.runningCount()).toBe(2));
  await settleDown();

  for (let second = 1; second < 60; second += 1) clock.advance(1_000);
  expect(await side.outcome(inTime)).toMatchObject({ kind: 'result' });
  expect(stops).toEqual([]);
  clock.advance(1_000);
  expect(await side.outcome(endless)).toMatchObject({ error: { data: { reason: 'run_limit' } } });
  expect(stops).toEqual([['run_limit', MINUTE]]);
  expect(await side.operationState(endless)).toBe('unknown'); // stopped, and not dropped: somebody has to look
});

test('a journalled tool cannot buy time with progress either [T3]', async () => {
  const stops: unknown[] = [];
  const side = await createJournalledSide({
    handler: async (job) => {
      const chat = (step: number): void => {
        if (job.signal.aborted) return;
        job.progress(step);
        side.clock.after(60_000, () => chat(step + 1));
      };
      chat(1);
      await toldToStop(job.signal);
      stops.push(job.signal.reason);
      return result('too late');
    },
  });
  const task = await side.begin();
  await settleDown();
  side.clock.advance(payTool.runLimitMs - 1);
  await settleDown();
  expect(stops).toEqual([]);
  side.clock.advance(1);
  await side.outcome(task);
  expect(stops).toMatchObject([{ reason: 'run_limit' }]);
});

test.each(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])(
  'a server that never answers %s blocks nobody for hours: it is given up, and said to be down [T5]',
  async (method) => {
    const clock = createManualClock();
    const silence = await serveSilence(method);
    const upstreams = [{ endpoint: { kind: 'http', url: silence.url } }] as const;
    const starting = startGateway({ clock, connectMsMax: 300, probeMs: 300, upstreams });
    await until(() => expect(silence.held).not.toHaveLength(0));
    clock.advance(MINUTE);
    const gateway = await starting;
    expect(gateway.manifests()[0]?.state).toBe('down');
  },
);

test.each([
  ['tools/call', { name: 'call', arguments: {} }],
  ['com.example/ask', {}],
])(
  'a %s that an upstream never answers ends, and says so to its caller [T5]',
  async (method, params) => {
    const clock = createManualClock();
    const { url, held } = await serveSilence(method);
    const gateway = await startGateway({ clock, upstreams: [{ endpoint: { kind: 'http', url } }] });
    const refused = failureOf(forward(gateway, [method, params]));
    await until(() => expect(held).toHaveLength(1));
    clock.advance(MINUTE);
    const { code, message, data } = await refused;
    expect({ code, data }).toMatchObject({ code: -32_603, data: { reason: 'upstream_timeout' } });
    expect(message).toContain('did not answer in time');
  },
);
