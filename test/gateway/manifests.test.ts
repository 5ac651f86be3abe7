import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import type { Upstream } from '../fixtures/upstreams/launch.ts';
import type { Seen } from '../wire/mutants/mutation.ts';
import { startMutatingProxy } from '../wire/mutants/proxy.ts';
import { effectsLog, httpFixture, startGateway, stdioEndpoint } from './gateway-kit.ts';
import { EVERY_ASK, run } from './test-job.ts';

/** What the manifest of a gateway says of one fixture and of its tools. */
async function manifestOf(name: Upstream) {
  const gateway = await startGateway({ upstreams: [{ endpoint: stdioEndpoint(name) }] });
  const [manifest] = gateway.manifests();
  const tools = Object.fromEntries(
    (manifest?.tools ?? []).map((tool) => [tool.name, tool.taskSupport]),
  );
  return { manifest, tools };
}

test('a manifest holds version, protocol, evidence, task operations and the mode of each tool', async () => {
  const v1 = await manifestOf('tasks-v1');
  expect(v1.manifest).toMatchObject({
    state: 'up',
    name: 'tasks-v1-fixture',
    version: '1.0.0',
    protocolVersion: '2025-11-25',
    generation: '2025-11-25',
    ownTasks: '2025-11-25',
    capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    takenAt: expect.any(Number),
  });
  expect(v1.tools).toMatchObject({
    export_report: 'optional',
    rebuild_index: 'required',
    quick: 'forbidden',
  });

  const modern = await manifestOf('tasks-2026');
  expect(modern.manifest).toMatchObject({
    protocolVersion: '2026-07-28',
    ownTasks: '2026-07-28',
    capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  });

  const none = await manifestOf('effects');
  expect(none.manifest).toMatchObject({ protocolVersion: '2025-11-25', ownTasks: 'none' });
  expect(new Set(Object.values(none.tools))).toEqual(new Set([undefined]));
});

verifies(
  ['G1-05', 'G1-06', 'G1-08'],
  'a peer that has not declared tasks is never sent one, whatever the caller asked for',
  async () => {
    const effects = effectsLog();
    const sent: Seen[] = [];
    const upstream = await httpFixture('effects', effects);
    const recorder = await startMutatingProxy(upstream.url, {
      request(seen) {
        sent.push(seen);
        return seen;
      },
    });
    onTestFinished(() => recorder.stop());
    const gateway = await startGateway({
      upstreams: [{ endpoint: { kind: 'http', url: recorder.url } }],
    });
    await run(gateway, { tool: 'append', arguments: { tag: 'a' }, asks: EVERY_ASK }).end;
    const bodies = sent.flatMap(({ body }) => (body ? [body] : []));
    const calls = bodies.filter(({ method }) => method === 'tools/call');
    expect(calls).toHaveLength(1);
    expect(calls[0]?.['params']).not.toHaveProperty('task');
    expect(
      bodies.map(({ method }) => String(method)).filter((method) => method.startsWith('tasks/')),
    ).toEqual([]);
  },
);
