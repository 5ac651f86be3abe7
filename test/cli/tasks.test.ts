import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page, ResultDocument, TaskDetail, TaskDocument } from '../../src/admin/documents.ts';
import type { Task } from '../../src/protocol/model.ts';
import { ADMIN_TOKEN, openDoor } from '../admin/door.ts';
import type { Door } from '../admin/door.ts';
import {
  BORYS,
  SECRET_ARGUMENT,
  SECRET_RESULT,
  askOwner,
  endTask,
  recordTask,
} from '../admin/records.ts';
import { longcall, writeDataDirectory } from './terminal.ts';
import type { TerminalOptions } from './terminal.ts';

let door: Door;
let data = '';
beforeAll(async () => {
  door = await openDoor();
  data = writeDataDirectory(door.url);
});
afterAll(() => door.close());

const run = (args: readonly string[], options?: TerminalOptions) =>
  longcall([...args, '--data', data], options);
const json = async <T>(args: readonly string[]): Promise<T> => {
  const { code, stdout, stderr } = await run([...args, '--json']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout) as T;
};
/** The control sequences of colour and cursor. */
const ESCAPE = '\u001b';

async function pay(
  callEnd: 'answered' | 'lost' | 'tool_error' | 'error' = 'answered',
): Promise<Task> {
  const task = await recordTask(door.store, { owner: BORYS, tool: 'pay', effect: 'consequential' });
  const outcomes = {
    answered: { kind: 'result', result: { content: [] } },
    tool_error: { kind: 'result', result: { content: [], isError: true } },
    lost: { kind: 'error', error: { code: -32603, message: 'nobody knows' } },
    error: { kind: 'error', error: { code: -32000, message: 'no' } },
  } as const;
  await endTask(door.store, task.id, { callEnd, outcome: outcomes[callEnd] });
  return task;
}

describe('tasks list', () => {
  test('puts the two columns side by side', async () => {
    const lost = await pay('lost');
    const { code, stdout } = await run(['tasks', 'list', '--tool', 'pay']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^TASK +TOOL +PROTOCOL +OUTCOME +AGE +OPERATION\n/);
    const line = stdout.split('\n').find((one) => one.startsWith(lost.id)) ?? '';
    expect(line).toMatch(/pay +failed +not known: reconcile first +\d+s +op_/);
    expect(stdout).not.toContain(ESCAPE);
  });

  test('answers one document with --json, also where there is nothing', async () => {
    await pay();
    const page = await json<Page<TaskDocument>>(['tasks', 'list', '--tool', 'pay', '--limit', '1']);
    expect(page).toMatchObject({ schemaVersion: 1, nextCursor: expect.any(String) as string });
    expect(page.items).toHaveLength(1);
    const empty = await run(['tasks', 'list', '--tool', 'none', '--json']);
    expect(JSON.parse(empty.stdout)).toEqual({ schemaVersion: 1, items: [], nextCursor: null });
    expect(empty.code).toBe(0);
  });

  test('says on stderr that there is nothing, and how to go on', async () => {
    const empty = await run(['tasks', 'list', '--tool', 'none']);
    expect(empty).toMatchObject({ code: 0, stdout: '' });
    expect(empty.stderr).toContain('no tasks here');
    const paged = await run(['tasks', 'list', '--tool', 'pay', '--limit', '1']);
    const cursor = /--cursor (\S+)/.exec(paged.stderr)?.[1] ?? '';
    const next = await run(['tasks', 'list', '--tool', 'pay', '--limit', '1', '--cursor', cursor]);
    expect(next.stdout.split('\n')[1]).not.toBe(paged.stdout.split('\n')[1]);
  });

  test('keeps to the width of a terminal and colours there, and nowhere else', async () => {
    const wide = await run(['tasks', 'list'], { tty: true, columns: 90 });
    const plain = (text: string) => text.replaceAll(/\u001b\[[0-9;]*m/g, '');
    for (const line of plain(wide.stdout).split('\n')) expect(line.length).toBeLessThanOrEqual(90);
    expect(wide.stdout).toContain(ESCAPE);
    for (const options of [
      { tty: true, env: { NO_COLOR: '1' } },
      { tty: true, env: { TERM: 'dumb' } },
      {},
    ]) {
      expect((await run(['tasks', 'list'], options)).stdout).not.toContain(ESCAPE);
    }
    expect((await run(['tasks', 'list', '--no-color'], { tty: true })).stdout).not.toContain(
      ESCAPE,
    );
    const ascii = await run(['tasks', 'list', '--ascii', '--no-color'], { tty: true, columns: 80 });
    expect(ascii.stdout).toMatch(/^[\x20-\x7e\n]+$/);
  });

  test('shows no control character of a name that a peer has chosen', async () => {
    const evil = `evil${ESCAPE}[2J\nforged`;
    await recordTask(door.store, { tool: evil });
    const { stdout } = await run(['tasks', 'list', '--tool', evil]);
    expect(stdout).not.toContain(ESCAPE);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  });

  test.each([['--phase', 'running'], ['--limit', '1000'], ['--nonsense']])(
    'refuses %s %s with exit 2',
    async (...args) => {
      const { code, stdout, stderr } = await run(['tasks', 'list', ...args]);
      expect(code).toBe(2);
      expect(stdout).toBe('');
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'LONGCALL_USAGE' } });
    },
  );
});

