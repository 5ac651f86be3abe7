import { expect, test } from 'vitest';
import { objectAt, type JsonObject } from '../../src/kernel/json.ts';
import { startGateway, until } from './gateway-kit.ts';
import { serveRawHttp, type RawExchange } from './servers/raw-http.ts';
import { run, type JobSpec } from './test-job.ts';

const TASK: JsonObject = {
  taskId: 'theirs-1',
  status: 'working',
  createdAt: '2026-01-01T00:00:00.000Z',
  lastUpdatedAt: '2026-01-01T00:00:00.000Z',
  ttl: 60_000,
  pollInterval: 50,
};
const CAPABILITIES: JsonObject = {
  tools: {},
  tasks: { cancel: {}, requests: { tools: { call: {} } } },
};
const TOOLS: readonly JsonObject[] = [
  { name: 'call', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } },
];

/** An upstream of 2025-11-25 with Tasks whose handles are in the test's hands. */
async function startUpstream() {
  const calls: RawExchange[] = [];
  let isCancelled = false;
  const serverInfo = { name: 'raw', version: '1.0.0' };
  const methods: Readonly<Record<string, (exchange: RawExchange) => void>> = {
    initialize({ response, result }) {
      response.setHeader('mcp-session-id', 'session-1');
      result({ protocolVersion: '2025-11-25', serverInfo, capabilities: CAPABILITIES });
    },
    'tools/list': ({ result }) => result({ tools: TOOLS }),
    'tools/call': (exchange) => void calls.push(exchange),
    'tasks/cancel'({ result }) {
      isCancelled = true;
      result({ ...TASK, status: 'cancelled' });
    },
    'tasks/get': ({ result }) => result({ ...TASK, status: isCancelled ? 'cancelled' : 'working' }),
  };
  const server = await serveRawHttp((exchange) => {
    const serve = methods[String(exchange.message['method'])];
    serve?.(exchange);
    return serve !== undefined;
  });
  const gateway = await startGateway({
    upstreams: [{ endpoint: { kind: 'http', url: server.url } }],
  });
  const begin = (spec: Partial<JobSpec> = {}) => run(gateway, { tool: 'call', ...spec });
  const cancelled = (): readonly unknown[] =>
    server.seen
      .filter(({ message }) => message['method'] === 'tasks/cancel')
      .map(({ message }) => objectAt(message, 'params')?.['taskId']);
  return { calls, begin, cancelled };
}

test('a cancel that comes while the upstream’s handle is on its way reaches its task [C1]', async () => {
  const { calls, begin, cancelled } = await startUpstream();
  const call = begin();
  await until(() => expect(calls).toHaveLength(1));
  call.stop('cancelled');
  calls[0]?.result({ task: TASK });
  expect(await call.end).toMatchObject({ outcome: { kind: 'cancelled' } });
  expect(cancelled()).toEqual(['theirs-1']);
});

test('a task that could not be noted any more, because its record had ended, is cancelled too [C1]', async () => {
  const { calls, begin, cancelled } = await startUpstream();
  const call = begin({
    mayJournal() {
      setImmediate(() => call.stop('cancelled')); // the run is told after its record has ended
      return false;
    },
  });
  await until(() => expect(calls).toHaveLength(1));
  calls[0]?.result({ task: TASK });
  expect(await call.end).toMatchObject({ outcome: { kind: 'cancelled' } });
  expect(cancelled()).toEqual(['theirs-1']);
});

test('a call that never becomes a task is let go a moment after its cancel', async () => {
  const { calls, begin, cancelled } = await startUpstream();
  const call = begin();
  await until(() => expect(calls).toHaveLength(1));
  const stopped = performance.now();
  call.stop('cancelled');
  expect(await call.end).toMatchObject({ outcome: { kind: 'cancelled' } });
  expect(performance.now() - stopped).toBeLessThan(5_000);
  expect(cancelled()).toEqual([]);
});
