import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../crash/until.ts';
import { verifies } from '../requirements/verifies.ts';
import { objectAt, resultOf, textOf } from '../wire/steps.ts';
import { EVERYTHING_OVER_HTTP, ROWS, upstreamTitle } from './rows.ts';
import type { Call, UpstreamRow } from './rows.ts';
import { createUpstreamSite } from './upstream-site.ts';
import type { UpstreamSite } from './upstream-site.ts';

const SITE_MS = 60_000;

/** A call as the gateway's callers make it. */
const served = ({ name }: UpstreamRow, { tool, args }: Call) => ({
  name: `${name}_${tool}`,
  arguments: args,
});

describe.each([
  ['servers of every kind behind one gateway', ROWS],
  ['a server over HTTP behind a gateway of its own', [EVERYTHING_OVER_HTTP]],
])('%s', (_title, rows) => {
  let site: UpstreamSite;
  beforeAll(async () => {
    site = await createUpstreamSite(rows);
  }, SITE_MS);
  afterAll(() => site.remove(), SITE_MS);

  describe.concurrent.each(rows.map((row) => [upstreamTitle(row), row] as const))(
    '%s',
    (_is, row) => {
      test('is up, and the operator sees what it is', async () => {
        const upstream = await until(
          async () => (await site.operator().upstreams()).find(({ name }) => name === row.name),
          row.name,
        );
        expect(upstream).toMatchObject({
          state: 'up',
          serverName: row.says.name,
          protocolVersion: row.says.protocol,
        });
      });

      test('a plain call is answered in both generations', async () => {
        const params = served(row, row.plain);
        const replies = await Promise.all([
          site.session().request('tools/call', params),
          site.modern('tools/call', params),
        ]);
        const texts = replies.map((reply) => textOf(resultOf(reply, row.plain.tool)));
        expect(texts).toEqual([
          expect.stringContaining(row.plain.says),
          expect.stringContaining(row.plain.says),
        ]);
      });

      verifies(['G1-25', 'G1-35'], 'a call becomes a task of 2025-11-25', async () => {
        const params = { ...served(row, row.slow), task: {} };
        const created = resultOf(await site.session().request('tools/call', params), row.slow.tool);
        const { taskId } = objectAt(created, 'task');
        const result = resultOf(
          await site.session().request('tasks/result', { taskId }),
          'its result',
        );
        expect(textOf(result)).toContain(row.slow.says);
        await expectOwnTask(String(taskId));
      });

      verifies(['G2-26', 'G2-41'], 'a call becomes a task of 2026-07-28', async () => {
        const params = served(row, row.slow);
        const created = resultOf(await site.modern('tools/call', params), row.slow.tool);
        expect(created['resultType']).toBe('task');
        const taskId = String(created['taskId']);
        const ended = await until(async () => {
          const task = resultOf(await site.modern('tasks/get', { taskId }), 'tasks/get');
          return task['status'] === 'working' ? undefined : task;
        }, `the end of ${taskId}`);
        expect(ended['status'], JSON.stringify(ended)).toBe('completed');
        expect(textOf(ended['result'])).toContain(row.slow.says);
        await expectOwnTask(taskId);
      });

      /** Where the server has Tasks, the gateway's attempt was a task there; where it has none, nobody asked it for one. */
      async function expectOwnTask(taskId: string): Promise<void> {
        const { attempts } = await site.operator().task(taskId);
        const observed = attempts.map(({ observesUpstreamTask }) => observesUpstreamTask);
        expect(observed).toEqual([row.ownTasks !== 'none']);
      }
    },
  );

  const withResource = rows.flatMap(({ is, resource }) => (resource ? [{ is, resource }] : []));
  test.each(withResource)('the resources of $is pass through', async ({ resource }) => {
    const params = { uri: resource.uri };
    const replies = await Promise.all([
      site.session().request('resources/read', params),
      site.modern('resources/read', params, { 'mcp-name': resource.uri }),
    ]);
    for (const reply of replies)
      expect(JSON.stringify(resultOf(reply, 'resources/read'))).toContain(resource.says);
  });

  const withPrompt = rows.flatMap(({ is, name, prompt }) => (prompt ? [{ is, name, prompt }] : []));
  test.each(withPrompt)('the prompts of $is pass through', async ({ name: prefix, prompt }) => {
    const name = `${prefix}_${prompt.tool}`;
    expect(await promptNames()).toContain(name);
    const params = { name, arguments: prompt.args };
    const replies = await Promise.all([
      site.session().request('prompts/get', params),
      site.modern('prompts/get', params, { 'mcp-name': name }),
    ]);
    for (const reply of replies)
      expect(JSON.stringify(resultOf(reply, 'prompts/get'))).toContain(prompt.says);
  });

  /** Of all upstreams, a page for each. */
  async function promptNames(): Promise<readonly string[]> {
    const names: string[] = [];
    for (let params = {}; ;) {
      const page = resultOf(await site.session().request('prompts/list', params), 'prompts/list');
      names.push(...(page['prompts'] as readonly { name: string }[]).map(({ name }) => name));
      if (page['nextCursor'] === undefined) return names;
      params = { cursor: page['nextCursor'] };
    }
  }
});
