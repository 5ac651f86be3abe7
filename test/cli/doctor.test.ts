import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { clockFinding, nodeFinding } from '../../src/cli/doctor/machine.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { createSqliteStore } from '../../src/stores/sqlite/store.ts';
import { openDoor } from '../admin/door.ts';
import { longcall, writeDataDirectory } from './terminal.ts';
import type { TerminalOptions } from './terminal.ts';

/** A process that holds the data directory and serves nothing. */
const HOLDER = `
  const { lockDataDirectory } = await import(${JSON.stringify(
    new URL('../../dist/stores/sqlite/data-lock.js', import.meta.url).href,
  )});
  await lockDataDirectory(process.argv[1]);
  setInterval(() => undefined, 1000);
  process.stdout.write('held');`;

let cwd = '';
let data = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'longcall-doctor-'));
  data = join(cwd, 'data');
  write({ mcp: '127.0.0.1:0', admin: '127.0.0.1:0' });
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function write(listen: Readonly<Record<string, string>>): void {
  const yaml = { data, listen, upstreams: { reports: { command: ['node', 'server.js'] } } };
  writeFileSync(join(cwd, 'longcall.yaml'), JSON.stringify(yaml));
}

const run = (args: readonly string[] = [], options: TerminalOptions = {}) =>
  longcall(['doctor', ...args], { cwd, ...options, env: { HOME: cwd, ...options.env } });

async function examine(args: readonly string[] = [], options: TerminalOptions = {}) {
  const { code, stdout } = await run([...args, '--json'], options);
  const document = JSON.parse(stdout) as { ok: boolean; findings: readonly Finding[] };
  expect(document).toMatchObject({ schemaVersion: 1, ok: code === 0 });
  const of = (check: string) => document.findings.find((finding) => finding.check === check);
  return { code, of, findings: document.findings };
}

describe('without a gateway', () => {
  test('a machine where none ever ran is fine, and what was not looked at is not called a pass', async () => {
    const { code, of } = await examine();
    expect(code).toBe(0);
    expect(of('node')).toMatchObject({ status: 'ok', detail: process.versions.node });
    expect(of('config')).toMatchObject({ status: 'ok', detail: join(cwd, 'longcall.yaml') });
    expect(of('data.directory')?.detail).toContain('not there yet');
    expect(of('key.admin-token')?.status).toBe('skipped');
    expect(of('store')).toMatchObject({ status: 'skipped', detail: 'there is none yet' });
    expect(of('data.lock')).toMatchObject({ status: 'ok', detail: 'free' });
    expect(of('gateway')?.status).toBe('skipped');
    expect(of('upstreams')?.status).toBe('skipped');
    expect(of('listen.mcp')?.status).toBe('ok');
    expect(of('clock')?.status).toBe('ok');
  });

  test('a store that is there is looked at and not changed', async () => {
    mkdirSync(data, { mode: 0o700 });
    const path = join(data, 'longcall.db');
    const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
    await store.close();
    expect((await examine()).of('store')).toMatchObject({ status: 'ok' });
    writeFileSync(path, 'no database'.repeat(1_000));
    const damaged = await examine();
    expect(damaged.of('store')).toMatchObject({ status: 'fail' });
    expect(damaged.code).toBe(1);
  });

  test('a lock that a silent process holds is a warning that names it', async () => {
    const flags = ['--no-warnings', '--input-type=module', '--eval', HOLDER, data];
    const holder = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    const { of } = await examine();
    expect(of('data.lock')).toMatchObject({ status: 'warn' });
    expect(of('data.lock')?.detail).toContain(`process ${holder.pid}`);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect((await examine()).of('data.lock')).toMatchObject({ status: 'ok', detail: 'free' });
  });

  test('a configuration with errors fails, and the rest is looked at all the same', async () => {
    writeFileSync(join(cwd, 'longcall.yaml'), 'datta: x\n');
    const { code, of } = await examine();
    expect(code).toBe(1);
    expect(of('config')?.detail).toContain('longcall.yaml:1:1: ');
    expect(of('clock')?.status).toBe('ok');
  });

  test('a key that others can read fails, a directory that they can look into is a warning', async () => {
    mkdirSync(data);
    chmodSync(data, 0o755);
    writeFileSync(join(data, 'signing-key'), 'x'.repeat(32), { mode: 0o640 });
    chmodSync(join(data, 'signing-key'), 0o640);
    const { code, of } = await examine();
    expect(code).toBe(1);
    expect(of('key.signing-key')).toMatchObject({ status: 'fail' });
    expect(of('key.signing-key')?.detail).toContain('mode 0640');
    expect(of('data.directory')).toMatchObject({ status: 'warn', hint: `chmod 700 ${data}` });
  });

  test('a data directory that is a file fails', async () => {
    writeFileSync(data, '');
    expect((await examine()).of('data.directory')).toMatchObject({ status: 'fail' });
  });

  test('an address that is taken fails', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', () => resolve()));
    const { port } = other.address() as AddressInfo;
    write({ mcp: `127.0.0.1:${port}`, admin: '127.0.0.1:0' });
    const { code, of } = await examine();
    expect(code).toBe(1);
    expect(of('listen.mcp')).toMatchObject({ status: 'fail' });
    expect(of('listen.mcp')?.detail).toContain('another process listens there');
    other.close();
  });

  test('an endpoint file whose gateway is gone is a warning that names its process', async () => {
    const gone = await openDoor();
    const left = writeDataDirectory(gone.url);
    await gone.close();
    const { code, of } = await examine(['--data', left]);
    expect(of('gateway')).toMatchObject({ status: 'warn' });
    expect(of('gateway')?.detail).toContain(`process ${process.pid}`);
    expect(code).toBe(0);
  });
});

