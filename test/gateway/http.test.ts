import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { verifies } from '../requirements/verifies.ts';
import { effectsLog, httpFixture, startGateway, textOf, until } from './gateway-kit.ts';
import { serveRawHttp, type RawHandler } from './servers/raw-http.ts';
import { run } from './test-job.ts';

const READ = { '*': { effect: 'read' } } as const;

async function start(
  handle: RawHandler,
  rest: Parameters<typeof startGateway>[0] | object = {},
  tools = {},
) {
  const server = await serveRawHttp(handle);
  const gateway = await startGateway({
    ...rest,
    upstreams: [{ endpoint: { kind: 'http', url: server.url }, tools }],
  });
  return { server, gateway };
}

const isCall: (exchange: Parameters<RawHandler>[0]) => boolean = ({ message }) =>
  message['method'] === 'tools/call';

describe('an answer over HTTP', () => {
  verifies(
    ['G1-128', 'G1-129'],
    'a stream that ends early is taken up after its last event',
    async () => {
      let callId: unknown;
      const { server, gateway } = await start((exchange) => {
        if (exchange.httpMethod === 'GET' && exchange.headers['last-event-id'] === 'e1') {
          exchange.stream();
          const result = { content: [{ type: 'text', text: 'resumed' }] };
          exchange.event({ jsonrpc: '2.0', id: callId, result }, 'e2');
          exchange.response.end();
          return true;
        }
        if (!isCall(exchange)) return false;
        callId = exchange.message['id'];
        exchange.stream();
        exchange.response.write('retry: 20\n');
        exchange.event('', 'e1');
        exchange.response.end();
        return true;
      });
      const { outcome } = await run(gateway, { tool: 'call' }).end;
      expect(textOf(outcome.kind === 'result' ? outcome.result : {})).toBe('resumed');
      expect(server.seen.filter(({ message }) => message['method'] === 'tools/call')).toHaveLength(
        1,
      );
    },
  );

  test('a stream that ends early without event ids leaves the outcome unknown', async () => {
    const { server, gateway } = await start((exchange) => {
      if (!isCall(exchange)) return false;
      exchange.stream();
      exchange.response.end();
      return true;
    });
    expect(await run(gateway, { tool: 'call' }).end).toMatchObject({
      end: 'lost',
      outcome: { error: { data: { reason: 'outcome_unknown' } } },
    });
    expect(server.seen.filter(({ message }) => message['method'] === 'tools/call')).toHaveLength(1);
  });

  verifies('T39', 'a JSON-RPC error is one whatever the HTTP status', async () => {
    const error = { code: -31_007, message: 'no', data: { why: ['a'] } };
    const { gateway } = await start((exchange) => {
      if (!isCall(exchange)) return false;
      exchange.json({ jsonrpc: '2.0', id: exchange.message['id'], error }, 400);
      return true;
    });
    expect(await run(gateway, { tool: 'call' }).end).toEqual({
      end: 'error',
      reason: 'error',
      outcome: { kind: 'error', error },
    });
  });

  test.each([
    [401, 'upstream_http_error'],
    [429, 'upstream_http_error'],
    [500, 'outcome_unknown'],
  ])('HTTP %i is %s', async (status, reason) => {
    const { gateway } = await start((exchange) => {
      if (!isCall(exchange)) return false;
      exchange.response.writeHead(status).end('sorry');
      return true;
    });
    const { outcome } = await run(gateway, { tool: 'call' }).end;
    expect(outcome).toMatchObject({ error: { data: { reason } } });
  });

  test('a front that is busy for a moment does not cost a read', async () => {
    let busy = 2;
    const handle: RawHandler = (exchange) => {
      if (!isCall(exchange) || busy === 0) return false;
      busy -= 1;
      exchange.response.writeHead(503).end();
      return true;
    };
    const { gateway } = await start(handle, {}, READ);
    expect(await run(gateway, { tool: 'call' }).end).toMatchObject({ end: 'answered' });
  });

  test('an answer that is not for the request, or no JSON, is nonsense', async () => {
    const { gateway } = await start((exchange) => {
      if (!isCall(exchange)) return false;
      if (
        exchange.message['params'] &&
        JSON.stringify(exchange.message['params']).includes('other')
      )
        exchange.json({ jsonrpc: '2.0', id: 'somebody else', result: {} });
      else exchange.response.writeHead(200, { 'content-type': 'application/json' }).end('<html>');
      return true;
    });
    for (const tool of ['call', 'other'])
      expect((await run(gateway, { tool }).end).outcome).toMatchObject({
        error: { data: { reason: 'upstream_invalid' } },
      });
  });

  test('a call never goes over a socket that may be closing', async () => {
    const { server, gateway } = await start(() => false);
    await run(gateway, { tool: 'call' }).end;
    const [call] = server.seen.filter(({ message }) => message['method'] === 'tools/call');
    expect(call?.headers.connection).toBe('close');
  });
});

