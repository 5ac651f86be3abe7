import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openDoor } from '../admin/door.ts';
import type { Door } from '../admin/door.ts';
import { recordTask } from '../admin/records.ts';
import { startCommand } from './command.ts';
import { writeDataDirectory } from './terminal.ts';

const WAIT = { timeout: 15_000 };

const doors: Door[] = [];
afterEach(async () => {
  for (const door of doors.splice(0)) await door.close();
});

async function open(options: Parameters<typeof openDoor>[0] = {}): Promise<Door> {
  const door = await openDoor(options);
  doors.push(door);
  return door;
}

describe('Ctrl-C', () => {
  test('detaches: exit 130, the way back is printed, and the task is left alone', async () => {
    const door = await open();
    const data = writeDataDirectory(door.url);
    const task = await recordTask(door.store);
    const { child, written, exit } = startCommand(['tasks', 'watch', task.id, '--data', data]);
    await expect.poll(() => written.stderr, WAIT).toContain('working');
    child.kill('SIGINT');
    expect(await exit).toBe(130);
    expect(written.stderr).toContain(`longcall tasks watch ${task.id} --data ${data}\n`);
    const left = await door.store.tasks.get('system', task.id);
    expect(left?.phase).toBe('working');
    expect(left?.cancelRequestedAt).toBeUndefined();
    const events = await door.store.events.list({ taskId: task.id, limit: 100 });
    expect(events.map(({ type }) => type)).toEqual(['task.created']);
  });
});

describe('a gateway that restarts', () => {
  test('is waited for by a process that has nothing else to keep it alive', async () => {
    const first = await open();
    const data = writeDataDirectory(first.url);
    const task = await recordTask(first.store);
    const { child, written, exit } = startCommand(['tasks', 'watch', task.id, '--data', data]);
    await expect.poll(() => written.stderr, WAIT).toContain('working');
    doors.splice(doors.indexOf(first), 1);
    await first.close({ keep: true });
    await expect.poll(() => written.stderr, WAIT).toContain('the gateway is away');
    expect(child.exitCode).toBeNull();

    const second = await open({ directory: first.directory });
    writeFileSync(join(data, 'endpoint.json'), JSON.stringify({ adminUrl: second.url, pid: 1 }));
    await expect
      .poll(() => written.stderr.split('the gateway is away')[1], WAIT)
      .toContain('working');
    await second.runtime.receiver.cancelAsOperator(task.id);
    expect(await exit).toBe(1);
    expect(written.stdout).toMatch(/^task +tsk_/);
  });
});

describe('what a shell gets', () => {
  test.each([
    [{}, false],
    [{ FORCE_COLOR: '1' }, true],
    [{ CLICOLOR_FORCE: '1', NO_COLOR: '1' }, false],
  ] as const)('colour with %j: %s', async (env, coloured) => {
    const door = await open();
    await recordTask(door.store);
    const { written, exit } = startCommand(
      ['tasks', 'list', '--data', writeDataDirectory(door.url)],
      env,
    );
    expect(await exit).toBe(0);
    expect(written.stdout.includes('\u001b[')).toBe(coloured);
    expect(written.stderr).toBe('');
  });

  test('an error is one line of JSON on stderr, and stdout stays empty', async () => {
    const { written, exit } = startCommand(['tasks', 'list', '--data', '/nowhere/at/all']);
    expect(await exit).toBe(11);
    expect(written.stdout).toBe('');
    expect(written.stderr.match(/\n/g)).toHaveLength(1);
    expect(JSON.parse(written.stderr)).toMatchObject({
      error: {
        code: 'LONGCALL_ADMIN_UNREACHABLE',
        docs: 'docs/reference/errors/LONGCALL_ADMIN_UNREACHABLE.md',
      },
    });
  });

  test('a confirmation is never asked for without a terminal: exit 2', async () => {
    const door = await open();
    const task = await recordTask(door.store);
    const { written, exit } = startCommand([
      'tasks',
      'cancel',
      task.id,
      '--data',
      writeDataDirectory(door.url),
    ]);
    expect(await exit).toBe(2);
    expect(JSON.parse(written.stderr)).toMatchObject({ error: { hint: 'add --yes' } });
    expect((await door.store.tasks.get('system', task.id))?.phase).toBe('working');
  });
});