describe('beside a running gateway', () => {
  test('its store, upstreams and listener are told by itself', async () => {
    const door = await openDoor({
      upstreams: () => [
        {
          name: 'reports',
          state: 'up',
          transport: 'stdio',
          serverName: 'reports-mcp',
          serverVersion: '1.2',
        },
        { name: 'billing', state: 'connecting', transport: 'http' },
        { name: 'cms', state: 'down', transport: 'http', problem: 'connection refused' },
      ],
    });
    const { code, of } = await examine(['--data', writeDataDirectory(door.url)]);
    expect(code).toBe(1);
    expect(of('gateway')).toMatchObject({ status: 'ok' });
    expect(of('gateway')?.detail).toContain(`process ${process.pid}`);
    expect(of('store')).toMatchObject({ status: 'ok' });
    expect(of('upstream.reports')).toMatchObject({
      status: 'ok',
      detail: 'reports-mcp 1.2 over stdio',
    });
    expect(of('upstream.billing')).toMatchObject({ status: 'warn' });
    expect(of('upstream.cms')).toMatchObject({ status: 'fail' });
    expect(of('upstream.cms')?.detail).toContain('connection refused');
    expect(of('listen.mcp')).toMatchObject({ status: 'fail' }); // nothing listens on the port that it names
    expect(of('key.admin-token')).toMatchObject({ status: 'ok' });
    await door.close();
  });

  test('a token that is refused fails', async () => {
    const door = await openDoor();
    const { code, of } = await examine([
      '--data',
      writeDataDirectory(door.url, `lct_${'x'.repeat(43)}`),
    ]);
    expect(code).toBe(1);
    expect(of('gateway')).toMatchObject({ status: 'fail', detail: 'the admin token was refused' });
    await door.close();
  });
});

describe('for people', () => {
  test('each check is a line with its word, and what to do is under it', async () => {
    writeFileSync(data, '');
    const { code, stdout, stderr } = await run();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^\+?✓ ok +node +\d+\.\d+\.\d+\n/);
    expect(stdout).toMatch(
      /✗ fail +data\.directory +.* is no directory\n +name another one with --data\n/,
    );
    expect(stderr).toMatch(/^1 error, 0 warnings, \d+ not looked at\n$/);
    const ascii = await run(['--ascii']);
    expect(ascii.stdout).toMatch(/^[\x20-\x7e\n]+$/);
  });
});

describe('the machine', () => {
  test.each([
    ['20.20.2', 'fail'],
    ['22.12.9', 'fail'],
    ['22.13.0', 'ok'],
    ['22.14.0', 'ok'],
    ['24.0.0', 'ok'],
  ])('Node.js %s is %s', (version, status) => {
    expect(nodeFinding(version).status).toBe(status);
  });

  test('a clock in the past, beside the gateway, or behind its own files is told', () => {
    const now = systemClock.now();
    const facts = { now, gatewayNow: undefined, data: undefined };
    expect(clockFinding(facts).status).toBe('ok');
    expect(clockFinding({ ...facts, now: 0 }).status).toBe('fail');
    expect(clockFinding({ ...facts, gatewayNow: now - 3_600_000 })).toMatchObject({
      status: 'warn',
      detail: "1h away from the gateway's clock",
    });
    mkdirSync(data);
    writeFileSync(join(data, 'longcall.db'), '');
    const tomorrow = (now + 86_400_000) / 1000;
    utimesSync(join(data, 'longcall.db'), tomorrow, tomorrow);
    expect(clockFinding({ ...facts, data }).status).toBe('warn');
  });
});
