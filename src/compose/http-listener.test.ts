import { once } from 'node:events';
import { connect } from 'node:net';
import { get } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { silentLogger } from '../kernel/logger.ts';
import { listen, type HttpListener, type ListenOptions } from './http-listener.ts';

const open: HttpListener[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close(0)));
});

async function start(options: Partial<ListenOptions> = {}): Promise<HttpListener> {
  const listener = await listen({
    address: { host: '127.0.0.1', port: 0 },
    key: 'listen.mcp',
    connectionsMax: 10,
    clock: systemClock,
    logger: silentLogger,
    handler: (_, response) => void response.end('here'),
    ...options,
  });
  open.push(listener);
  return listener;
}

describe('listening', () => {
  test('port 0 takes a free one, which the address tells', async () => {
    const { origin, address } = await start();
    expect(address.port).toBeGreaterThan(0);
    expect(origin).toBe(`http://127.0.0.1:${address.port}`);
    expect(await (await fetch(origin)).text()).toBe('here');
  });

  test('an address of IPv6 stands in brackets', async () => {
    expect((await start({ address: { host: '::1', port: 0 } })).origin).toMatch(
      /^http:\/\/\[::1\]:\d+$/,
    );
  });

  test.each([
    ['listen.mcp', '--listen'],
    ['listen.admin', '--admin'],
  ])('a port in use for %s is said in one line that names %s', async (key, flag) => {
    const { address } = await start();
    const failure = start({ address, key });
    await expect(failure).rejects.toMatchObject({
      code: 'LONGCALL_LISTEN_FAILED',
      hint: expect.stringContaining(flag),
    });
    await expect(failure).rejects.toThrow(
      `cannot listen on 127.0.0.1:${address.port} (${key}): another process listens there`,
    );
  });

  test('an address of another machine is said too', async () => {
    await expect(start({ address: { host: '192.0.2.1', port: 0 } })).rejects.toThrow(
      /does not have that address/,
    );
  });
});

describe('closing', () => {
  test('lets an answer under way end, takes nothing new', async () => {
    const going = createDeferred<void>();
    const listener = await start({
      handler: (_, response) => {
        response.write('first ');
        void going.promise.then(() => response.end('last'));
      },
    });
    const response = await fetch(listener.origin);
    const closed = listener.close(10_000);
    await expect(fetch(listener.origin)).rejects.toThrow('fetch failed');
    going.resolve();
    expect(await response.text()).toBe('first last');
    await closed;
  });

  test('cuts what does not end within the grace', async () => {
    const listener = await start({ handler: (_, response) => void response.write('never ends') });
    const request = get(listener.origin);
    const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream];
    const cut = once(response, 'error');
    response.resume();
    await listener.close(20);
    expect(await cut).toBeDefined();
  });

  test('does not wait for idle connections', async () => {
    const listener = await start();
    const socket = connect(listener.address.port, '127.0.0.1');
    await once(socket, 'connect');
    const ended = once(socket, 'close');
    socket.on('error', () => undefined);
    await listener.close(60_000);
    await ended;
  });
});

describe('limits', () => {
  test('headers beyond 16 KiB are refused with 431', async () => {
    const { origin } = await start();
    const response = await fetch(origin, { headers: { 'x-large': 'x'.repeat(20_000) } });
    expect(response.status).toBe(431);
  });

  test('connections beyond the most are dropped, the others served', async () => {
    const { address, origin } = await start({ connectionsMax: 1 });
    const first = connect(address.port, '127.0.0.1');
    await once(first, 'connect');
    await expect(fetch(origin)).rejects.toThrow('fetch failed');
    first.destroy();
    await once(first, 'close');
  });
});
