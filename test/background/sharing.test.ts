import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inspectData } from '../../src/compose/inspect-data.ts';
import { startLongcall, type LongcallProcess } from '../cli/gateway-process.ts';
import { until, untilTrue } from '../crash/until.ts';
import { endEngine, engineOf, killEngine, seeker, statusOf } from './engine-of.ts';
import { askIfThere } from '../../src/background/reach-engine.ts';
import { at, createDesk, openWindow, type Desk, type HostWindow, type Message } from './window.ts';

const PATIENCE_MS = 180_000;

let desk: Desk;
let open: HostWindow[] = [];
let others: LongcallProcess[] = [];
beforeEach(() => {
  desk = createDesk();
});
afterEach(async () => {
  for (const { child } of [...open, ...others]) child.kill('SIGKILL');
  await Promise.all(others.map(({ exit }) => exit));
  [open, others] = [[], []];
  await desk.remove();
});

function openIn(cwd: string, options: Partial<Parameters<typeof openWindow>[0]> = {}): HostWindow {
  const window = openWindow({ cwd, ...options });
  open.push(window);
  return window;
}

async function openReady(cwd: string, options?: Parameters<typeof openIn>[1]): Promise<HostWindow> {
  const window = openIn(cwd, options);
  await window.initialize();
  return window;
}

function longcall(args: readonly string[], cwd: string): LongcallProcess {
  const running = startLongcall(args, { cwd });
  others.push(running);
  return running;
}

const call = (name: string, args: object = {}, more: object = {}) => ({
  name,
  arguments: args,
  ...more,
});
const textIn = (answer: Message): Message =>
  JSON.parse(String(at(answer, 'result', 'content', 0, 'text'))) as Message;
const where = async (window: HostWindow): Promise<Message> =>
  textIn(await window.ask('tools/call', call('where')));
const listed = async (window: HostWindow): Promise<readonly unknown[]> =>
  (at(await window.ask('tasks/list'), 'result', 'tasks') as readonly Message[]).map(
    ({ taskId }) => taskId,
  );
const startTask = async (window: HostWindow, args: object): Promise<string> =>
  String(
    at(
      await window.ask('tools/call', call('slow', args, { task: {} })),
      'result',
      'task',
      'taskId',
    ),
  );
const statusOfTask = async (window: HostWindow, taskId: string): Promise<unknown> =>
  at(await window.ask('tasks/get', { taskId }), 'result', 'status');

test(
  'twenty windows that open at once end with one engine, and each with its server',
  async () => {
    const cwd = desk.project('one');
    const windows = Array.from({ length: 20 }, () => openIn(cwd));
    const answers = await Promise.all(windows.map((window) => window.initialize()));
    for (const answer of answers) expect(at(answer, 'result', 'serverInfo', 'name')).toBe('raw');
    const { pid } = await engineOf(desk.data);
    for (const window of windows) expect(window.stderr()).toContain(`process ${pid}\n`);
    expect(await statusOf(desk.data)).toMatchObject({ windows: 20, projects: [{ windows: 20 }] });
  },
  PATIENCE_MS,
);

