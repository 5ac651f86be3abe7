import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../wire/check.ts';
import { createClient2026 } from '../wire/client.ts';
import { callAsTask, objectAt, reaches, textOf } from '../wire/steps.ts';
import { createReadersFolder, printed, type ReadersFolder } from './quick-starts.ts';

const OTHERS = fileURLToPath(new URL('readers/', import.meta.url));
const others = (name: string): string => readFileSync(`${OTHERS}${name}`, 'utf8');

const TIMEOUT_MS = 120_000;

const folders: ReadersFolder[] = [];
const open = (files: Readonly<Record<string, string>>): ReadersFolder => {
  const folder = createReadersFolder(files);
  folders.push(folder);
  return folder;
};
afterEach(() => folders.splice(0).forEach((folder) => folder.remove()));

const clientOf = (folder: ReadersFolder, url: string) =>
  createClient2026({ url, headers: { authorization: `Bearer ${folder.token()}` } });

test(
  'the quick start for authors in the README runs as printed',
  async () => {
    const folder = open({ 'reports.ts': printed('README.md', 'reports.ts') });
    expect(folder.typeErrors()).toBe('');
    const { url } = await folder.serve(['node', 'reports.ts']);
    const client = clientOf(folder, url);
    const call = { name: 'publish_report', arguments: { month: 'May' } };
    const first = (await client.request('tools/call', call)).result;
    expect(objectAt(first, 'structuredContent')).toMatchObject({ published: 'May' });
    const again = (await client.request('tools/call', call)).result;
    expect(objectAt(again, 'structuredContent')).toEqual(objectAt(first, 'structuredContent'));
  },
  TIMEOUT_MS,
);

for (const page of ['README.md', 'docs/how-to/adopt-an-existing-server.md'])
  test(
    `adopting a server of SDK 1.x runs as printed in ${page}`,
    async () => {
      const folder = open({
        'adopted.ts': printed(page, 'adopted.ts'),
        'your-server.ts': others('your-server.ts'),
      });
      expect(folder.typeErrors()).toBe('');
      const { url } = await folder.serve(['node', 'adopted.ts']);
      const client = clientOf(folder, url);
      const { result } = await client.request('tools/call', {
        name: 'export_report',
        arguments: { month: 'May' },
      });
      expect(textOf(result)).toBe('report for May');
    },
    TIMEOUT_MS,
  );

test(
  'the quick start of the gateway in the README runs as printed',
  async () => {
    const folder = open({
      'longcall.yaml': printed('README.md', 'longcall.yaml'),
      'reports-mcp.js': others('reports-mcp.js'),
    });
    const { url } = await folder.serve(
      ['bash', '-c', `exec ${printed('README.md', 'gateway.sh')}`],
      {
        LONGCALL_LISTEN_MCP: '127.0.0.1:0',
        LONGCALL_LISTEN_ADMIN: '127.0.0.1:0',
      },
    );
    const client = clientOf(folder, url);
    const { result } = await client.request('tools/call', {
      name: 'export_report',
      arguments: { month: 'May' },
    });
    expect(textOf(result)).toBe('report for May');
    const paid = await callAsTask(client, 'pay_invoice', { args: { invoice: 'inv_1' } });
    expect(textOf((await reaches(client, paid, 'completed'))['result'])).toBe('paid inv_1');
  },
  TIMEOUT_MS,
);

test(
  'the first long tool of the tutorial survives the deaths that the tutorial asks for',
  async () => {
    const page = 'docs/tutorials/your-first-long-tool.md';
    const folder = open({ 'reports.ts': printed(page, 'reports.ts') });
    expect(folder.typeErrors()).toBe('');
    const start = (env = {}) => folder.serve(['node', 'reports.ts'], env);
    const first = await start();
    const taskId = await callAsTask(clientOf(folder, first.url), 'publish_report', {
      args: { month: 'May' },
    });
    await eventually(() => first.said().includes('querying') || undefined, 'the query');
    await first.kill();

    const second = await start({ QUERY_MS: '10' });
    await reaches(clientOf(folder, second.url), taskId, 'input_required');
    expect(second.said()).toContain('querying');
    await second.kill();

    const third = await start();
    const client = clientOf(folder, third.url);
    const asked = objectAt(await reaches(client, taskId, 'input_required'), 'inputRequests');
    const [key = ''] = Object.keys(asked);
    expect(JSON.stringify(asked)).toContain('Publish 1204 rows for May?');
    const inputResponses = { [key]: { action: 'accept', content: { publish: true } } };
    await client.request('tasks/update', { taskId, inputResponses });
    const done = await reaches(client, taskId, 'completed');
    expect(textOf(done['result'])).toBe('published 1204 rows for May');
    expect(third.said()).not.toContain('querying');
    expect(third.said().match(/publishing under lck_/g)).toHaveLength(1);
  },
  TIMEOUT_MS,
);
