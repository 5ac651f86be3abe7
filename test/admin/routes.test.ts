import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  EventDocument,
  OperationDocument,
  Page,
  ResultDocument,
  TaskDetail,
  TaskDocument,
} from '../../src/admin/documents.ts';
import { anonymousPrincipal } from '../../src/identity/principal.ts';
import type { Task } from '../../src/protocol/model.ts';
import { verifies } from '../requirements/verifies.ts';
import { ask, hashId, openDoor, read } from './door.ts';
import type { Door } from './door.ts';
import {
  ANNA,
  BORYS,
  SECRET_ARGUMENT,
  SECRET_QUESTION,
  SECRET_RESULT,
  askOwner,
  endTask,
  recordTask,
} from './records.ts';

let door: Door;
beforeAll(async () => {
  door = await openDoor({
    upstreams: () => [
      { name: 'reports', state: 'up', transport: 'stdio', serverName: 'reports-mcp' },
    ],
  });
});
afterAll(() => door.close());

const eventsOf = async (taskId: string): Promise<readonly EventDocument[]> =>
  (await read<Page<EventDocument>>(door, `/admin/v1/events?taskId=${taskId}`)).items;

const post = (path: string, body: unknown = {}): Promise<Response> =>
  ask(door, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('one task', () => {
  test('both columns stand beside each other, with attempts and events', async () => {
    const task = await recordTask(door.store, { tool: 'pay', effect: 'consequential' });
    await endTask(door.store, task.id);
    const detail = await read<TaskDetail & { schemaVersion: number }>(
      door,
      `/admin/v1/tasks/${task.id}`,
    );
    expect(detail.schemaVersion).toBe(1);
    expect(detail.protocol).toEqual({
      phase: 'ended',
      ending: 'result',
      status: { '2025-11-25': 'completed', '2026-07-28': 'completed' },
    });
    expect(detail.outcome).toMatchObject({ name: 'answered', sendAgain: 'no' });
    expect(detail.operation).toMatchObject({ id: task.operationId, state: 'acknowledged' });
    expect(detail.attempts).toMatchObject([
      { number: 1, state: 'ended', observesUpstreamTask: false },
    ]);
    expect(detail.attempts[0]?.dispatchedAt).toMatch(/^\d{4}-.*Z$/);
    expect(detail.events.map(({ type }) => type)).toContain('task.settled');
  });

  verifies(
    ['G1-38', 'G2-44'],
    'a tool error is failed for one generation and completed for the other',
    async () => {
      const task = await recordTask(door.store, { origin: '2025-11-25' });
      const result = { content: [], isError: true };
      await endTask(door.store, task.id, {
        outcome: { kind: 'result', result },
        callEnd: 'tool_error',
      });
      const detail = await read<TaskDetail>(door, `/admin/v1/tasks/${task.id}`);
      expect(detail.protocol.ending).toBe('tool_error');
      expect(detail.protocol.status).toEqual({ '2025-11-25': 'failed', '2026-07-28': 'completed' });
    },
  );

  test('a lost call is not known, whatever its status says', async () => {
    const task = await recordTask(door.store, { tool: 'pay', effect: 'consequential' });
    const error = { code: -32603, message: 'outcome unknown' };
    await endTask(door.store, task.id, { outcome: { kind: 'error', error }, callEnd: 'lost' });
    const detail = await read<TaskDetail>(door, `/admin/v1/tasks/${task.id}`);
    expect(detail.outcome).toMatchObject({
      name: 'not_known',
      words: 'not known: reconcile first',
    });
    expect(detail.operation?.state).toBe('unknown');
  });

  test('an open question shows its key, kind and time, and not its words', async () => {
    const task = await recordTask(door.store);
    const key = await askOwner(door.store, task.id);
    const detail = await read<TaskDetail>(door, `/admin/v1/tasks/${task.id}`);
    expect(detail.protocol.phase).toBe('input_required');
    expect(detail.inputs).toMatchObject([{ key, method: 'elicitation/create', state: 'pending' }]);
    expect(JSON.stringify(detail)).not.toContain(SECRET_QUESTION);
  });

  test('neither arguments nor results show in any document but the result itself', async () => {
    const task = await recordTask(door.store);
    await endTask(door.store, task.id);
    for (const path of [
      'tasks',
      `tasks/${task.id}`,
      'events',
      'operations',
      'status',
      'manifests',
    ]) {
      const text = await (await ask(door, `/admin/v1/${path}`)).text();
      for (const secret of [SECRET_ARGUMENT, SECRET_RESULT])
        expect(text, path).not.toContain(secret);
    }
    const metrics = await (await ask(door, '/metrics')).text();
    expect(metrics).not.toContain(SECRET_ARGUMENT);
  });

  test.each(['tasks/tsk_none', 'tasks/tsk_none/result', 'tasks/tsk_none/watch'])(
    'an unknown id is 404: %s',
    async (path) => {
      const response = await ask(door, `/admin/v1/${path}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: { code: 'LONGCALL_TASK_UNKNOWN', retryable: false },
      });
    },
  );
});

describe('the result', () => {
  const resultOf = (task: Task) => ask(door, `/admin/v1/tasks/${task.id}/result`);

  test('is answered with its body, and each read is recorded first', async () => {
    const task = await recordTask(door.store, {
      owner: BORYS,
      tool: 'pay',
      effect: 'consequential',
    });
    await endTask(door.store, task.id);
    const document = (await (await resultOf(task)).json()) as ResultDocument;
    expect(JSON.stringify(document.result)).toContain(SECRET_RESULT);
    expect(document).toMatchObject({ schemaVersion: 1, ending: 'result', error: null });
    await resultOf(task);
    const reads = (await eventsOf(task.id)).filter(({ type }) => type === 'admin.result_read');
    expect(reads).toHaveLength(2);
    expect(reads[0]).toMatchObject({
      actor: 'admin',
      tenant: BORYS.tenant,
      operationId: task.operationId,
    });
  });

  test('of a task that still runs is 409, and nothing was read', async () => {
    const task = await recordTask(door.store);
    const response = await resultOf(task);
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({
      error: { code: 'LONGCALL_TASK_RUNNING', retryable: true },
    });
    const types = (await eventsOf(task.id)).map(({ type }) => type);
    expect(types).not.toContain('admin.result_read');
  });

  test('that is an error is answered as one', async () => {
    const task = await recordTask(door.store);
    const error = { code: -32000, message: 'no such report', data: { report: 7 } };
    await endTask(door.store, task.id, { outcome: { kind: 'error', error }, callEnd: 'error' });
    expect(await (await resultOf(task)).json()).toMatchObject({
      ending: 'error',
      result: null,
      error,
    });
  });

  test('is not answered to HEAD, which would record a read of nothing', async () => {
    const task = await recordTask(door.store);
    await endTask(door.store, task.id);
    const response = await ask(door, `/admin/v1/tasks/${task.id}/result`, { method: 'HEAD' });
    expect(response.status).toBe(405);
    const types = (await eventsOf(task.id)).map(({ type }) => type);
    expect(types).not.toContain('admin.result_read');
  });
});

describe('cancel', () => {
  test('is recorded with its reason before it is done, and then both columns are answered', async () => {
    const task = await recordTask(door.store, { tool: 'pay', effect: 'consequential' });
    const response = await post(`/admin/v1/tasks/${task.id}/cancel`, {
      reason: 'asked by\nfinance',
    });
    expect(response.status).toBe(200);
    const document = (await response.json()) as { kind: string; task: TaskDocument };
    expect(document.kind).toBe('cancelled');
    expect(document.task.protocol).toMatchObject({ phase: 'ended', ending: 'cancelled' });
    expect(document.task.outcome).toMatchObject({ name: 'nothing', sendAgain: 'same_operation' });
    const events = await eventsOf(task.id);
    const asked = events.findIndex(({ type }) => type === 'admin.cancel_requested');
    const settled = events.findIndex(({ type }) => type === 'task.settled');
    expect(events[asked]).toMatchObject({ actor: 'admin', tenant: ANNA.tenant });
    expect(events[asked]?.reason).toContain('asked by');
    expect(asked).toBeLessThan(settled);
  });

  test('of an ended task changes nothing and says so', async () => {
    const task = await recordTask(door.store);
    await endTask(door.store, task.id);
    const document = await (await post(`/admin/v1/tasks/${task.id}/cancel`)).json();
    expect(document).toMatchObject({
      kind: 'already_ended',
      task: { protocol: { ending: 'result' } },
    });
  });

  test.each([
    [{ reason: 7 }, 400],
    [{ force: true }, 400],
    [[], 400],
    [{ reason: 'x'.repeat(201) }, 400],
    [{ reason: 'x'.repeat(20_000) }, 413],
  ])('a body that makes no sense is refused and nothing is cancelled: %j', async (body, status) => {
    const task = await recordTask(door.store);
    expect((await post(`/admin/v1/tasks/${task.id}/cancel`, body)).status).toBe(status);
    expect((await read<TaskDetail>(door, `/admin/v1/tasks/${task.id}`)).protocol.phase).toBe(
      'working',
    );
  });
});

describe('lists', () => {
  const list = (query: string) => read<Page<TaskDocument>>(door, `/admin/v1/tasks?${query}`);

  test('tasks of both tenants, newest first, page by page, none twice and none left out', async () => {
    const tool = 'paged';
    const made: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      const owner = count % 2 === 0 ? ANNA : BORYS;
      made.push((await recordTask(door.store, { owner, tool })).id);
    }
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Page<TaskDocument> = await list(
        `tool=${tool}&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(seen.toSorted()).toEqual(made.toSorted());
    expect(new Set(seen).size).toBe(7);
  });

  test('filters by tenant, phase and the start of an id', async () => {
    const tool = 'filtered';
    const ofBorys = await recordTask(door.store, { owner: BORYS, tool });
    const open = await recordTask(door.store, { tool });
    const ended = await recordTask(door.store, { tool });
    await endTask(door.store, ended.id);
    const ids = async (query: string) =>
      (await list(`tool=${tool}&${query}`)).items.map(({ id }) => id);
    expect(await ids('tenant=globex')).toEqual([ofBorys.id]);
    expect(await ids('phase=ended')).toEqual([ended.id]);
    expect((await ids('phase=open')).toSorted()).toEqual([ofBorys.id, open.id].toSorted());
    expect(await ids(`idPrefix=${open.id.slice(0, 12)}`)).toEqual([open.id]);
    expect(await ids(`idPrefix=${encodeURIComponent('tsk_%')}`)).toEqual([]);
    expect(await ids('tenant=nobody')).toEqual([]);
  });

  test.each([
    'phase=running',
    'limit=0',
    'limit=101',
    'limit=x',
    'cursor=nonsense',
    'owner=anna',
    'tool=a&tool=b',
  ])('a filter that is not understood is an error, never ignored: %s', async (query) => {
    const response = await ask(door, `/admin/v1/tasks?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'LONGCALL_USAGE' } });
  });

  test('operations show their state and the column of their task', async () => {
    const task = await recordTask(door.store, { tool: 'ledgered', effect: 'reversible' });
    await endTask(door.store, task.id, { callEnd: 'lost', outcome: { kind: 'cancelled' } });
    const page = await read<Page<OperationDocument>>(
      door,
      '/admin/v1/operations?state=unknown&tool=ledgered',
    );
    expect(page.items).toMatchObject([
      {
        id: task.operationId,
        state: 'unknown',
        protocol: { ending: 'cancelled' },
        outcome: { name: 'not_known' },
      },
    ]);
    const one = await read<OperationDocument>(door, `/admin/v1/operations/${task.operationId}`);
    expect(one).toMatchObject({ taskId: task.id, tenant: ANNA.tenant, effect: 'reversible' });
    const prefix = task.operationId?.slice(0, 12) ?? '';
    const found = await read<Page<OperationDocument>>(
      door,
      `/admin/v1/operations?idPrefix=${prefix}`,
    );
    expect(found.items.map(({ id }) => id)).toEqual([task.operationId]);
  });

  test('an operation outlives its task and then reads as expired', async () => {
    const task = await recordTask(door.store, { tool: 'short', effect: 'reversible', ttlMs: 1 });
    await door.store.tasks.settle({
      taskId: task.id,
      outcome: { kind: 'cancelled' },
      callEnd: 'cancelled',
      reason: 'cancelled',
    });
    await expect.poll(async () => (await ask(door, `/admin/v1/tasks/${task.id}`)).status).toBe(404);
    const one = await read<OperationDocument>(door, `/admin/v1/operations/${task.operationId}`);
    expect(one).toMatchObject({
      protocol: null,
      state: 'abandoned',
      outcome: { name: 'nothing' },
    });
  });

  test('an unknown operation is 404', async () => {
    const response = await ask(door, '/admin/v1/operations/op_none');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'LONGCALL_OPERATION_UNKNOWN' } });
  });
});

describe('the audit', () => {
  test('goes on after a cursor, in the order of what happened', async () => {
    const first = await read<Page<EventDocument>>(door, '/admin/v1/events?limit=2');
    expect(first.items).toHaveLength(2);
    const next = await read<Page<EventDocument>>(
      door,
      `/admin/v1/events?limit=2&cursor=${first.nextCursor}`,
    );
    expect(next.items[0]?.sequence).toBe((first.items[1]?.sequence ?? 0) + 1);
  });

  verifies(
    'G1-101',
    "shows the hash of an anonymous caller's id, which is all that protects it",
    async () => {
      const task = await recordTask(door.store, { owner: anonymousPrincipal() });
      const all: string[] = [];
      let cursor: string | null = '0';
      while (cursor !== null) {
        const page: Page<EventDocument> = await read(
          door,
          `/admin/v1/events?limit=100&cursor=${cursor}`,
        );
        all.push(...page.items.map(({ taskId }) => taskId ?? ''));
        cursor = page.nextCursor;
      }
      expect(all).not.toContain(task.id);
      expect(all).toContain(hashId(task.id));
      expect((await eventsOf(task.id)).map(({ taskId }) => taskId)).toContain(task.id);
    },
  );

  test('no id of a task is ever written to the log by this door', async () => {
    const task = await recordTask(door.store, { owner: anonymousPrincipal() });
    await ask(door, `/admin/v1/tasks/${task.id}`);
    await ask(door, `/admin/v1/tasks/${task.id}/result`);
    expect(door.logged.join('\n')).not.toContain(task.id);
  });
});

describe('the process', () => {
  test('says how it stands', async () => {
    const status = await read(door, '/admin/v1/status');
    expect(status).toMatchObject({
      schemaVersion: 1,
      version: '0.0.0-test',
      pid: process.pid,
      draining: false,
      dataDirectory: door.directory,
      mcpUrl: 'http://127.0.0.1:1/mcp',
      store: { kind: 'sqlite', ok: true },
      upstreams: [{ name: 'reports', state: 'up', serverName: 'reports-mcp', problem: null }],
    });
    expect(status['tasks']).toMatchObject({ ended: expect.any(Number) as number });
  });

  test('shows each tool as it is served, and that an upstream has not been looked at yet', async () => {
    const manifests = await read(door, '/admin/v1/manifests');
    expect(manifests).toMatchObject({
      items: [
        {
          upstream: 'reports',
          takenAt: null,
          document: null,
          tools: [{ name: 'export_report', mode: 'task-optional', effect: 'read' }],
        },
      ],
    });
    await door.store.manifests.put({
      upstream: 'reports',
      takenAt: 1_000,
      document: { tools: [] },
    });
    expect(await read(door, '/admin/v1/manifests')).toMatchObject({
      items: [{ takenAt: '1970-01-01T00:00:01.000Z', document: { tools: [] } }],
    });
  });
});
