import { expect, test } from 'vitest';
import { answered } from '../runtime/receiving-side.ts';
import { createKit, tool } from '../faces/face-kit.ts';
import {
  caller2025,
  CAPABILITIES_META,
  errorOf,
  resultOf,
  textOf,
  VERSION_META,
} from '../faces/wire.ts';

const GATED = [tool('gated', { mode: 'sync', effect: 'consequential' })];
const REFUSED = { code: -32_600, message: expect.stringContaining('still running') };

test('over HTTP a request that comes twice in one session runs once', async () => {
  const kit = await createKit({ tools: GATED });
  const { url } = await kit.http();
  const alice = await caller2025(url, 'alice');
  const first = alice.tool('gated', {}, { id: 'same' });
  const job = await kit.gate.next();
  expect(errorOf(await alice.tool('gated', {}, { id: 'same' }))).toMatchObject(REFUSED);
  kit.gate.end(job, answered('once'));
  expect(textOf(resultOf(await first))).toContain('once');
  const meta = { 'dev.longcall/newOperation': true };
  const again = alice.tool('gated', {}, { id: 'same', meta });
  kit.gate.end(await kit.gate.next(), answered('twice'));
  expect(textOf(resultOf(await again))).toContain('twice');
});

test('a batch that names one id twice is refused whole', async () => {
  const kit = await createKit({ tools: GATED });
  const { url } = await kit.http();
  const alice = await caller2025(url, 'alice', { version: '2025-03-26' });
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...alice.headers, 'content-type': 'application/json' },
    body: JSON.stringify([ping, ping]),
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('two requests have the same id');
});

test.each(['2025-11-25', '2026-07-28'])(
  'over stdio too (%s), and the end of the input ends every request',
  async (version) => {
    const kit = await createKit({ tools: GATED });
    const { send, next, input, face } = kit.stdio();
    const meta = { [VERSION_META]: version, [CAPABILITIES_META]: {} };
    const params = {
      name: 'gated',
      arguments: {},
      ...(version === '2026-07-28' ? { _meta: meta } : {}),
    };
    const greeting = { protocolVersion: version, capabilities: {}, clientInfo: {} };
    if (version === '2025-11-25') {
      send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: greeting });
      await next();
    }
    const call = { jsonrpc: '2.0', id: 'same', method: 'tools/call', params };
    send(call);
    await kit.gate.next();
    send(call);
    expect(errorOf(await next(({ error }) => error !== undefined))).toMatchObject(REFUSED);
    input.end();
    await face.closed;
  },
);