describe('tasks get', () => {
  test('shows both columns, what they mean, and whether it may be sent again', async () => {
    const task = await pay();
    const { stdout } = await run(['tasks', 'get', task.id]);
    expect(stdout).toMatch(/^task +tsk_/);
    expect(stdout).toMatch(/protocol +completed\n/);
    expect(stdout).toMatch(/outcome +answered, not confirmed\n/);
    expect(stdout).toMatch(/send again +no: confirm first\n/);
    expect(stdout).toMatch(new RegExp(`operation +${task.operationId ?? ''} {2}acknowledged`));
    expect(stdout).not.toContain(SECRET_ARGUMENT);
  });

  test('takes the start of an id where it fits one task only', async () => {
    const task = await pay();
    const short = await json<TaskDetail>(['tasks', 'get', task.id.slice(0, 14)]);
    expect(short.id).toBe(task.id);
    const cut = await json<TaskDetail>(['tasks', 'get', `${task.id.slice(0, 20)}…`]);
    expect(cut.id).toBe(task.id);
  });

  test.each([
    ['tsk_', 2, 'LONGCALL_USAGE'],
    ['tsk_abc', 2, 'LONGCALL_USAGE'],
    ['tsk_aaaaaaaaaaaaaaaaaaaaaaaaaaa', 1, 'LONGCALL_TASK_UNKNOWN'],
    ['tsk_aaaaaaaa', 1, 'LONGCALL_TASK_UNKNOWN'],
    ['tsk_%%%%%%%%', 1, 'LONGCALL_TASK_UNKNOWN'],
    ['../../../../healthz', 1, 'LONGCALL_TASK_UNKNOWN'],
  ])('answers %s with exit %i and %s', async (id, exit, code) => {
    const ran = await run(['tasks', 'get', id]);
    expect(ran.code).toBe(exit);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code } });
  });

  test('shows an open question without its words', async () => {
    const task = await recordTask(door.store, { tool: 'asking' });
    const key = await askOwner(door.store, task.id);
    const { stdout } = await run(['tasks', 'get', task.id]);
    expect(stdout).toContain(`${key}  form with personal data, expires in `);
    expect(stdout).toContain('(then: fail)');
    expect(stdout).not.toContain('canary');
  });

  test('writes times as asked', async () => {
    const { id } = await pay();
    expect((await run(['tasks', 'get', id])).stdout).toMatch(/created +\d+s ago\n/);
    expect((await run(['tasks', 'get', id, '--time', 'iso'])).stdout).toMatch(
      /created +\d{4}-\d\d-.*Z\n/,
    );
    expect((await run(['tasks', 'get', id, '--time', 'unix'])).stdout).toMatch(/created +\d{10}\n/);
    expect((await run(['tasks', 'get', id, '--time', 'moon'])).code).toBe(2);
  });
});

