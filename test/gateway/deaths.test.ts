import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fingerprintOf } from '../../src/gateway/peer-document.ts';
import { endOrphans } from '../../src/gateway/process-notes.ts';
import { launchHttp, typescriptCommand, upstreamCommand } from '../fixtures/upstreams/launch.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  ALICE,
  BOB,
  createLog,
  createManifests,
  effectsLog,
  eventsOf,
  failureOf,
  forward,
  httpFixture,
  startGateway,
  stdioEndpoint,
  tempFolder,
  textOf,
  until,
} from './gateway-kit.ts';
import { run, type TestRun } from './test-job.ts';

const TOUCHY = new URL('./servers/touchy.ts', import.meta.url).pathname;
const STUBBORN = new URL('./servers/stubborn.ts', import.meta.url).pathname;
const MORTAL_GATEWAY = new URL('./servers/mortal-gateway.ts', import.meta.url).pathname;

const READS = { '*': { effect: 'read' } } as const;

async function pidOf(connection: TestRun): Promise<number> {
  const { outcome } = await connection.end;
  const said = JSON.parse(textOf(outcome.kind === 'result' ? outcome.result : {})) as {
    pid: number;
  };
  return said.pid;
}

describe('an upstream that is killed in the middle of a call', () => {
  test('leaves the outcome of anything but a read unknown, and the call is sent once', async () => {
    const effects = effectsLog();
    const gateway = await startGateway({
      upstreams: [{ endpoint: stdioEndpoint('effects', effects) }],
    });
    const call = run(gateway, { tool: 'slow', arguments: { tag: 'k', ms: 60_000 } });
    await until(() => expect(effects.lines('k').at(-1)?.event).toBe('tick'));
    process.kill(effects.lines('k')[0]?.pid ?? 0, 'SIGKILL');
    const { outcome, end } = await call.end;
    expect(end).toBe('lost');
    expect(outcome).toMatchObject({
      kind: 'error',
      error: { code: -32_603, data: { reason: 'outcome_unknown', operationId: 'op_test' } },
    });
    expect(effects.lines('k').filter(({ event }) => event === 'start')).toHaveLength(1);
    expect(call.dispatchedCount()).toBe(1);
  });

  test('is asked again for a read', async () => {
    const effects = effectsLog();
    const endpoint = stdioEndpoint('effects', effects);
    const gateway = await startGateway({ upstreams: [{ endpoint, tools: READS }] });
    const call = run(gateway, { tool: 'slow', arguments: { tag: 'k', ms: 1_500 } });
    await until(() => expect(effects.lines('k').at(-1)?.event).toBe('tick'));
    process.kill(effects.lines('k')[0]?.pid ?? 0, 'SIGKILL');
    expect(await call.end).toMatchObject({ end: 'answered' });
    expect(effects.lines('k').filter(({ event }) => event === 'start')).toHaveLength(2);
  });

  test('is asked at most three times for a read that kills it, runs before this one included', async () => {
    const effects = effectsLog();
    const endpoint = stdioEndpoint('effects', effects);
    const gateway = await startGateway({ upstreams: [{ endpoint, tools: READS }] });
    const first = await run(gateway, { tool: 'crash', arguments: { tag: 'first' } }).end;
    expect(first).toMatchObject({
      end: 'lost',
      outcome: { error: { data: { reason: 'upstream_lost' } } },
    });
    expect(effects.lines('first')).toHaveLength(3);
    await run(gateway, { tool: 'crash', arguments: { tag: 'third' }, attempt: 3 }).end;
    expect(effects.lines('third')).toHaveLength(1);
  });

  test('over HTTP, settles the call at once', async () => {
    const effects = effectsLog();
    const upstream = await httpFixture('effects', effects);
    const gateway = await startGateway({
      upstreams: [{ endpoint: { kind: 'http', url: upstream.url } }],
    });
    const call = run(gateway, { tool: 'slow', arguments: { tag: 'h', ms: 60_000 } });
    await until(() => expect(effects.lines('h').at(-1)?.event).toBe('tick'));
    upstream.process.kill('SIGKILL');
    expect(await call.end).toMatchObject({
      end: 'lost',
      outcome: { error: { data: { reason: 'outcome_unknown' } } },
    });
    await until(() => expect(gateway.manifests()[0]?.state).not.toBe('up'));
  });
});

