import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TaskDocument } from '../../src/admin/documents.ts';
import { createDeferred } from '../../src/kernel/deferred.ts';
import type { Deferred } from '../../src/kernel/deferred.ts';
import type { Outcome } from '../../src/protocol/model.ts';
import type { Job, RunEnd } from '../../src/runtime/job.ts';
import { TOOL, openDoor } from '../admin/door.ts';
import type { Door } from '../admin/door.ts';
import { ANNA, endTask, goodResult, recordTask } from '../admin/records.ts';
import { main } from '../../src/cli/main.ts';
import { longcall, openTerminal, writeDataDirectory } from './terminal.ts';
import type { TerminalOptions } from './terminal.ts';

/** A run that does what the test tells it. */
let run: Deferred<Job>;
let end: Deferred<RunEnd>;
let door: Door;
let data = '';
beforeAll(async () => {
  door = await openDoor({
    run: (job) => {
      run.resolve(job);
      return end.promise;
    },
  });
  data = writeDataDirectory(door.url);
});
afterAll(() => door.close());

async function startCall() {
  run = createDeferred();
  end = createDeferred();
  const call = {
    principal: ANNA,
    tool: TOOL,
    arguments: {},
    meta: {},
    origin: '2026-07-28',
  } as const;
  const started = await door.runtime.receiver.start({ ...call, asks: [] });
  if (started.kind !== 'started') throw new Error(started.kind);
  return { id: started.task.id, job: await run.promise };
}

const finish = () =>
  end.resolve({
    outcome: { kind: 'result', result: goodResult() },
    end: 'answered',
    reason: 'done',
  });

/** A watch under way, to be spoken to while it runs. */
function watch(id: string, args: readonly string[] = [], options: TerminalOptions = {}) {
  const terminal = openTerminal(options);
  const code = main(['tasks', 'watch', id, '--data', data, ...args], terminal.io);
  return { ...terminal, code };
}

const phaseOf = async (id: string) => (await door.store.tasks.get('system', id))?.phase;

describe('a watch that sees the end', () => {
  test('tells each state on stderr, and both columns of the last on stdout', async () => {
    const { id, job } = await startCall();
    const { written, code } = watch(id);
    await expect.poll(() => written.stderr).toContain('working');
    job.progress({ progress: 40, total: 100, message: 'querying' });
    await expect.poll(() => written.stderr).toContain('working 40%   not applicable   querying\n');
    expect(written.stdout).toBe('');
    finish();
    expect(await code).toBe(0);
    expect(written.stdout).toMatch(/^task +tsk_.*\nprotocol +completed\n/);
  });

  const endings: readonly (readonly [Outcome, number])[] = [
    [{ kind: 'result', result: { content: [] } }, 0],
    [{ kind: 'result', result: { content: [], isError: true } }, 5],
    [{ kind: 'error', error: { code: -32603, message: 'failed' } }, 1],
    [{ kind: 'cancelled' }, 1],
  ];
  test.each(endings)('of a read that came to %j exits %i', async (outcome, exit) => {
    const task = await recordTask(door.store);
    await door.store.tasks.settle({
      taskId: task.id,
      outcome,
      callEnd: 'answered',
      reason: 'test',
    });
    expect((await longcall(['tasks', 'watch', task.id, '--data', data])).code).toBe(exit);
  });

  const effects: readonly (readonly ['answered' | 'lost' | 'cancelled', Outcome, number])[] = [
    ['answered', { kind: 'result', result: { content: [] } }, 0],
    ['lost', { kind: 'error', error: { code: -32603, message: 'unknown' } }, 8],
    ['lost', { kind: 'result', result: { content: [] } }, 8],
    ['cancelled', { kind: 'cancelled' }, 8],
  ];
  test.each(effects)(
    'of an effect that was sent and ended %s, with %j, exits %i',
    async (callEnd, outcome, exit) => {
      const quiet = await openDoor();
      const task = await recordTask(quiet.store, { tool: 'pay', effect: 'consequential' });
      await endTask(quiet.store, task.id, { outcome, callEnd });
      const ran = await longcall([
        'tasks',
        'watch',
        task.id,
        '--data',
        writeDataDirectory(quiet.url),
      ]);
      expect(ran.code).toBe(exit);
      await quiet.close();
    },
  );

  test('answers one document with --json', async () => {
    const { id } = await startCall();
    const { written, code } = watch(id, ['--json']);
    finish();
    expect(await code).toBe(0);
    expect(JSON.parse(written.stdout)).toMatchObject({
      schemaVersion: 1,
      id,
      protocol: { ending: 'result' },
    });
    expect(written.stderr).toBe('');
  });

  test('answers each state as one line with --jsonl', async () => {
    const { id } = await startCall();
    const { written, code } = watch(id, ['--jsonl']);
    await expect.poll(() => written.stdout).toContain('working');
    finish();
    expect(await code).toBe(0);
    const lines = written.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; task?: TaskDocument });
    for (const line of lines) expect(line).toMatchObject({ schemaVersion: 1 });
    expect(lines.at(-1)).toMatchObject({ event: 'end', end: { reason: 'ended' } });
    expect(lines.at(-2)?.task?.protocol.phase).toBe('ended');
  });

  test('rewrites one line on a terminal, cut to its width', async () => {
    const { id, job } = await startCall();
    const { written, code } = watch(id, [], { tty: true, columns: 70, env: { NO_COLOR: '1' } });
    await expect.poll(() => written.stderr).toContain('working');
    job.progress({ progress: 1, message: 'x'.repeat(150) });
    await expect.poll(() => written.stderr).toContain('Ctrl-C detaches   x');
    finish();
    expect(await code).toBe(0);
    expect(written.stderr).not.toContain('\n');
    const drawn = written.stderr.split('\r\u001b[2K');
    for (const line of drawn) expect(line.length).toBeLessThan(70);
    expect(drawn[1]).toMatch(/^00:00:0\d +. working/);
  });
});