describe('tasks result', () => {
  test('prints the result on stdout and the two columns on stderr', async () => {
    const task = await recordTask(door.store);
    await endTask(door.store, task.id);
    const { code, stdout, stderr } = await run(['tasks', 'result', task.id]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ content: [{ type: 'text', text: SECRET_RESULT }] });
    expect(stderr).toContain('protocol: completed   outcome: not applicable');
    const document = await json<ResultDocument>(['tasks', 'result', task.id]);
    expect(document).toMatchObject({ schemaVersion: 1, ending: 'result', error: null });
  });

  test.each([
    ['answered', 0],
    ['tool_error', 8],
    ['error', 8],
    ['lost', 8],
  ] as const)('of a call with an effect that ended %s exits %i', async (callEnd, exit) => {
    const task = await pay(callEnd);
    expect((await run(['tasks', 'result', task.id])).code).toBe(exit);
  });

  test.each([
    [{ kind: 'result', result: { content: [] } }, 0],
    [{ kind: 'result', result: { content: [], isError: true } }, 5],
    [{ kind: 'error', error: { code: -32000, message: 'no' } }, 1],
    [{ kind: 'cancelled' }, 1],
  ] as const)('of a read that came to %j exits %i', async (outcome, exit) => {
    const task = await recordTask(door.store);
    await endTask(door.store, task.id, { outcome });
    expect((await run(['tasks', 'result', task.id, '--json'])).code).toBe(exit);
  });

  test('of a task that still runs exits 7 and names the watch', async () => {
    const task = await recordTask(door.store);
    const { code, stderr } = await run(['tasks', 'result', task.id]);
    expect(code).toBe(7);
    expect(stderr).toContain('longcall tasks watch');
  });
});

describe('tasks cancel', () => {
  test('without a terminal needs --yes, says so, and does nothing', async () => {
    const task = await recordTask(door.store);
    const { code, stderr } = await run(['tasks', 'cancel', task.id]);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'LONGCALL_USAGE', hint: 'add --yes' },
    });
    expect((await door.store.tasks.get('system', task.id))?.phase).toBe('working');
  });

  test('asks on a terminal, and only a yes is a yes', async () => {
    for (const [typed, phase] of [
      ['n\n', 'working'],
      ['\n', 'working'],
      ['', 'working'],
      ['yes please\n', 'working'],
      ['y\n', 'ended'],
    ] as const) {
      const task = await recordTask(door.store, { tool: 'pay', effect: 'consequential' });
      const { code, stderr } = await run(['tasks', 'cancel', task.id], { tty: true, typed });
      expect(stderr).toContain('It is no rollback');
      expect(stderr).toContain('nothing sent yet');
      expect(stderr).toContain('[y/N]');
      expect((await door.store.tasks.get('system', task.id))?.phase, typed).toBe(phase);
      expect(code, typed).toBe(phase === 'ended' ? 0 : 1);
    }
  });

  test('with --yes cancels, shows what the operation says, and keeps the reason', async () => {
    const task = await recordTask(door.store, { tool: 'pay', effect: 'consequential' });
    const { code, stdout, stderr } = await run([
      'tasks',
      'cancel',
      task.id,
      '--yes',
      '--reason',
      'stuck',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/protocol +cancelled\n/);
    expect(stdout).toMatch(/outcome +nothing happened\n/);
    expect(stderr).toContain('It is no rollback');
    const events = await door.store.events.list({ taskId: task.id, limit: 100 });
    expect(events.find(({ type }) => type === 'admin.cancel_requested')?.reason).toBe('stuck');
  });

  test('of an ended task says that there was nothing to stop', async () => {
    const task = await pay();
    const { code, stdout, stderr } = await run(['tasks', 'cancel', task.id, '--yes', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ schemaVersion: 1, kind: 'already_ended' });
    expect(stderr).toBe('');
  });
});

