import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until, untilTrue } from '../crash/until.ts';
import { engineOf, killEngine, statusOf } from './engine-of.ts';
import { at, createDesk, openWindow, type Desk, type HostWindow, type Message } from './window.ts';

const PATIENCE_MS = 90_000;

let desk: Desk;
let open: HostWindow[] = [];
beforeEach(() => {
  desk = createDesk();
});
afterEach(async () => {
  for (const { child } of open) child.kill('SIGKILL');
  open = [];
  await desk.remove();
});

async function openIn(cwd: string, options: Partial<Parameters<typeof openWindow>[0]> = {}) {
  const window = openWindow({ cwd, ...options });
  open.push(window);
  await window.initialize();
  return window;
}

const call = (name: string, args: object, more: object = {}) => ({
  name,
  arguments: args,
  ...more,
});
const taskIdIn = (answer: Message): string => String(at(answer, 'result', 'task', 'taskId'));
const statusIn = (answer: Message): unknown => at(answer, 'result', 'status');
const textIn = (answer: Message): Message =>
  JSON.parse(String(at(answer, 'result', 'content', 0, 'text'))) as Message;

async function toolsOf(window: HostWindow): Promise<readonly unknown[]> {
  const tools = at(await window.ask('tools/list'), 'result', 'tools') as readonly Message[];
  return tools.map(({ name }) => name);
}

async function ended(window: HostWindow, taskId: string): Promise<unknown> {
  return until(async () => {
    const status = statusIn(await window.ask('tasks/get', { taskId }));
    return status === 'working' ? undefined : status;
  }, 'the task to end');
}

describe('a host that closes its window in the middle of a call', () => {
  test(
    'the next window collects it by its id, and finds it in the list [L5]',
    async () => {
      const cwd = desk.project('one');
      const first = await openIn(cwd);
      const begun = call('slow', { ms: 1_500, as: 'a' }, { task: {} });
      const taskId = taskIdIn(await first.ask('tools/call', begun));
      await untilTrue(() => desk.effects().includes('began a'), 'the work to begin');
      expect(await first.close()).toBe(0);
      const second = await openIn(cwd);
      expect(await ended(second, taskId)).toBe('completed');
      expect(textIn(await second.ask('tasks/result', { taskId }))).toEqual({ slept: 'a' });
      const tasks = at(await second.ask('tasks/list'), 'result', 'tasks') as readonly Message[];
      expect(tasks.map(({ taskId: id }) => id)).toEqual([taskId]);
      expect(desk.effects()).toEqual(['began a', 'ended a']);
    },
    PATIENCE_MS,
  );

  test(
    'the next window that repeats the call under its key gets the one that runs [L5]',
    async () => {
      const cwd = desk.project('one');
      const key = { _meta: { 'dev.longcall/idempotencyKey': 'k1' } };
      const begun = call('slow', { ms: 1_500, as: 'a' }, { task: {}, ...key });
      const first = await openIn(cwd);
      const taskId = taskIdIn(await first.ask('tools/call', begun));
      await untilTrue(() => desk.effects().includes('began a'), 'the work to begin');
      first.child.kill('SIGKILL');
      await first.exit;
      const second = await openIn(cwd);
      expect(taskIdIn(await second.ask('tools/call', begun))).toBe(taskId);
      expect(await ended(second, taskId)).toBe('completed');
      expect(desk.effects()).toEqual(['began a', 'ended a']);
    },
    PATIENCE_MS,
  );
});

describe('one call of several', () => {
  test(
    'cancelling one leaves the server, and the other call, as they are [C5]',
    async () => {
      const window = await openIn(desk.project('one'));
      const stuck = taskIdIn(
        await window.ask('tools/call', call('never', { as: 'stuck' }, { task: {} })),
      );
      await untilTrue(() => desk.effects().includes('began stuck'), 'the work to begin');
      const cancelled = await window.ask('tasks/cancel', { taskId: stuck });
      expect(statusIn(cancelled)).toBe('cancelled');
      const next = taskIdIn(
        await window.ask('tools/call', call('slow', { as: 'next' }, { task: {} })),
      );
      expect(await ended(window, next)).toBe('completed');
      expect(window.child.exitCode).toBeNull();
    },
    PATIENCE_MS,
  );

  test(
    'one that is given up ends alone: the connection and what else is under way go on [T6]',
    async () => {
      const window = await openIn(desk.project('one'));
      const given = window.begin('tools/call', call('slow', { ms: 20_000, as: 'given up' }));
      const other = window.begin('tools/call', call('slow', { ms: 800, as: 'other' }));
      given.answer.catch(() => undefined);
      await untilTrue(() => desk.effects().includes('began given up'), 'the work to begin');
      window.tell('notifications/cancelled', { requestId: given.id, reason: 'timeout' });
      expect(textIn(await other.answer)).toEqual({ slept: 'other' });
      expect(await toolsOf(window)).toContain('slow');
      expect(window.received.some(({ id }) => id === given.id)).toBe(false);
    },
    PATIENCE_MS,
  );
});

describe('an engine that dies', () => {
  test(
    'calls under way get an answer that says what is known, and the server ends [L2]',
    async () => {
      const cwd = desk.project('one');
      const window = await openIn(cwd);
      const acting = window.begin('tools/call', call('never', { as: 'effect' }));
      const reading = window.begin('resources/list');
      await reading.answer;
      await untilTrue(() => desk.effects().includes('began effect'), 'the work to begin');
      await killEngine(desk.data);
      expect((await acting.answer)['error']).toMatchObject({
        code: -32_603,
        message: expect.stringContaining('do not repeat it blindly'),
        data: { reason: 'engine_lost', mayHaveHappened: true },
      });
      expect(await window.exit).toBe(11);
      expect(window.stderr()).toContain('LONGCALL_ENGINE_LOST');
      const second = await openIn(cwd);
      expect(await toolsOf(second)).toContain('slow');
    },
    PATIENCE_MS,
  );

  test(
    'an open window that was owed nothing goes on with the next one, which takes up what only reads [L2]',
    async () => {
      const window = await openIn(desk.project('one'));
      const begun = call('slow', { ms: 2_000, as: 'a' }, { task: {} });
      const taskId = taskIdIn(await window.ask('tools/call', begun));
      await untilTrue(() => desk.effects().includes('began a'), 'the work to begin');
      const dead = (await engineOf(desk.data)).pid;
      await killEngine(desk.data);
      expect(await ended(window, taskId)).toBe('completed');
      expect((await engineOf(desk.data)).pid).not.toBe(dead);
      expect(desk.effects().filter((line) => line === 'began a')).toHaveLength(2);
      // What was said to open the session again is not the host's to see.
      expect(window.received.filter(({ id }) => id === 1)).toHaveLength(1);
      expect(await window.close()).toBe(0);
    },
    PATIENCE_MS,
  );
});

test(
  'windows that nobody closes in order leave nothing behind in the engine [E5]',
  async () => {
    const cwd = desk.project('one');
    const keeper = await openIn(cwd);
    for (let round = 0; round < 3; round += 1) {
      const windows = await Promise.all([openIn(cwd), openIn(cwd), openIn(cwd)]);
      expect(await statusOf(desk.data)).toMatchObject({ windows: 4 });
      for (const { child } of windows) child.kill('SIGKILL');
      await untilTrue(
        async () => (await statusOf(desk.data))['windows'] === 1,
        'windows to be gone',
      );
    }
    expect(await statusOf(desk.data)).toMatchObject({ projects: [{ windows: 1 }] });
    expect(keeper.child.exitCode).toBeNull();
  },
  PATIENCE_MS,
);