describe('an upstream that dies', () => {
  test('is reported, healed, and serves again; its lists are said to have changed', async () => {
    const { logger, names } = createLog();
    const gateway = await startGateway({
      logger,
      upstreams: [{ endpoint: stdioEndpoint('effects') }],
    });
    const events = eventsOf(gateway);
    const states: string[] = [];
    gateway.onManifest(({ state }) => void states.push(state));
    const pid = await pidOf(run(gateway, { tool: 'connection' }));
    process.kill(pid, 'SIGKILL');
    await until(() => expect(states).toContain('down'));
    await until(() => expect(states.at(-1)).toBe('up'));
    expect(names()).toContain('upstream.lost');
    expect(events).toEqual(expect.arrayContaining([{ kind: 'list_changed', list: 'resources' }]));
    expect(await pidOf(run(gateway, { tool: 'connection' }))).not.toBe(pid);
  });

  test('and cannot come back is unreachable: nothing counts as sent', async () => {
    const upstream = await httpFixture('effects');
    const gateway = await startGateway({
      upstreams: [{ endpoint: { kind: 'http', url: upstream.url } }],
    });
    await upstream.stop();
    await until(() => expect(gateway.manifests()[0]?.state).not.toBe('up'));
    const call = run(gateway, { tool: 'append', attempt: 3 });
    const { outcome, end } = await call.end;
    expect(end).toBe('error');
    expect(outcome).toMatchObject({ error: { data: { reason: 'upstream_unreachable' } } });
    expect(call.dispatchedCount()).toBe(0);
    const failure = await failureOf(
      forward(gateway, ['resources/read', { uri: 'effects://counter' }]),
    );
    expect(failure.data).toMatchObject({ reason: 'upstream_unreachable' });
  });

  test('with its sessions, but comes back at the same address, is met with a new session', async () => {
    const first = await httpFixture('effects');
    const gateway = await startGateway({
      upstreams: [{ endpoint: { kind: 'http', url: first.url } }],
    });
    await run(gateway, { tool: 'append' }).end;
    await first.stop();
    const { port } = new URL(first.url);
    const { command, args } = upstreamCommand('effects', '--http', port);
    const second = await launchHttp({ command, args });
    try {
      await until(() => expect(gateway.manifests()[0]?.state).toBe('up'));
      expect(await run(gateway, { tool: 'append' }).end).toMatchObject({ end: 'answered' });
    } finally {
      await second.stop();
    }
  });
});

describe('an upstream that was never there', () => {
  test('does not stop the start, nor the others', async () => {
    const missing = { kind: 'stdio', command: 'longcall-no-such-command', args: [] } as const;
    const gateway = await startGateway({
      upstreams: [
        { name: 'missing', endpoint: missing },
        { name: 'there', endpoint: stdioEndpoint('effects') },
      ],
    });
    const [first, second] = gateway.manifests();
    expect(first).toMatchObject({ state: 'down', tools: [] });
    expect(first?.problem).toMatch(/cannot run "longcall-no-such-command"/);
    expect(second?.state).toBe('up');
    expect(gateway.surface.tool('append')?.upstream).toBe('there');
  });

  test('a server that leaves when it is asked anything before initialize is served all the same', async () => {
    const gateway = await startGateway({
      upstreams: [{ endpoint: { kind: 'stdio', ...typescriptCommand(TOUCHY) } }],
    });
    expect(gateway.manifests()[0]).toMatchObject({
      state: 'up',
      protocolVersion: '2025-06-18',
      generation: 'older',
    });
    expect(await run(gateway, { tool: 'hello' }).end).toMatchObject({ end: 'answered' });
  });
});

