import { afterAll, expect, test } from 'vitest';
import { createClient2026, openSession } from '../wire/client.ts';
import { callAsTask, createTask, reaches, resultOf, textOf } from '../wire/steps.ts';
import { createSite } from './site.ts';

const site = createSite('sdk-v1', 'http');
afterAll(() => site.stop());

test('a tool that makes tasks of its own has one handle per call, and it is ours [P3]', async () => {
  const endpoint = await site.enter();
  const client = createClient2026(endpoint);
  const taskId = await callAsTask(client, 'own_task', { args: { ms: 120 } });
  expect(taskId).toMatch(/^tsk_/);
  const done = await reaches(client, taskId, 'completed');
  expect(textOf(done['result'])).toBe('own task, 120');

  const session = await openSession(endpoint);
  const task = await createTask(session, 'own_task', { args: { ms: 10 } });
  expect(task['taskId']).toMatch(/^tsk_/);
  const read = await session.request('tasks/result', { taskId: task['taskId'] });
  const result = resultOf(read, 'tasks/result');
  expect(textOf(result)).toBe('own task, 10');
  expect(JSON.stringify(result)).not.toContain('"task":');
});