describe('leaving a watch', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s exits %i, names the way back, and stops nothing', async (signal, exit) => {
    const { id, job } = await startCall();
    const watching = watch(id);
    await expect.poll(() => watching.written.stderr).toContain('working');
    expect(watching.signal(signal)).toBe(1);
    expect(watching.signal(signal)).toBe(0);
    expect(await watching.code).toBe(exit);
    expect(watching.written.stderr).toContain('the task keeps running');
    expect(watching.written.stderr).toContain(`longcall tasks watch ${id} --data ${data}\n`);
    expect(watching.written.stdout).toBe('');
    expect(job.signal.aborted).toBe(false);
    expect(await phaseOf(id)).toBe('working');
    finish();
  });

  test('after --timeout exits 7, and the task keeps running', async () => {
    const { id } = await startCall();
    const { code, written } = watch(id, ['--timeout', '300ms']);
    expect(await code).toBe(7);
    expect(written.stderr).toContain('the time to watch is up');
    expect(await phaseOf(id)).toBe('working');
    finish();
  });

  test.each(['0s', 'soon', '-1s'])('a timeout of %s exits 2', async (timeout) => {
    const ran = await longcall([
      'tasks',
      'watch',
      'tsk_12345678',
      `--timeout=${timeout}`,
      '--data',
      data,
    ]);
    expect(ran.code).toBe(2);
  });
});

describe('a gateway that goes away', () => {
  test('is waited for, wherever it comes back, and the watch goes on', async () => {
    const first = await openDoor();
    const task = await recordTask(first.store);
    const home = writeDataDirectory(first.url);
    const terminal = openTerminal();
    const code = main(['tasks', 'watch', task.id, '--data', home], terminal.io);
    await expect.poll(() => terminal.written.stderr).toContain('working');
    const { directory } = first;
    await first.close({ keep: true });
    await expect.poll(() => terminal.written.stderr).toContain('the gateway is away');

    const second = await openDoor({ directory });
    writeFileSync(join(home, 'endpoint.json'), JSON.stringify({ adminUrl: second.url, pid: 1 }));
    const again = () => terminal.written.stderr.split('the gateway is away')[1];
    await expect.poll(again, { timeout: 5_000 }).toContain('working');
    await second.runtime.receiver.cancelAsOperator(task.id);
    expect(await code).toBe(1);
    await second.close();
  });

  test('is an error where there was none to begin with', async () => {
    const { code, stderr } = await longcall([
      'tasks',
      'watch',
      'tsk_12345678',
      '--data',
      `${data}-none`,
    ]);
    expect(code).toBe(11);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'LONGCALL_ADMIN_UNREACHABLE' } });
  });
});
