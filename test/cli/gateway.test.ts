import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { digestOf } from '../../src/identity/static-token.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  configFor,
  createPlace,
  FIXTURE,
  startLongcall,
  type LongcallProcess,
  type Place,
} from './gateway-process.ts';
import { openSession } from './mcp-session.ts';

const TASKS = 'mode: task-optional, effect: read';
const WAIT = { timeout: 20_000 };

let place: Place;
const started: LongcallProcess[] = [];
beforeEach(() => {
  place = createPlace();
});
afterEach(async () => {
  for (const { child, exit } of started.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exit;
  }
  place.remove();
});

function start(args: readonly string[] = [], env: Record<string, string> = {}): LongcallProcess {
  const running = startLongcall(['gateway', ...args], { cwd: place.folder, env });
  started.push(running);
  return running;
}

/** A gateway that listens, in front of the fixture. */
async function open(
  rest = '',
  args: readonly string[] = [],
): Promise<LongcallProcess & { readonly url: string }> {
  place.write('longcall.yaml', configFor(FIXTURE, TASKS, rest));
  const running = start(args);
  return { ...running, url: await running.until(/^listening (http\S+)$/m) };
}

const secret = (file: string): string => readFileSync(join(place.data, file), 'utf8').trim();
const envelope = (text: string): unknown => JSON.parse(text.trim().split('\n').at(-1) ?? '');

async function refusal(running: LongcallProcess) {
  const code = await running.exit;
  return {
    code,
    error: (envelope(running.written.stderr) as { readonly error: Record<string, unknown> }).error,
  };
}

describe('a start', () => {
  test('serves, says where and what, and leaves what the other commands need', async () => {
    const { url, written } = await open();
    expect(written.stdout).toMatch(
      /^slow_compute +task-optional +read +mode: policy for \*; effect: policy for \*$/m,
    );
    expect(written.stdout).toContain(`Bearer ${secret('local-token')}`);
    expect(written.stdout.endsWith(`listening ${url}\n`)).toBe(true);
    const session = await openSession(url, secret('local-token'));
    expect((await session.call('tools/list')).result).toHaveProperty('tools');
    expect(statSync(join(place.data, 'endpoint.json')).mode & 0o777).toBe(0o600);
    const list = startLongcall(['tasks', 'list', '--json'], { cwd: place.folder });
    expect(await list.exit).toBe(0);
    expect(JSON.parse(list.written.stdout)).toMatchObject({ items: [] });
  });

  test('with --json is one document on stdout', async () => {
    place.write('longcall.yaml', configFor(FIXTURE, TASKS));
    const running = start(['--json']);
    const url = await running.until(/^listening (http\S+)$/m);
    const document = JSON.parse(running.written.stdout) as Record<string, unknown>;
    expect(document).toMatchObject({
      schemaVersion: 1,
      url,
      data: place.data,
      configFile: join(place.folder, 'longcall.yaml'),
      upstreams: [{ name: 'fixture', state: 'up', transport: 'stdio' }],
    });
  });

  test('an upstream that cannot be started does not stop it', async () => {
    const nowhere = { command: join(place.folder, 'not-there'), args: [] };
    place.write('longcall.yaml', configFor(nowhere, TASKS));
    const running = start();
    const url = await running.until(/^listening (http\S+)$/m);
    expect(running.written.stdout).toMatch(/^upstream fixture .*(?:down|connecting)/m);
    expect((await openSession(url)).status).toBe(200);
  });
});

