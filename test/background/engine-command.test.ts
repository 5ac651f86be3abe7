import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startLongcall } from '../cli/gateway-process.ts';
import { untilTrue } from '../crash/until.ts';
import { engineOf, statusOf } from './engine-of.ts';
import { at, createDesk, openWindow, type Desk, type HostWindow } from './window.ts';

const PATIENCE_MS = 180_000;

let desk: Desk;
let cwd: string;
let open: HostWindow[] = [];
beforeEach(() => {
  desk = createDesk();
  cwd = desk.project('one');
});
afterEach(async () => {
  for (const { child } of open) child.kill('SIGKILL');
  open = [];
  await desk.remove();
});

async function openReady(options: Partial<Parameters<typeof openWindow>[0]> = {}) {
  const window = openWindow({ cwd, ...options });
  open.push(window);
  await window.initialize();
  return window;
}

async function run(...args: readonly string[]) {
  const { exit, written } = startLongcall(args, { cwd });
  const code = await exit;
  return { code, ...written };
}

describe('longcall engine', () => {
  test(
    'says what runs, restarts it under an open window, and ends it',
    async () => {
      const none = await run('engine', 'status', '--json');
      expect(JSON.parse(none.stdout)).toMatchObject({ running: false, data: desk.data });
      expect(none.code).toBe(0);
      expect(await run('engine', 'stop')).toMatchObject({
        code: 0,
        stdout: 'no engine runs here\n',
      });

      const window = await openReady();
      const { pid } = await engineOf(desk.data);
      const status = await run('engine', 'status', '--json');
      expect(JSON.parse(status.stdout)).toMatchObject({
        schemaVersion: 1,
        running: true,
        role: 'engine',
        pid,
        windows: 1,
        openTasks: 0,
        idleExitMs: 600_000,
        projects: [{ folder: cwd, windows: 1, upstreams: ['telling'] }],
      });
      const words = await run('engine', 'status');
      expect(words.stdout).toMatch(new RegExp(`^engine +background engine, process ${pid}, `, 'm'));
      const doctor = await run('doctor', '--json');
      expect(JSON.parse(doctor.stdout)).toMatchObject({
        findings: expect.arrayContaining([
          {
            check: 'engine',
            status: 'ok',
            detail: expect.stringContaining(`process ${pid}`),
          },
        ]),
      });

      const unconfirmed = await run('engine', 'restart');
      expect(unconfirmed.code).toBe(2);
      expect(unconfirmed.stderr).toContain('--yes');
      const restarted = await run('engine', 'restart', '--yes', '--json');
      expect(restarted).toMatchObject({ code: 0, stderr: '' });
      const { pid: next } = JSON.parse(restarted.stdout) as { pid: number };
      expect(next).not.toBe(pid);
      const tools = at(await window.ask('tools/list'), 'result', 'tools');
      expect(tools).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'where' })]));
      expect(await statusOf(desk.data)).toMatchObject({ windows: 1 });
      // However soon it is restarted again.
      expect(await run('engine', 'restart', '--yes')).toMatchObject({ code: 0, stderr: '' });
      expect(at(await window.ask('tools/list'), 'result', 'tools')).toEqual(tools);

      const stopped = await run('engine', 'stop', '--yes', '--json');
      expect(stopped).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(stopped.stdout)).toEqual({ schemaVersion: 1, stopped: true });
      // What a person has stopped is not started again by a window that is still open.
      expect(await window.exit).toBe(11);
      expect(JSON.parse((await run('engine', 'status', '--json')).stdout)).toMatchObject({
        running: false,
      });
    },
    PATIENCE_MS,
  );

  test(
    'gives running calls their time, and tells a window whose call did not end in it',
    async () => {
      const window = await openReady();
      const quick = window.begin('tools/call', {
        name: 'slow',
        arguments: { ms: 1_500, as: 'quick' },
      });
      const stuck = window.begin('tools/call', { name: 'never', arguments: { as: 'stuck' } });
      await untilTrue(
        () => ['began quick', 'began stuck'].every((line) => desk.effects().includes(line)),
        'both to begin',
      );
      const stopping = run('engine', 'stop', '--yes', '--grace', '4s');
      expect(at(await quick.answer, 'result')).toBeDefined();
      // Whatever kind of answer it is: nobody is left waiting.
      expect(Object.keys(await stuck.answer)).toContain('id');
      expect((await stopping).code).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    'a folder that a host has not put in the place of its name is said to be none',
    async () => {
      const window = openWindow({ cwd, args: ['--project', '${workspaceFolder}'] });
      open.push(window);
      expect(await window.exit).toBe(2);
      expect(window.stderr()).toContain('leave --project out');
      const other = desk.project('other');
      const away = await openReady({ args: ['--project', other] });
      const answer = await away.ask('tools/call', { name: 'where', arguments: {} });
      expect(String(at(answer, 'result', 'content', 0, 'text'))).toContain(JSON.stringify(other));
    },
    PATIENCE_MS,
  );

  test(
    'a configuration that does not hold is said by the window, not by a silent process',
    async () => {
      const broken = desk.project('broken', 'identity: { tokens: ./no-such-file }\n');
      const window = openWindow({ cwd: broken });
      open.push(window);
      expect(await window.exit).toBe(2);
      expect(window.stderr()).toMatch(/LONGCALL_\w+/);
      expect(window.stderr()).toContain('no-such-file');
    },
    PATIENCE_MS,
  );
});
