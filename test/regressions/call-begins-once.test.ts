import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { startGateway, textOf, until } from '../gateway/gateway-kit.ts';
import { accept, EVERY_ASK, run } from '../gateway/test-job.ts';

interface Asking {
  readonly url: string;
  /** Params of each `tools/call` that came. */
  readonly calls: readonly JsonObject[];
  /** Closes its address, and the connections to it. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
}

const INPUT_REQUIRED = {
  resultType: 'input_required',
  requestState: 'half done',
  inputRequests: {
    k: {
      method: 'elicitation/create',
      params: { mode: 'form', message: '?', requestedSchema: {} },
    },
  },
};

/** A server of 2026-07-28 whose tool has done half of its work when it asks. */
async function serveAsking(): Promise<Asking> {
  const calls: JsonObject[] = [];
  const answer = ({ method, params }: JsonObject): JsonObject => {
    if (method === 'server/discover')
      return { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
    if (method === 'tools/list')
      return { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] };
    const call = params as JsonObject;
    calls.push(call);
    if (call['inputResponses'] === undefined) return INPUT_REQUIRED;
    return { content: [{ type: 'text', text: JSON.stringify(call['inputResponses']) }] };
  };
  const listen = async (port: number): Promise<Server> => {
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        const message = JSON.parse(body) as JsonObject;
        const result = { resultType: 'complete', ...answer(message) };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message['id'], result }));
      });
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const leave = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(leave);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls,
    leave,
    async comeBack() {
      server = await listen(port);
    },
  };
}

test('a call whose upstream is away when its owner answers goes on where it was, and does not begin again', async () => {
  const asking = await serveAsking();
  const gateway = await startGateway({
    upstreams: [{ endpoint: { kind: 'http', url: asking.url } }],
  });
  const call = run(gateway, { tool: 'pay', asks: EVERY_ASK });
  await until(() => expect(call.questions).toHaveLength(1));
  await asking.leave();
  call.questions[0]?.answer(accept({ sure: true }));
  // A first try has found nobody.
  await until(() => expect(gateway.manifests()[0]?.state).not.toBe('up'));
  await asking.comeBack();
  const { outcome } = await call.end;
  expect(textOf(outcome.kind === 'result' ? outcome.result : {})).toContain('"sure":true');
  expect(asking.calls.map(({ requestState }) => requestState)).toEqual([undefined, 'half done']);
});

test('where the answers never get through, nobody knows what the call has done', async () => {
  const asking = await serveAsking();
  const gateway = await startGateway({
    upstreams: [{ endpoint: { kind: 'http', url: asking.url } }],
  });
  const call = run(gateway, { tool: 'pay', asks: EVERY_ASK });
  await until(() => expect(call.questions).toHaveLength(1));
  await asking.leave();
  call.questions[0]?.answer(accept({ sure: true }));
  expect(await call.end).toMatchObject({
    end: 'lost',
    outcome: { error: { data: { reason: 'outcome_unknown', operationId: 'op_test' } } },
  });
  await asking.comeBack();
  expect(asking.calls).toHaveLength(1);
});
