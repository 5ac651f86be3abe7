import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventDocument, Page, TaskDocument } from '../../src/admin/documents.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { connectFront } from '../crash/front.ts';
import type { Front, FrontKind } from '../crash/front.ts';
import { startGateway } from '../crash/gateway-process.ts';
import type { GatewayProcess } from '../crash/gateway-process.ts';
import { PEOPLE, writeTokens } from '../crash/people.ts';
import { createEffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import type { EffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import { upstreamCommand } from '../fixtures/upstreams/launch.ts';
import { runCommand, startCommand } from './command.ts';

const WAIT = { timeout: 20_000 };
const RULE = { mode: 'task-optional', syncWindow: '0ms', pollInterval: '50ms' };

let folder = '';
let data = '';
let effects: EffectsReader;
let gateway: GatewayProcess;
let front: Front;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longcall-operator-'));
  data = join(folder, 'data');
  effects = createEffectsReader();
  const { command, args } = upstreamCommand('effects');
  const tools = {
    '*': { ...RULE, effect: 'consequential' },
    read_only: { ...RULE, effect: 'read' },
    fail: { ...RULE, effect: 'read' },
  };
  const env = { EFFECTS_LOG: effects.file };
  const upstreams = { effects: { command: [command, ...args], env, tools } };
  const config = { upstreams, identity: { tokens: writeTokens(folder) } };
  writeFileSync(join(folder, 'longcall.yaml'), JSON.stringify(config));
  await startHere();
});
afterAll(async () => {
  await gateway.stop();
  effects.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function startHere(): Promise<void> {
  gateway = await startGateway({ config: join(folder, 'longcall.yaml'), data });
  front = await connectFront(gateway.url);
}

const longcall = (...args: readonly string[]) => runCommand([...args, '--data', data]);
const watch = (id: string) => startCommand(['tasks', 'watch', id, '--data', data]);

async function handleOf(kind: FrontKind, name: string, args: { tag: string; ms?: number }) {
  const answer = await front.call(kind, name, args).answer;
  if (answer.kind !== 'handle') throw new Error(`${name} answered with ${answer.kind}`);
  return answer.taskId;
}

describe('beside a real gateway', () => {
  test('an operator sees the tasks of both tenants and of both generations', async () => {
    const older = await handleOf('2025-task', 'read_only', { tag: 'list-1' });
    const newer = await handleOf('2026-tasks', 'append', { tag: 'list-2' });
    const { code, stdout } = await longcall('tasks', 'list', '--json');
    expect(code).toBe(0);
    const { items } = JSON.parse(stdout) as Page<TaskDocument>;
    const of = (id: string) => items.find((task) => task.id === id);
    expect(of(older)).toMatchObject({ origin: '2025-11-25', tenant: PEOPLE.alice.tenant });
    expect(of(newer)).toMatchObject({ origin: '2026-07-28', tenant: PEOPLE.bob.tenant });
  });

  test('a watch follows to the end: the effect was answered, and nobody has confirmed it', async () => {
    const id = await handleOf('2026-tasks', 'append', { tag: 'watched', ms: 300 });
    const { written, exit } = watch(id);
    expect(await exit).toBe(0);
    expect(written.stdout).toMatch(/protocol +completed\n/);
    expect(written.stdout).toMatch(/outcome +answered, not confirmed\n/);
    const operation = /op_\S+/.exec(written.stdout)?.[0] ?? '';
    const shown = await longcall('ops', 'show', operation.slice(0, 12));
    expect(shown.stdout).toMatch(/state +acknowledged/);
  });

  test('a tool that failed by its own word ends the watch with 5', async () => {
    const id = await handleOf('2025-task', 'fail', { tag: 'failing' });
    expect(await watch(id).exit).toBe(5);
  });

  test("reading another's result is on record, and takes nothing from its owner", async () => {
    const id = await handleOf('2026-tasks', 'append', { tag: 'secret-tag' });
    await watch(id).exit;
    const result = await longcall('tasks', 'result', id);
    expect(JSON.parse(result.stdout)).toMatchObject({ content: [{ text: 'appended secret-tag' }] });
    expect((await front.view('2026-tasks', id)).status).toBe('completed');
    const detail = JSON.parse((await longcall('tasks', 'get', id, '--json')).stdout) as {
      events: readonly EventDocument[];
    };
    expect(detail.events.filter(({ type }) => type === 'admin.result_read')).toMatchObject([
      { actor: 'admin', tenant: PEOPLE.bob.tenant },
    ]);
    expect(gateway.output()).not.toContain('secret-tag');
  });

  test('Ctrl-C leaves the work alone; a cancel stops it, at the upstream too', async () => {
    const id = await handleOf('2025-task', 'slow', { tag: 'stopped', ms: 60_000 });
    const first = watch(id);
    await expect.poll(() => first.written.stderr, WAIT).toContain('working');
    first.child.kill('SIGINT');
    expect(await first.exit).toBe(130);
    expect((await front.view('2025-task', id)).status).toBe('working');

    const second = watch(id);
    await expect.poll(() => second.written.stderr, WAIT).toContain('in flight');
    const cancelled = await longcall('tasks', 'cancel', id, '--yes', '--reason', 'by the test');
    expect(cancelled.code).toBe(0);
    expect(cancelled.stderr).toContain('It is no rollback');
    expect(await second.exit).toBe(8);
    expect((await front.view('2025-task', id)).status).toBe('cancelled');
    const lines = () => effects.lines('stopped').map(({ event }) => event);
    await expect.poll(lines, WAIT).toContain('cancelled');
  });

  test('a gateway killed under a watch comes back, and the watch ends with 8: nobody knows', async () => {
    const id = await handleOf('2026-tasks', 'slow', { tag: 'killed', ms: 60_000 });
    const watching = watch(id);
    await expect.poll(() => watching.written.stderr, WAIT).toContain('in flight');
    await gateway.kill();
    await expect.poll(() => watching.written.stderr, WAIT).toContain('the gateway is away');
    expect((await longcall('tasks', 'list')).code).toBe(11);
    await startHere();
    expect(await watching.exit).toBe(8);
    expect(watching.written.stdout).toContain('not known: reconcile first');
    const unknown = await longcall('ops', 'list', '--state', 'unknown');
    expect(unknown.stdout).toMatch(/slow +failed +not known: reconcile first +unknown/);
  });

  test('the doctor looks at all of it', async () => {
    const { code, stdout } = await longcall(
      'doctor',
      '--json',
      '--config',
      join(folder, 'longcall.yaml'),
    );
    const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
    expect(code).toBe(0);
    const statusOf = (check: string) => findings.find((one) => one.check === check)?.status;
    for (const check of [
      'gateway',
      'store',
      'data.lock',
      'listen.mcp',
      'upstream.effects',
      'key.tokens',
    ])
      expect(statusOf(check), check).toBe('ok');
  });
});