describe('a session that the server has forgotten', () => {
  test('costs a read nothing: it goes on in a new one', async () => {
    const { server, gateway } = await start(() => false, {}, READ);
    server.session = 'session-2';
    expect(await run(gateway, { tool: 'call' }).end).toMatchObject({ end: 'answered' });
  });

  test('refuses anything else without sending it again, and the next call is fine', async () => {
    const { server, gateway } = await start(() => false);
    server.session = 'session-2';
    const { outcome } = await run(gateway, { tool: 'call' }).end;
    expect(outcome).toMatchObject({ error: { data: { reason: 'upstream_session_gone' } } });
    expect(server.seen.filter(({ message }) => message['method'] === 'tools/call')).toHaveLength(1);
    expect(await run(gateway, { tool: 'call' }).end).toMatchObject({ end: 'answered' });
  });

  test('is found out before a call, once the session was silent for a while', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
    const { server, gateway } = await start(() => false, { clock });
    server.session = 'session-2';
    aheadMs = 60_000;
    expect(await run(gateway, { tool: 'call' }).end).toMatchObject({ end: 'answered' });
    expect(server.seen.map(({ message }) => message['method'])).toContain('ping');
  });

  test('is ended when the gateway stops', async () => {
    const { server, gateway } = await start(() => false);
    await gateway.stop(1_000);
    expect(server.seen.at(-1)).toMatchObject({
      httpMethod: 'DELETE',
      headers: { 'mcp-session-id': 'session-1' },
    });
  });
});

verifies(['G2-92', 'G2-171'], 'on 2026-07-28 a cancel closes the stream of the call', async () => {
  const effects = effectsLog();
  const upstream = await httpFixture('conformance', effects);
  const gateway = await startGateway({
    upstreams: [{ endpoint: { kind: 'http', url: upstream.url } }],
  });
  const call = run(gateway, { tool: 'slow_compute', arguments: { seconds: 30, label: 'c' } });
  await until(() => expect(effects.lines('c').at(-1)?.event).toBe('tick'));
  call.stop('cancelled');
  expect(await call.end).toMatchObject({ end: 'cancelled' });
  await until(() => expect(effects.lines('c').at(-1)?.event).toBe('cancelled'));
});

test('at shutdown a call is left running: the connection ends with the process', async () => {
  const effects = effectsLog();
  const upstream = await httpFixture('effects', effects);
  const gateway = await startGateway({
    upstreams: [{ endpoint: { kind: 'http', url: upstream.url } }],
  });
  const call = run(gateway, { tool: 'slow', arguments: { tag: 'l', ms: 600 } });
  await until(() => expect(effects.lines('l').at(-1)?.event).toBe('tick'));
  call.stop('shutdown');
  expect(await call.end).toMatchObject({ end: 'lost', reason: 'shutdown' });
  await until(() => expect(effects.lines('l').at(-1)?.event).toBe('finish'));
});