describe('windows of two projects on one data directory', () => {
  test(
    'have servers of their own, are shown their own tasks, and find any of their user by its id',
    async () => {
      const [a, b] = [desk.project('a'), desk.project('b')];
      const [inA, inB] = await Promise.all([openReady(a), openReady(b)]);
      const [ofA, ofB] = [await where(inA), await where(inB)];
      expect([ofA['cwd'], ofB['cwd']]).toEqual([a, b]);
      expect(ofA['pid']).not.toBe(ofB['pid']);
      const task = await startTask(inA, { as: 'a', ms: 10 });
      expect(await listed(inA)).toContain(task);
      expect(await listed(inB)).not.toContain(task);
      await until(async () => {
        const status = await statusOfTask(inB, task);
        return status === 'completed' ? true : undefined;
      }, 'the task of the other window, by its id');
      const heard = ({ received }: HostWindow): readonly unknown[] =>
        received.filter(({ method }) => method === 'notifications/tasks/status');
      expect(heard(inB)).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    'one project with two environments has a server for each; with the same one it shares',
    async () => {
      const cwd = desk.project('a');
      const [one, two, again] = await Promise.all([
        openReady(cwd, { env: { PATH: `${process.env['PATH']}:/one` } }),
        openReady(cwd, { env: { PATH: `${process.env['PATH']}:/two` } }),
        openReady(cwd, { env: { PATH: `${process.env['PATH']}:/one`, SECRET: 'stays here' } }),
      ]);
      const [ofOne, ofTwo, ofAgain] = [await where(one), await where(two), await where(again)];
      expect(ofOne['pid']).not.toBe(ofTwo['pid']);
      expect(ofAgain['pid']).toBe(ofOne['pid']);
      expect(ofOne['names']).not.toContain('SECRET');
    },
    PATIENCE_MS,
  );

  test(
    'what a dead engine left waits for a window of its own project, whoever starts the next engine',
    async () => {
      const [a, b] = [desk.project('a'), desk.project('b')];
      const inA = await openReady(a);
      const task = await startTask(inA, { as: 'a', ms: 5_000 });
      await untilTrue(() => desk.effects().includes('began a'), 'the work to begin');
      inA.child.kill('SIGKILL');
      await inA.exit;
      await killEngine(desk.data);
      const beginnings = (): number => desk.effects().filter((line) => line === 'began a').length;
      const inB = await openReady(b);
      await where(inB);
      expect(await statusOf(desk.data)).toMatchObject({ openTasks: 1, waitingTasks: 1 });
      expect(await statusOfTask(inB, task)).toBe('working');
      expect(beginnings()).toBe(1);
      const back = await openReady(a);
      await until(
        async () => ((await statusOfTask(back, task)) === 'completed' ? true : undefined),
        'the task to be taken up',
      );
      expect(beginnings()).toBe(2);
    },
    PATIENCE_MS,
  );
});

describe('a data directory that somebody else holds', () => {
  test(
    'a gateway over HTTP takes in windows; they are its clients like all others',
    async () => {
      const cwd = desk.project('a');
      const gateway = longcall(['gateway'], cwd);
      await gateway.until(/^listening http/m);
      const window = await openReady(cwd);
      expect(window.stderr()).toContain(`gateway over HTTP, process ${gateway.child.pid}`);
      const task = await startTask(window, { as: 'a', ms: 10 });
      expect(await listed(window)).toContain(task);
      const stopped = longcall(['engine', 'stop', '--yes'], cwd);
      expect(await stopped.exit).toBe(9);
      expect(stopped.written.stderr).toContain('a gateway that somebody runs');
      gateway.child.kill('SIGKILL');
      await gateway.exit;
      // The window was owed nothing: it goes on with an engine of its own.
      expect(await listed(window)).toContain(task);
      expect(await statusOf(desk.data)).toMatchObject({ role: 'engine' });
    },
    PATIENCE_MS,
  );

  test(
    'a gateway over HTTP is not started beside an engine, and is told how to end it',
    async () => {
      const cwd = desk.project('a');
      await openReady(cwd);
      const gateway = longcall(['gateway'], cwd);
      expect(await gateway.exit).toBe(2);
      expect(JSON.parse(gateway.written.stderr)).toMatchObject({
        error: {
          code: 'LONGCALL_DATA_LOCKED',
          message: expect.stringContaining('a background engine'),
          hint: expect.stringContaining('longcall engine stop'),
        },
      });
    },
    PATIENCE_MS,
  );

  test(
    'a window that does its own work takes in no other, which is told at once',
    async () => {
      const cwd = desk.project('a');
      await openReady(cwd, { args: ['--no-engine'] });
      const second = openIn(cwd);
      expect(await second.exit).toBe(2);
      expect(second.stderr()).toContain('LONGCALL_DATA_LOCKED');
      expect(second.stderr()).toContain('takes in no other window');
      expect(second.received).toEqual([]);
    },
    PATIENCE_MS,
  );
});

test(
  'engines that are killed again and again under work leave a sound store, and every task an end',
  async () => {
    const cwd = desk.project('a');
    const tasks: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const window = await openReady(cwd);
      const begun = Array.from({ length: 5 }, (_, n) =>
        startTask(window, { as: `${round}.${n}`, ms: 200 }),
      );
      tasks.push(...(await Promise.all(begun)));
      await killEngine(desk.data);
      window.child.kill('SIGKILL');
      await window.exit;
    }
    const last = await openReady(cwd);
    for (const task of tasks)
      await until(
        async () => ((await statusOfTask(last, task)) === 'working' ? undefined : true),
        'every task to end',
      );
    await last.close();
    await endEngine(desk.data);
    expect(inspectData(desk.data).store).toMatchObject({ ok: true });
  },
  PATIENCE_MS,
);

describe('an engine of another version', () => {
  const serveAs = (version: string) =>
    askIfThere(seeker(desk.data, version), { purpose: 'serve', body: {} });

  test(
    'makes room for a newer one when it has nothing to do, and says how to end it otherwise',
    async () => {
      const window = await openReady(desk.project('a'));
      expect(await serveAs('99.0.0')).toMatchObject({
        kind: 'no',
        again: false,
        error: { code: 'LONGCALL_ENGINE_VERSION', hint: expect.stringContaining('engine restart') },
      });
      await window.close();
      await untilTrue(async () => (await statusOf(desk.data))['windows'] === 0, 'no window');
      expect(await serveAs('0.0.1')).toMatchObject({ kind: 'no', again: false });
      expect(await serveAs('99.0.0')).toMatchObject({ kind: 'no', again: true });
      await untilTrue(() => !inspectData(desk.data).lock.held, 'the engine to make room');
    },
    PATIENCE_MS,
  );
});

describe('an engine that nobody needs', () => {
  test(
    'ends after its idle time, not before its work has ended',
    async () => {
      const cwd = desk.project('a', 'engine: { idleExit: 1s }\n');
      const window = await openReady(cwd);
      await startTask(window, { as: 'long', ms: 4_000 });
      await untilTrue(() => desk.effects().includes('began long'), 'the work to begin');
      await window.close();
      await untilTrue(() => !inspectData(desk.data).lock.held, 'the engine to end', 60_000);
      expect(desk.effects()).toEqual(['began long', 'ended long']);
    },
    PATIENCE_MS,
  );

  test(
    'ends when its data directory is taken away',
    async () => {
      const cwd = desk.project('a', 'engine: { idleExit: 1s }\n');
      await openReady(cwd);
      const { pid } = await engineOf(desk.data);
      rmSync(desk.data, { recursive: true });
      const isGone = (): boolean => {
        try {
          process.kill(pid, 0);
          return false;
        } catch {
          return true;
        }
      };
      await untilTrue(isGone, 'the engine to end', 60_000);
    },
    PATIENCE_MS,
  );
});
