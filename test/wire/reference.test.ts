import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reference } from './reference.ts';
import { startReference } from './reference.ts';

let reference: Reference;
let client: Client;

beforeAll(async () => {
  reference = await startReference({ 'a-token': 'somebody' });
  client = new Client(
    { name: 'reference-test', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { confirm: true },
  }));
  const headers = { authorization: 'Bearer a-token' };
  const options = { requestInit: { headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(reference.url), options));
  await client.listTools();
});
afterAll(async () => {
  await client.close();
  await reference.stop();
});

/** Calls a tool as a task with the official client and returns what its stream says, in order. */
async function streamOf(name: string, args: Record<string, unknown>): Promise<unknown[]> {
  const params = { name, arguments: args };
  const said: unknown[] = [];
  const stream = client.experimental.tasks.callToolStream(params, CallToolResultSchema, {
    task: {},
  });
  for await (const message of stream) said.push(message);
  return said;
}

test('the official client of 2025-11-25 runs a task on the reference to its result', async () => {
  const said = await streamOf('slow_compute', { seconds: 0.2, label: 'official' });
  expect(said[0]).toMatchObject({ type: 'taskCreated', task: { status: 'working' } });
  expect(said.at(-1)).toMatchObject({
    type: 'result',
    result: { content: [{ text: 'official: computed for 0.2 s' }] },
  });
});

test('it is asked in the middle of a task, and answers', async () => {
  const said = await streamOf('confirm_delete', { filename: 'a.txt' });
  expect(said.at(-1)).toMatchObject({
    type: 'result',
    result: { content: [{ text: 'Deleted a.txt' }] },
  });
});

test('it lists its tasks and cannot cancel what has ended', async () => {
  const [created] = (await streamOf('structured_job', {})) as [{ task: { taskId: string } }];
  const { taskId } = created.task;
  const { tasks } = await client.experimental.tasks.listTasks();
  expect(tasks.map((task) => task.taskId)).toContain(taskId);
  const cancel = client.experimental.tasks.cancelTask(taskId);
  await expect(cancel).rejects.toMatchObject({ code: -32_602 });
});