describe('after a restart', () => {
  test('discovery answers from the last manifest at once, and what differs is told', async () => {
    const manifests = createManifests();
    const upstream = await httpFixture('effects');
    const spec = {
      manifests,
      upstreams: [{ endpoint: { kind: 'http', url: upstream.url } as const }],
    };
    const before = await startGateway(spec);
    const names = before.surface.tools().map(({ name }) => name);
    await before.stop(1_000);
    await upstream.stop();

    const after = await startGateway(spec);
    expect(after.surface.tools().map(({ name }) => name)).toEqual(names);
    expect(after.surface.info().serverInfo).toMatchObject({ name: 'effects-fixture' });
    const { port } = new URL(upstream.url);
    const events = eventsOf(after);
    const back = await launchHttp(upstreamCommand('effects', '--http', port));
    try {
      await until(() => expect(after.manifests()[0]?.state).toBe('up'));
      expect(events).not.toContainEqual({ kind: 'list_changed', list: 'tools' });
      await run(after, { tool: 'touch_tools' }).end;
      await until(() => expect(events).toContainEqual({ kind: 'list_changed', list: 'tools' }));
      expect(after.surface.tool('newcomer')).toBeDefined();
    } finally {
      await back.stop();
    }
  });

  verifies(
    'G2-182',
    'the handshake that worked is remembered, and asked for anew where it no longer does',
    async () => {
      const manifests = createManifests();
      const endpoint = stdioEndpoint('conformance');
      const first = await startGateway({ manifests, upstreams: [{ endpoint }] });
      await first.stop(1_000);
      const stored = await manifests.get('up');
      expect(stored?.document['verdict']).toMatchObject({ kind: 'modern' });
      const second = await startGateway({ manifests, upstreams: [{ endpoint }] });
      expect(await run(second, { tool: 'greet', arguments: { name: 'x' } }).end).toMatchObject({
        end: 'answered',
      });
      expect(second.manifests()[0]).toMatchObject({ generation: '2026-07-28', state: 'up' });
      await second.stop(1_000);

      // The same command now runs a server that has never heard of `server/discover`.
      const older = { kind: 'stdio', ...typescriptCommand(STUBBORN) } as const;
      const document = { ...stored?.document, endpoint: fingerprintOf(older) };
      await manifests.put({ upstream: 'up', takenAt: 0, document });
      const third = await startGateway({ manifests, upstreams: [{ endpoint: older }] });
      await until(() =>
        expect(third.manifests()[0]).toMatchObject({ generation: '2025-11-25', state: 'up' }),
      );
      await third.stop(200);
    },
  );

  test('a manifest of another command is not believed', async () => {
    const manifests = createManifests();
    const first = await startGateway({
      manifests,
      upstreams: [{ endpoint: stdioEndpoint('effects') }],
    });
    await first.stop(1_000);
    const second = await startGateway({
      manifests,
      upstreams: [{ endpoint: stdioEndpoint('fastmcp') }],
    });
    expect(second.surface.tool('append')).toBeUndefined();
    expect(second.surface.tool('quick')).toBeDefined();
  });
});

describe('child processes', () => {
  const isAlive = (pid: number): boolean => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
    } catch {
      return false;
    }
  };

  test('end when the gateway stops, also those that do not want to', async () => {
    const pidsFile = join(tempFolder(), 'pids.json');
    const stubborn = { kind: 'stdio', ...typescriptCommand(STUBBORN) } as const;
    const gateway = await startGateway({ pidsFile, upstreams: [{ endpoint: stubborn }] });
    const pid = await pidOf(run(gateway, { tool: 'pid' }));
    expect(JSON.parse(readFileSync(pidsFile, 'utf8'))).toMatchObject([{ pid }]);
    await gateway.stop(400);
    await until(() => expect(isAlive(pid)).toBe(false));
    expect(JSON.parse(readFileSync(pidsFile, 'utf8'))).toEqual([]);
  });

  test('of a gateway that was killed are ended by the next one', async () => {
    const pidsFile = join(tempFolder(), 'pids.json');
    const host = await launchHttp(typescriptCommand(MORTAL_GATEWAY, pidsFile, STUBBORN));
    const notes = JSON.parse(readFileSync(pidsFile, 'utf8')) as readonly { pid: number }[];
    const pid = notes[0]?.pid ?? 0;
    host.process.kill('SIGKILL');
    await until(() => expect(isAlive(host.process.pid ?? 0)).toBe(false));
    expect(isAlive(pid)).toBe(true);
    expect(await endOrphans(pidsFile)).toBe(1);
    expect(isAlive(pid)).toBe(false);
    expect(await endOrphans(pidsFile)).toBe(0);
  });

  test('are one per principal: what one may leave in a process another never meets', async () => {
    const gateway = await startGateway({ upstreams: [{ endpoint: stdioEndpoint('effects') }] });
    const alice = await pidOf(run(gateway, { tool: 'connection' }));
    const bob = await pidOf(run(gateway, { tool: 'connection', principal: BOB }));
    expect(bob).not.toBe(alice);
    expect(await pidOf(run(gateway, { tool: 'connection', principal: ALICE }))).toBe(alice);
  });
});
