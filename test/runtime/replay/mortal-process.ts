import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPrincipal } from '../../../src/identity/principal.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import type { Call } from '../../../src/runtime/receiver.ts';
import type { ServedTool } from '../../../src/runtime/tool.ts';
import { createSqliteStore } from '../../../src/stores/sqlite/store.ts';
import { createTestProcess } from './process.ts';
import { tenSteps } from './ten-steps.ts';

/**
 * A process of its own on one data file: takes up what an earlier one has left, begins the one call where nobody has,
 * answers what it asks, and prints how it ended. Dies where LONGCALL_CRASH_AT says.
 *
 *     node mortal-process.ts <data file> <effects file>
 */
const [, , path = '', effects = ''] = process.argv;
const SLEEP_MS = 30;
const LOOK_MS = 5;

const alice = createPrincipal({
  issuer: 'https://login.example',
  tenant: 'acme',
  subject: 'alice',
  method: 'token',
  scopes: ['*'],
});
const tool: ServedTool = {
  name: 'ten',
  upstream: 'own',
  upstreamName: 'ten',
  mode: 'task-optional',
  effect: 'consequential',
  why: 'a test',
  syncWindowMs: 0,
  plainLimitMs: 60_000,
  runLimitMs: 3_600_000,
  inputAllowanceMs: 86_400_000,
  inputExpiryMs: 3_600_000,
  retentionMs: 86_400_000,
  pollIntervalMs: 1_000,
  concurrency: 1,
  journalled: true,
  definition: { name: 'ten', inputSchema: { type: 'object' } },
};
const call: Call = {
  principal: alice,
  tool,
  arguments: {},
  meta: {},
  origin: '2026-07-28',
  asks: ['elicitation-form'],
};

const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
const { runtime, open } = createTestProcess({
  store,
  clock: systemClock,
  tool,
  handler: (job) =>
    tenSteps(job, {
      wakeAt: () => Date.now() + SLEEP_MS,
      begin(name, interrupted) {
        appendFileSync(effects, `${JSON.stringify({ name, interrupted })}\n`, { flush: true });
        return Promise.resolve();
      },
    }),
});
await open();

const [known] = await store.tasks.list('system', { limit: 1, withHandle: false });
if (!known) {
  const started = await runtime.receiver.start(call);
  if (started.kind !== 'started') throw new Error(`not started: ${started.kind}`);
  await runtime.receiver.handleGiven(started.task.id);
}
for (;;) {
  const [task] = await store.tasks.list('system', { limit: 1, withHandle: false });
  if (!task) throw new Error('the task is gone');
  if (task.phase === 'ended') {
    const outcome = await store.tasks.outcome('system', task.id);
    const facts = await store.journal.read(task.id);
    const operations = await store.operations.list('system', { limit: 10 });
    const states = operations.map(({ name = 'call', state }) => [name, state]);
    process.stdout.write(JSON.stringify({ outcome, facts, states: Object.fromEntries(states) }));
    process.exit(0);
  }
  for (const { key } of await store.inputs.listPending('system', task.id)) {
    const answer = { kind: 'result', result: { action: 'accept', content: { ok: true } } } as const;
    await runtime.receiver.answer(alice, task.id, { [key]: answer });
  }
  await sleep(LOOK_MS);
}