describe('ops', () => {
  test('list shows the state, the outcome, and the column of the task', async () => {
    const task = await pay('lost');
    const { stdout } = await run(['ops', 'list', '--state', 'unknown']);
    const line = stdout.split('\n').find((one) => one.startsWith(task.operationId ?? '-')) ?? '';
    expect(line).toMatch(/pay +failed +not known: reconcile first +unknown +\d+s/);
    expect((await run(['ops', 'list', '--state', 'lost'])).code).toBe(2);
  });

  test('show says whether it may be sent again', async () => {
    const task = await pay('lost');
    const prefix = task.operationId?.slice(0, 12) ?? '';
    const { code, stdout } = await run(['ops', 'show', prefix]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/send again +no: reconcile first\n/);
    expect(stdout).toMatch(/state +unknown \(lost\)\n/);
    expect(stdout).toContain(task.id);
    const document = await json<{ id: string }>(['ops', 'show', prefix]);
    expect(document).toMatchObject({ schemaVersion: 1, id: task.operationId, state: 'unknown' });
  });

  test('show of one that is not there exits 1', async () => {
    const { code, stderr } = await run(['ops', 'show', 'op_aaaaaaaaaaaaaaaaaaaaaaaaaaa']);
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'LONGCALL_OPERATION_UNKNOWN' } });
  });
});

describe('finding the gateway', () => {
  test('a data directory without one exits 11 and says how to start it', async () => {
    const { code, stderr } = await longcall(['tasks', 'list', '--data', `${data}-none`]);
    expect(code).toBe(11);
    const { error } = JSON.parse(stderr) as { error: { code: string; hint: string } };
    expect(error.code).toBe('LONGCALL_ADMIN_UNREACHABLE');
    expect(error.hint).toContain('longcall gateway');
  });

  test('a gateway that is gone exits 11 and names the process that wrote the file', async () => {
    const gone = await openDoor();
    const left = writeDataDirectory(gone.url);
    await gone.close();
    const { code, stderr } = await longcall(['tasks', 'list', '--data', left]);
    expect(code).toBe(11);
    expect(stderr).toContain(`process ${process.pid}`);
  });

  test('another token exits 4 and says which file it came from', async () => {
    const other = writeDataDirectory(door.url, `lct_${'x'.repeat(43)}`);
    const { code, stderr } = await longcall(['tasks', 'list', '--data', other]);
    expect(code).toBe(4);
    const { error } = JSON.parse(stderr) as { error: { code: string; hint: string } };
    expect(error.code).toBe('LONGCALL_ADMIN_DENIED');
    expect(error.hint).toContain(join(other, 'admin-token'));
  });

  test('another token of the environment exits 4 and names the variable', async () => {
    const args = ['tasks', 'list', '--server', door.url];
    const { code, stderr } = await longcall(args, { env: { LONGCALL_ADMIN_TOKEN: 'wrong' } });
    expect(code).toBe(4);
    const { error } = JSON.parse(stderr) as { error: { code: string; hint: string } };
    expect(error.code).toBe('LONGCALL_ADMIN_DENIED');
    expect(error.hint).toContain('LONGCALL_ADMIN_TOKEN: correct it, or unset it');
  });

  test('--server with the token of the environment needs no data directory', async () => {
    const args = ['tasks', 'list', '--json', '--server', door.url];
    const { code } = await longcall(args, { env: { LONGCALL_ADMIN_TOKEN: ADMIN_TOKEN } });
    expect(code).toBe(0);
  });

  test('the local token is never sent to another machine', async () => {
    const { code, stderr } = await run([
      'tasks',
      'list',
      '--server',
      'http://gateway.example:8788',
    ]);
    expect(code).toBe(4);
    expect(stderr).toContain('LONGCALL_ADMIN_TOKEN');
    expect(stderr).not.toContain(ADMIN_TOKEN);
  });

  test.each(['ftp://127.0.0.1', '127.0.0.1:8788', 'nonsense'])(
    '--server %s exits 2',
    async (server) => {
      expect((await run(['tasks', 'list', '--server', server])).code).toBe(2);
    },
  );

  test('what answers but is no admin endpoint exits 11', async () => {
    const { createServer } = await import('node:http');
    const other = createServer((_, response) => response.end('<html>hello</html>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', () => resolve()));
    const { port } = other.address() as { port: number };
    const { code, stderr } = await run(['tasks', 'list', '--server', `http://127.0.0.1:${port}`]);
    expect(code).toBe(11);
    expect(stderr).toContain('is no longcall admin endpoint');
    other.close();
  });
});
