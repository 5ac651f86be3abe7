import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TaskDocument } from '../../src/admin/documents.ts';
import { readServerEvents } from '../../src/cli/server-events.ts';
import type { ServerEvent } from '../../src/cli/server-events.ts';
import { createDeferred } from '../../src/kernel/deferred.ts';
import type { Deferred } from '../../src/kernel/deferred.ts';
import type { Job, RunEnd } from '../../src/runtime/job.ts';
import { TOOL, ask, openDoor } from './door.ts';
import type { Door } from './door.ts';
import { ANNA, askOwner, endTask, goodResult, recordTask } from './records.ts';

/** A run that does what the test tells it. */
let run: Deferred<Job>;
let end: Deferred<RunEnd>;
let door: Door;
beforeAll(async () => {
  door = await openDoor({
    run: (job) => {
      run.resolve(job);
      job.signal.addEventListener('abort', () =>
        end.resolve({ outcome: { kind: 'cancelled' }, end: 'cancelled', reason: 'cancelled' }),
      );
      return end.promise;
    },
  });
});
afterAll(() => door.close());

async function startCall() {
  run = createDeferred();
  end = createDeferred();
  const started = await door.runtime.receiver.start({
    principal: ANNA,
    tool: TOOL,
    arguments: {},
    meta: {},
    origin: '2026-07-28',
    asks: [],
  });
  if (started.kind !== 'started') throw new Error(started.kind);
  return { id: started.task.id, job: await run.promise };
}

interface Watching {
  next(): Promise<ServerEvent>;
  leave(): void;
}

async function watch(id: string): Promise<Watching> {
  const leaving = new AbortController();
  const response = await ask(door, `/admin/v1/tasks/${id}/watch`, { signal: leaving.signal });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  if (response.body === null) throw new Error('no body');
  const events = readServerEvents(response.body);
  return {
    async next() {
      const { value } = await events.next();
      if (value === undefined) throw new Error('the stream is over');
      return value;
    },
    leave: () => leaving.abort(),
  };
}

const dataOf = ({ data }: ServerEvent) => JSON.parse(data) as TaskDocument;

describe('watching a task', () => {
  test('begins with where it stands, follows what happens, and ends with the end', async () => {
    const { id, job } = await startCall();
    const watching = await watch(id);
    const first = await watching.next();
    expect(first.event).toBe('task');
    expect(dataOf(first)).toMatchObject({ id, protocol: { phase: 'working' } });

    job.progress({ progress: 2, total: 5, message: 'querying\u001b[2J' });
    let event = await watching.next();
    while (event.event !== 'progress') event = await watching.next();
    expect(dataOf(event)).toMatchObject({
      schemaVersion: 1,
      progress: 2,
      total: 5,
      message: 'querying',
    });

    end.resolve({
      outcome: { kind: 'result', result: goodResult() },
      end: 'answered',
      reason: 'done',
    });
    event = await watching.next();
    while (dataOf(event).protocol?.phase !== 'ended') event = await watching.next();
    expect(dataOf(event).protocol.ending).toBe('result');
    expect(await watching.next()).toMatchObject({ event: 'end' });
    await expect(watching.next()).rejects.toThrow('over');
  });

  test('of one that has ended says so at once', async () => {
    const task = await recordTask(door.store);
    await door.store.tasks.settle({
      taskId: task.id,
      outcome: { kind: 'cancelled' },
      callEnd: 'cancelled',
      reason: 'cancelled',
    });
    const watching = await watch(task.id);
    expect(dataOf(await watching.next()).protocol.ending).toBe('cancelled');
    expect(dataOf(await watching.next())).toMatchObject({ reason: 'ended' });
  });

  test('sees what reached the store by another way than this process', async () => {
    const quiet = await openDoor();
    try {
      const task = await recordTask(quiet.store);
      const response = await ask(quiet, `/admin/v1/tasks/${task.id}/watch`);
      if (response.body === null) throw new Error('no body');
      const events = readServerEvents(response.body);
      await events.next();
      await endTask(quiet.store, task.id);
      const seen = [(await events.next()).value, (await events.next()).value];
      expect(seen.map((event) => event?.event)).toEqual(['task', 'end']);
    } finally {
      await quiet.close();
    }
  });

  test('shows a question by its phase and never by its words', async () => {
    const quiet = await openDoor();
    try {
      const task = await recordTask(quiet.store);
      await askOwner(quiet.store, task.id);
      const response = await ask(quiet, `/admin/v1/tasks/${task.id}/watch`);
      const reader = response.body?.getReader();
      const text = new TextDecoder().decode((await reader?.read())?.value);
      expect(text).toContain('input_required');
      expect(text).not.toContain('canary');
      await reader?.cancel();
    } finally {
      await quiet.close();
    }
  });

  test('and leaving stops nothing, and frees its place for the next of 48', async () => {
    const { id, job } = await startCall();
    const watching = await Promise.all(Array.from({ length: 48 }, () => watch(id)));
    await Promise.all(watching.map((one) => one.next()));
    const refused = await ask(door, `/admin/v1/tasks/${id}/watch`);
    expect(refused.status).toBe(429);
    for (const one of watching) one.leave();
    await expect
      .poll(async () => {
        const response = await ask(door, `/admin/v1/tasks/${id}/watch`);
        await response.body?.cancel();
        return response.status;
      })
      .toBe(200);
    expect(job.signal.aborted).toBe(false);
    end.resolve({ outcome: { kind: 'cancelled' }, end: 'cancelled', reason: 'test' });
  });
});

test('a cancel of an operator reaches the run, and the watch sees it end', async () => {
  const { id, job } = await startCall();
  const watching = await watch(id);
  await watching.next();
  const response = await ask(door, `/admin/v1/tasks/${id}/cancel`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(await response.json()).toMatchObject({ kind: 'cancelled' });
  expect(job.signal.aborted).toBe(true);
  let event = await watching.next();
  while (event.event !== 'end') event = await watching.next();
  const task = await door.store.tasks.get('system', id);
  expect(task).toMatchObject({ phase: 'ended', ending: 'cancelled' });
});