describe('a start that must not be', () => {
  test('a second process on the same data leaves with one line, and the first goes on', async () => {
    const first = await open();
    const second = start();
    expect(await refusal(second)).toMatchObject({
      code: 2,
      error: {
        code: 'LONGCALL_DATA_LOCKED',
        pid: first.child.pid,
        message: `the data directory ${place.data} is in use by process ${first.child.pid}`,
      },
    });
    expect(second.written.stderr.trim().split('\n')).toHaveLength(1);
    expect(second.written.stdout).toBe('');
    expect((await openSession(first.url)).status).toBe(200);
  });

  test('a configuration with errors is told all of them, with their lines', async () => {
    place.write(
      'longcall.yaml',
      'lisen: 1\nupstreams: { a: { command: [x], tools: { "*": { mode: passthrough } } } }\nstore: postgres://x\n',
    );
    const { code, error } = await refusal(start());
    expect(code).toBe(2);
    expect(error).toMatchObject({
      code: 'LONGCALL_CONFIG_INVALID',
      message: 'the configuration has 3 errors',
    });
    const lines = (error['problems'] as readonly { readonly where: string }[]).map(
      ({ where }) => where,
    );
    expect(lines).toEqual(['longcall.yaml:1:1', 'longcall.yaml:2:55', 'longcall.yaml:3:8']);
    expect(existsSync(place.data)).toBe(false);
  });

  test.each([
    ['--listen', 'listen.mcp'],
    ['--admin', 'listen.admin'],
  ])('a port in use for %s is said, and nothing stays behind', async (flag, key) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    place.write('longcall.yaml', configFor(FIXTURE, TASKS));
    const refused = await refusal(start([flag, `127.0.0.1:${port}`]));
    expect(refused).toMatchObject({
      code: 2,
      error: {
        code: 'LONGCALL_LISTEN_FAILED',
        message: `cannot listen on 127.0.0.1:${port} (${key}): another process listens there`,
      },
    });
    taken.close();
    const next = start();
    await next.until(/^listening/m);
  });

  test('beyond loopback without identity', async () => {
    place.write('longcall.yaml', configFor(FIXTURE, TASKS));
    expect(await refusal(start(['--listen', '0.0.0.0:0']))).toMatchObject({
      code: 2,
      error: { code: 'LONGCALL_LISTEN_UNSAFE' },
    });
    const accepted = start(['--listen', '0.0.0.0:0', '--i-accept-anonymous-network']);
    await accepted.until(/^listening/m);
    expect(accepted.written.stdout).toContain('anybody who reaches it can start tools');
  });

  test('keys that others can read', async () => {
    const first = await open();
    first.child.kill('SIGTERM');
    await first.exit;
    chmodSync(join(place.data, 'signing-key'), 0o644);
    expect(await refusal(start())).toMatchObject({
      code: 2,
      error: { code: 'LONGCALL_KEY_FILE_UNSAFE' },
    });
  });

  test('a data directory that is none', async () => {
    place.write('longcall.yaml', configFor(FIXTURE, TASKS));
    place.write('data', 'a file');
    expect(await refusal(start())).toMatchObject({
      code: 2,
      error: { code: 'LONGCALL_DATA_UNUSABLE' },
    });
  });

  test('a named configuration that is not there', async () => {
    expect(await refusal(start(['--config', 'absent.yaml']))).toMatchObject({
      code: 2,
      error: { code: 'LONGCALL_CONFIG_NOT_FOUND' },
    });
  });
});

describe('an end', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s is orderly: exit 0, nothing left that says it runs',
    async (signal) => {
      const running = await open();
      const idle = await openSession(running.url);
      expect(idle.status).toBe(200);
      running.child.kill(signal);
      expect(await running.exit).toBe(0);
      expect(
        ['endpoint.json', 'longcall.pid'].filter((file) => existsSync(join(place.data, file))),
      ).toEqual([]);
      expect(JSON.parse(secret('children.json'))).toEqual([]);
    },
  );

  test('lets running calls end and answers them', async () => {
    const running = await open();
    const session = await openSession(running.url, secret('local-token'));
    const answer = session.call('tools/call', { name: 'slow_compute', arguments: { seconds: 2 } });
    await expect.poll(() => running.written.stderr, WAIT).toContain('task.created');
    running.child.kill('SIGTERM');
    expect(await answer).toMatchObject({ status: 200, result: { content: [{ type: 'text' }] } });
    expect(await running.exit).toBe(0);
  });

  test('a second signal ends it at once', async () => {
    const running = await open();
    const session = await openSession(running.url, secret('local-token'));
    await session.call('tools/call', {
      name: 'slow_compute',
      arguments: { seconds: 60 },
      task: {},
    });
    running.child.kill('SIGTERM');
    await running.until(/^stopping:/m);
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe('SIGTERM');
  });
});

describe('after a death', () => {
  test('the next start takes over at once and ends the upstream that was left behind', async () => {
    const stubborn = {
      command: process.execPath,
      args: ['--input-type=module', '-e', stubbornServer()],
    };
    place.write('longcall.yaml', configFor(stubborn, TASKS));
    const first = start();
    await first.until(/^listening/m);
    const [orphan] = JSON.parse(secret('children.json')) as readonly { readonly pid: number }[];
    first.child.kill('SIGKILL');
    await first.exit;
    expect(isAlive(orphan?.pid ?? 0)).toBe(true);
    const second = start();
    await second.until(/^listening/m);
    expect(isAlive(orphan?.pid ?? 0)).toBe(false);
    expect(second.written.stderr).toContain('"upstream.orphans_ended","orphans":1');
  });

  /** Serves the fixture and outlives its input and every SIGTERM. */
  function stubbornServer(): string {
    const fixture = FIXTURE.args.find((word) => word.endsWith('.ts')) ?? '';
    return `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); await import(${JSON.stringify(fixture)});`;
  }

  function isAlive(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2] !== 'Z';
    } catch {
      return false;
    }
  }
});

