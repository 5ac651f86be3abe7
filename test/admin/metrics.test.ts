import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import type { Deferred } from '../../src/kernel/deferred.ts';
import type { RunEnd } from '../../src/runtime/job.ts';
import { TOOL, ask, openDoor } from './door.ts';
import type { Door } from './door.ts';
import { ANNA, askOwner, BORYS, endTask, goodResult, recordTask } from './records.ts';

let door: Door;
let end: Deferred<RunEnd>;
let running: Deferred<void>;
beforeAll(async () => {
  door = await openDoor({
    run: () => {
      running.resolve();
      return end.promise;
    },
    upstreams: () => [
      { name: 'reports', state: 'up', transport: 'stdio' },
      { name: 'a"b\\c', state: 'down', transport: 'http' },
    ],
  });
});
afterAll(() => door.close());

const scrape = async (from: Door = door): Promise<string> => (await ask(from, '/metrics')).text();
const linesOf = (text: string, name: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith(name));

test('a task is counted while it is open, as it moves, and how long it took', async () => {
  end = createDeferred();
  running = createDeferred();
  const call = {
    principal: ANNA,
    tool: TOOL,
    arguments: {},
    meta: {},
    origin: '2025-11-25',
    asks: [],
  } as const;
  const started = await door.runtime.receiver.start(call);
  await running.promise;
  const open =
    'longcall_task_active{peer="reports",tool="export_report",status="working",wire="legacy"} 1';
  expect(linesOf(await scrape(), 'longcall_task_active')).toEqual([open]);

  end.resolve({
    outcome: { kind: 'result', result: goodResult() },
    end: 'answered',
    reason: 'done',
  });
  await expect.poll(async () => linesOf(await scrape(), 'longcall_task_active')).toEqual([]);
  const text = await scrape();
  expect(linesOf(text, 'longcall_task_transitions_total')).toEqual([
    'longcall_task_transitions_total{from="working",to="completed",legal="true"} 1',
  ]);
  const labels = 'peer="reports",tool="export_report",status="completed"';
  expect(text).toContain(`longcall_task_duration_seconds_bucket{${labels},le="+Inf"} 1`);
  expect(text).toContain(`longcall_task_duration_seconds_count{${labels}} 1`);
  expect(started.kind).toBe('started');
});

test('the end of a task that an earlier process left behind is counted from unknown', async () => {
  const first = await openDoor();
  const task = await recordTask(first.store);
  const { directory } = first;
  await first.close({ keep: true });
  const second = await openDoor({ directory });
  await second.runtime.receiver.cancelAsOperator(task.id);
  const moves = linesOf(await scrape(second), 'longcall_task_transitions_total');
  expect(moves).toEqual([
    'longcall_task_transitions_total{from="unknown",to="cancelled",legal="true"} 1',
  ]);
  await second.close();
});

test('operations are counted by state, and the age of the oldest unknown one is told', async () => {
  const fresh = await openDoor();
  const states = (text: string, state: string) =>
    linesOf(text, `longcall_operations{outcome="${state}"}`).map((line) => line.split(' ')[1]);
  expect(await scrape(fresh)).toContain('longcall_operation_unknown_age_max_seconds 0\n');
  const lost = await recordTask(fresh.store, { tool: 'pay', effect: 'consequential' });
  await endTask(fresh.store, lost.id, { callEnd: 'lost', outcome: { kind: 'cancelled' } });
  const text = await scrape(fresh);
  expect(states(text, 'unknown')).toEqual(['1']);
  expect(states(text, 'confirmed')).toEqual(['0']);
  expect(linesOf(text, 'longcall_operation_unknown{')).toEqual([
    'longcall_operation_unknown{peer="reports"} 1',
  ]);
  await fresh.close();
});

test('the text is well formed: help and type for each family, labels escaped, numbers only', async () => {
  const response = await ask(door, '/metrics');
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = (await response.text()).trimEnd().split('\n');
  const sample = /^[a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? -?[0-9.e+-]+$/;
  const announced = /^# (?:HELP|TYPE) [a-z_]+ .+$/;
  for (const line of lines) expect(line).toMatch(line.startsWith('#') ? announced : sample);
  expect(lines).toContain(String.raw`longcall_upstream_up{peer="a\"b\\c"} 0`);
  expect(lines).toContain('longcall_upstream_up{peer="reports"} 1');
});

test('no label carries an id, a tenant or an owner', async () => {
  const task = await recordTask(door.store, { owner: BORYS, tool: 'pay', effect: 'consequential' });
  const text = await scrape();
  for (const secret of [task.id, task.operationId ?? '', BORYS.tenant, BORYS.key])
    expect(text).not.toContain(secret);
});

test('calls that were made before are counted, and effects that were sent twice: none', async () => {
  const fresh = await openDoor();
  const call = {
    principal: ANNA,
    tool: { ...TOOL, effect: 'consequential' },
    arguments: {},
    meta: {},
    origin: '2025-11-25',
    asks: [],
  } as const;
  for (const idempotencyKey of ['k', 'k', 'k'])
    await fresh.runtime.receiver.start({ ...call, idempotencyKey });
  await fresh.runtime.receiver.start(call);
  const text = await scrape(fresh);
  const labels = 'peer="reports",tool="export_report"';
  expect(linesOf(text, 'longcall_starts_deduplicated_total')).toEqual([
    `longcall_starts_deduplicated_total{${labels},by="key"} 2`,
    `longcall_starts_deduplicated_total{${labels},by="guard"} 1`,
  ]);
  expect(linesOf(text, 'longcall_effect_duplicates_total')).toEqual([
    'longcall_effect_duplicates_total 0',
  ]);
  await fresh.close();
});

test('who is turned away is counted', async () => {
  const denied = async () => linesOf(await scrape(), 'longcall_authz_denied_total')[0];
  const before = await denied();
  await fetch(`${door.url}/metrics`);
  expect(await denied()).not.toBe(before);
});

test('questions are counted while they are open and when nobody answered, by what they ask for', async () => {
  const quiet = await openDoor({ run: () => new Promise(() => undefined) });
  const task = await recordTask(quiet.store, { tool: 'asking' });
  await askOwner(quiet.store, task.id);
  const text = await scrape(quiet);
  expect(linesOf(text, 'longcall_input_pending{')).toEqual(
    ['public', 'personal', 'secret', 'payment', 'credential'].map(
      (field) => `longcall_input_pending{field_class="${field}"} ${field === 'personal' ? 1 : 0}`,
    ),
  );
  expect(linesOf(text, 'longcall_input_expired_total{')).toHaveLength(5);
  await quiet.close();
});

test('a call that finds no room is counted by the limit that it met', async () => {
  const full = await openDoor({
    run: () => Promise.reject(new Error('nothing runs here')),
    open: 0,
  });
  await full.runtime.receiver.start({
    principal: ANNA,
    tool: TOOL,
    arguments: {},
    meta: {},
    origin: '2025-11-25',
    asks: [],
  });
  expect(linesOf(await scrape(full), 'longcall_admission_rejected_total')).toEqual([
    'longcall_admission_rejected_total{peer="reports",tool="export_report",reason="perPrincipal"} 1',
  ]);
  await full.close();
});
