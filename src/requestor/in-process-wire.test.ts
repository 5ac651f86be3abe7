import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
import { createInProcessWire, type InProcessTransport } from './in-process-wire.ts';
import type { MessageSource, SendFailure, WireListener } from './wire.ts';

interface Heard {
  readonly messages: { readonly value: unknown; readonly source: MessageSource }[];
  readonly failures: { readonly id: unknown; readonly failure: SendFailure }[];
  readonly closed: string[];
  readonly released: string[];
  readonly seen: { readonly message: unknown; readonly extra: unknown }[];
}

async function openWire(maxMessageBytes = 1_000) {
  const heard: Heard = { messages: [], failures: [], closed: [], released: [], seen: [] };
  let server: InProcessTransport | undefined;
  const wire = createInProcessWire({
    maxMessageBytes,
    extra: () => ({ who: 'ann' }),
    async connect(transport) {
      server = transport;
      transport.onmessage = (message, extra) => void heard.seen.push({ message, extra });
      await transport.start();
      return () => void heard.released.push('released');
    },
  });
  const listener: WireListener = {
    message: (value, source) => void heard.messages.push({ value, source }),
    failed: (id, failure) => void heard.failures.push({ id, failure }),
    closed: (problem) => void heard.closed.push(problem),
  };
  wire.listen(listener);
  await wire.start();
  if (!server) throw new Error('the server was not connected');
  return { wire, server, heard };
}

describe('what crosses', () => {
  test('is a copy on either side: nobody reaches into the other’s objects', async () => {
    const { wire, server, heard } = await openWire();
    const params = { list: [1] };
    await wire.send({ jsonrpc: '2.0', method: 'a', params });
    expect(heard.seen).toEqual([
      { message: { jsonrpc: '2.0', method: 'a', params: { list: [1] } }, extra: { who: 'ann' } },
    ]);
    params.list.push(2);
    expect(heard.seen[0]?.message).toMatchObject({ params: { list: [1] } });

    const result = { at: new Date(0), gone: undefined };
    await server.send({ jsonrpc: '2.0', id: 1, result });
    expect(heard.messages[0]?.value).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { at: '1970-01-01T00:00:00.000Z' },
    });
  });

  test('names the request on whose behalf the server says it', async () => {
    const { server, heard } = await openWire();
    await server.send({ jsonrpc: '2.0', method: 'x' }, { relatedRequestId: 'lc1-7' });
    await server.send({ jsonrpc: '2.0', method: 'y' });
    expect(heard.messages.map(({ source }) => source.via)).toEqual(['lc1-7', undefined]);
  });

  test('is delivered in the async context of its sender', async () => {
    const context = new AsyncLocalStorage<string>();
    const { wire, server } = await openWire();
    const seen: unknown[] = [];
    server.onmessage = () => void Promise.resolve().then(() => seen.push(context.getStore()));
    await context.run('call 1', () => wire.send({ jsonrpc: '2.0', method: 'a' }));
    await Promise.resolve();
    expect(seen).toEqual(['call 1']);
  });
});

describe('an answer that cannot be carried', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;

  test.each([
    ['has a circle', circle],
    ['has a bigint', { n: 1n }],
  ])('because it %s ends its request, which would wait for ever', async (_, result) => {
    const { server, heard } = await openWire();
    await expect(server.send({ jsonrpc: '2.0', id: 5, result })).rejects.toThrow('invalid');
    expect(heard.failures).toEqual([
      {
        id: 5,
        failure: { kind: 'invalid', problem: expect.stringMatching(/^its answer is no JSON/) },
      },
    ]);
  });

  test('because it is too large ends its request', async () => {
    const { server, heard } = await openWire(100);
    const result = { text: 'x'.repeat(200) };
    await expect(server.send({ jsonrpc: '2.0', id: 5, result })).rejects.toThrow('too_large');
    expect(heard.failures).toMatchObject([{ id: 5, failure: { kind: 'too_large' } }]);
    expect(heard.messages).toEqual([]);
  });

  test('is no answer where it is a request of the server', async () => {
    const { server, heard } = await openWire();
    const request = { jsonrpc: '2.0', id: 5, method: 'ping', params: { n: 1n } };
    await expect(server.send(request)).rejects.toThrow('invalid');
    expect(heard.failures).toEqual([]);
  });
});

describe('the end', () => {
  test('from our side reaches the server once, with all that it holds', async () => {
    const { wire, server, heard } = await openWire();
    let closes = 0;
    server.onclose = () => {
      closes += 1;
      void server.close();
    };
    await wire.close(0);
    await wire.close(0);
    expect([closes, heard.closed, heard.released]).toEqual([1, ['it was closed'], ['released']]);
    expect(await wire.send({ jsonrpc: '2.0', method: 'a' })).toMatchObject({ kind: 'unsent' });
    await expect(server.send({ jsonrpc: '2.0', method: 'a' })).rejects.toThrow('it was closed');
  });

  test('from the server’s side is heard, and why', async () => {
    const { server, heard } = await openWire();
    await server.close();
    expect(heard.closed).toEqual(['the server has closed its connection']);
  });

  test('of a server that will not serve the transport is the failure of the start', async () => {
    const wire = createInProcessWire({
      maxMessageBytes: 1_000,
      connect: () => Promise.reject(new Error('already connected')),
    });
    await expect(wire.start()).rejects.toThrow('already connected');
  });
});