describe('who asks', () => {
  const tokens = ['alice north', 'bob south']
    .map((who) => who.split(' '))
    .map(
      ([name = '', tenant]) =>
        `- { name: ${name}, sha256: "${digestOf(`token-of-${name}`).toString('hex')}", subject: ${name}, tenant: ${tenant} }\n`,
    )
    .join('');

  async function openWithTokens() {
    place.write('tokens.yaml', tokens);
    return open('identity: { tokens: tokens.yaml }\n');
  }

  verifies(
    ['G1-107', 'G2-133'],
    'with a tokens file a caller without a token, or with a wrong one, gets 401',
    async () => {
      const { url } = await openWithTokens();
      for (const token of [undefined, 'wrong', 'token-of-alic'])
        expect((await openSession(url, token)).status).toBe(401);
      for (const token of ['token-of-alice', 'token-of-bob', secret('local-token')])
        expect((await openSession(url, token)).status).toBe(200);
    },
  );

  verifies(
    ['G1-99', 'G1-100'],
    'two principals in two tenants: a foreign task is an unknown one',
    async () => {
      const { url } = await openWithTokens();
      const [alice, bob] = await Promise.all([
        openSession(url, 'token-of-alice'),
        openSession(url, 'token-of-bob'),
      ]);
      const taskId = await alice.startTask('slow_compute', { seconds: 30 });
      const unknown = `${taskId.slice(0, -1)}${taskId.endsWith('A') ? 'B' : 'A'}`;
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        const [foreign, absent] = [
          await bob.call(method, { taskId }),
          await bob.call(method, { taskId: unknown }),
        ];
        expect(foreign.error?.code).toBe(-32602);
        expect(JSON.stringify(foreign.error).replaceAll(taskId, '')).toBe(
          JSON.stringify(absent.error).replaceAll(unknown, ''),
        );
      }
      expect((await alice.call('tasks/get', { taskId })).result).toMatchObject({
        status: 'working',
      });
      expect((await bob.call('tasks/list')).result).toMatchObject({ tasks: [] });
    },
  );

  test('a token that is taken out of the file ends within a second', async () => {
    const { url } = await openWithTokens();
    place.write('tokens.yaml', tokens.split('\n').slice(1).join('\n'));
    await expect
      .poll(async () => (await openSession(url, 'token-of-alice')).status, WAIT)
      .toBe(401);
    expect((await openSession(url, 'token-of-bob')).status).toBe(200);
  });
});

describe('over stdio without a background engine', () => {
  function openStdio(
    args: readonly string[] = [],
  ): LongcallProcess & { ask(message: object): void } {
    place.write('longcall.yaml', configFor(FIXTURE, TASKS).replace(/^listen:.*\n/m, ''));
    const running = start(['--stdio', '--no-engine', ...args]);
    return {
      ...running,
      ask: (message) =>
        void running.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    };
  }
  const INITIALIZE = {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    },
  };

  test('stdout carries the protocol and nothing else; what people read goes to stderr, the log to a file', async () => {
    const { ask, until, written, child, exit } = openStdio();
    await until(/^listening stdio$/m);
    ask(INITIALIZE);
    await until(/"serverInfo"/);
    ask({ method: 'notifications/initialized' });
    ask({
      id: 2,
      method: 'tools/call',
      params: { name: 'slow_compute', arguments: { seconds: 1 } },
    });
    await until(/"id":2/);
    child.stdin.end();
    expect(await exit).toBe(0);
    for (const line of written.stdout.trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
    expect(written.stderr).toMatch(/^mcp +stdio$/m);
    expect(written.stderr).not.toContain('Bearer');
    expect(secret('longcall.log')).toContain('"event":"task.settled"');
  });

  test('its caller is the local user: what it started is seen over HTTP with the local token', async () => {
    const stdio = openStdio();
    await stdio.until(/^listening stdio$/m);
    stdio.ask(INITIALIZE);
    await stdio.until(/"serverInfo"/);
    stdio.ask({ method: 'notifications/initialized' });
    stdio.ask({
      id: 2,
      method: 'tools/call',
      params: { name: 'slow_compute', arguments: { seconds: 0 }, task: {} },
    });
    const taskId = await stdio.until(/"taskId":"(tsk_[^"]+)"/);
    stdio.child.stdin.end();
    expect(await stdio.exit).toBe(0);
    const { url } = await open();
    const session = await openSession(url, secret('local-token'));
    expect((await session.call('tasks/get', { taskId })).result).toMatchObject({ taskId });
    expect((await (await openSession(url)).call('tasks/get', { taskId })).error?.code).toBe(-32602);
  });

  test('a signal ends it although its client keeps the streams open', async () => {
    const { until, child, exit } = openStdio();
    await until(/^listening stdio$/m);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
  });

  test('two of them do not fight for the admin port', async () => {
    const first = openStdio(['--data', 'one']);
    await first.until(/^listening stdio$/m);
    const second = openStdio(['--data', 'two']);
    await second.until(/^listening stdio$/m);
  });
});
