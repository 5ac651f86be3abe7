import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { JOB_HELPERS } from '../../src/runtime/job-tools.ts';
import { createRouteMeter } from '../../src/runtime/route-meter.ts';
import { objectAt, type JsonObject } from '../../src/kernel/json.ts';
import type { RunEnd } from '../../src/runtime/job.ts';
import { tool } from '../faces/face-kit.ts';
import { WITH_TASKS, caller2026, caller2025, resultOf } from '../faces/wire.ts';
import { createJobSite, factsOf, plainHost, WIRES, type JobSite } from './hosts.ts';

const REPORT_SCHEMA: JsonObject = {
  type: 'object',
  properties: { pages: { type: 'integer' }, author: { $ref: '#/$defs/person' } },
  required: ['pages', 'author'],
  additionalProperties: false,
  $defs: {
    person: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
};
const ANCHORED_SCHEMA: JsonObject = {
  $id: 'https://example.com/report',
  type: 'object',
  properties: { pages: { type: 'integer' } },
  required: ['pages'],
};

const withSchema = (outputSchema: JsonObject) =>
  tool('gated', {
    jobWindowMs: 30,
    definition: { name: 'gated', inputSchema: { type: 'object' }, outputSchema },
  });

const structured = (structuredContent: JsonObject): RunEnd => ({
  outcome: { kind: 'result', result: { content: [], structuredContent } },
  end: 'answered',
  reason: 'answered',
});

const GOOD = { pages: 3, author: { name: 'Ada' } };
const BAD = { pages: 'three', author: { name: 'Ada' } };
const INFO = { name: 'host', version: '1.0.0' };
const headers = { authorization: 'Bearer alice' };

interface Calls {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

/** Clients that check every `structuredContent` against what was listed. */
const CLIENTS: Readonly<Record<string, (site: JobSite) => Promise<Calls>>> = {
  async 'SDK v1'({ url }) {
    const client = new ClientV1(INFO);
    await client.connect(new HttpV1(new URL(url), { requestInit: { headers } }));
    onTestFinished(() => client.close());
    return client;
  },
  async 'SDK v2 on 2026-07-28'({ url }) {
    const client = new ClientV2(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new HttpV2(new URL(url), { requestInit: { headers } }));
    onTestFinished(() => client.close());
    return client;
  },
  async 'SDK v2 on 2025-11-25'({ url }) {
    const client = new ClientV2(INFO, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(new HttpV2(new URL(url), { requestInit: { headers } }));
    onTestFinished(() => client.close());
    return client;
  },
};

describe.each(Object.entries(CLIENTS))('%s, which checks what was listed', (_name, connect) => {
  test.each([
    ['that can be joined with the handle’s', REPORT_SCHEMA],
    ['that names places in itself', ANCHORED_SCHEMA],
  ])('takes a handle of a tool with an outputSchema %s', async (_what, outputSchema) => {
    const site = await createJobSite({ tools: [withSchema(outputSchema)] });
    const client = await connect(site);
    await client.listTools();
    const started = (await client.callTool({ name: 'gated', arguments: {} })) as JsonObject;
    expect(factsOf(started)).toMatchObject({ status: 'working' });
    const { job } = factsOf(started);
    site.kit.gate.end(await site.kit.gate.next(), structured(GOOD));
    const ended = (await client.callTool({
      name: 'longcall_wait',
      arguments: { job },
    })) as JsonObject;
    expect(ended['structuredContent']).toEqual(GOOD);
  });

  test('still refuses a result that breaks the tool’s own schema', async () => {
    const { kit, ...site } = await createJobSite({
      tools: [{ ...withSchema(REPORT_SCHEMA), jobWindowMs: 20_000 }],
    });
    const client = await connect({ kit, ...site });
    await client.listTools();
    const call = client.callTool({ name: 'gated', arguments: {} });
    kit.gate.end(await kit.gate.next(), structured(BAD));
    await expect(call).rejects.toThrow(/schema/i);
    const good = client.callTool({ name: 'gated', arguments: { again: true } });
    kit.gate.end(await kit.gate.next(), structured(GOOD));
    expect(await good).toMatchObject({ structuredContent: GOOD });
  });
});

describe('what is listed', () => {
  const listOf = async (site: JobSite, wire: (typeof WIRES)[number]) =>
    (await plainHost(site.url, wire)).list();
  const named = (tools: readonly JsonObject[], name: string): JsonObject | undefined =>
    tools.find((each) => each['name'] === name);

  test('callers with the extension get the tool’s own schema and no helpers', async () => {
    const site = await createJobSite({ tools: [withSchema(REPORT_SCHEMA)] });
    const answer = await caller2026(site.url, 'alice', WITH_TASKS).call('tools/list');
    const tools = resultOf(answer)['tools'] as readonly JsonObject[];
    expect(tools.map(({ name }) => name)).toEqual(['gated']);
    expect(tools[0]?.['outputSchema']).toEqual(REPORT_SCHEMA);
  });

  test.each(WIRES)(
    'callers of %s without it get the helpers, whose names leave room for prefixes',
    async (wire) => {
      const site = await createJobSite({ tools: [tool('echo')] });
      const names = (await listOf(site, wire)).map(({ name }) => String(name));
      expect(names).toEqual(['echo', ...JOB_HELPERS]);
      const longest = Math.max(
        ...JOB_HELPERS.map((name) => `mcp__longcall-gateway-of-the-team__${name}`.length),
      );
      expect(longest).toBeLessThanOrEqual(50);
    },
  );

  test('a tool that never answers with a handle keeps its schema', async () => {
    const sync = { ...withSchema(REPORT_SCHEMA), mode: 'sync' as const };
    const site = await createJobSite({ tools: [sync] });
    expect(named(await listOf(site, '2025-06-18'), 'gated')?.['outputSchema']).toEqual(
      REPORT_SCHEMA,
    );
  });

  test('only when needed, there are no helpers where no tool needs them', async () => {
    const face = { jobTools: 'only-when-needed' } as const;
    const idle = await createJobSite({ tools: [tool('echo', { mode: 'sync' })], face });
    expect((await listOf(idle, '2025-11-25')).map(({ name }) => name)).toEqual(['echo']);
    const busy = await createJobSite({ tools: [tool('echo')], face });
    expect(await listOf(busy, '2025-11-25')).toHaveLength(1 + JOB_HELPERS.length);
  });

  test('switched off, the list is the upstream’s, and a call waits as it did', async () => {
    const site = await createJobSite({
      tools: [withSchema(REPORT_SCHEMA)],
      face: { jobTools: 'off' },
    });
    const [only, ...more] = await listOf(site, '2025-11-25');
    expect(more).toEqual([]);
    expect(only?.['outputSchema']).toEqual(REPORT_SCHEMA);
    const host = await plainHost(site.url, '2025-11-25');
    const call = host.call('gated');
    site.kit.gate.end(await site.kit.gate.next(), structured(GOOD));
    expect((await call)['structuredContent']).toEqual(GOOD);
    const caller = await caller2025(site.url, 'alice');
    expect((await caller.tool('longcall_wait')).body['error']).toMatchObject({ code: -32_602 });
  });

  test('a tool that requires tasks is refused, or served with job tools where policy says so', async () => {
    const required = tool('gated', { mode: 'task-required', jobWindowMs: 30 });
    const strict = await createJobSite({ tools: [required] });
    const refused = await (await caller2025(strict.url, 'alice')).tool('gated');
    expect(refused.body['error']).toMatchObject({ code: -32_601 });
    const modern = await caller2026(strict.url, 'alice', {}).tool('gated');
    expect(modern.body['error']).toMatchObject({ code: -32_021 });

    const open = { ...required, fallback: ['job-tools', 'refuse'] as const };
    const routes = createRouteMeter();
    const site = await createJobSite({ tools: [open], face: { routes } });
    for (const wire of WIRES) {
      const host = await plainHost(site.url, wire);
      expect(factsOf(await host.call('gated'))).toMatchObject({ status: 'working' });
    }
    const [listed] = await listOf(site, '2025-11-25');
    expect(objectAt(listed, 'execution')).toEqual({ taskSupport: 'optional' });
    expect(routes.counts()).toEqual(
      expect.arrayContaining([
        { route: 'job', reason: 'task-required:older', count: 1 },
        { route: 'job', reason: 'task-required:2025-plain', count: 1 },
        { route: 'job', reason: 'task-required:2026-plain', count: 1 },
      ]),
    );
  });
});
