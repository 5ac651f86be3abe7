import { expect, test } from 'vitest';
import { silentLogger } from '../kernel/logger.ts';
import type { Task } from '../protocol/model.ts';
import { createCallMeter, type CallLabels } from './call-meter.ts';
import type { Core } from './core.ts';
import { createRunJob, type RunJobOptions } from './run-job.ts';

/** A ledger that lets everything go: what the real one never does has to show all the same. */
function jobOf(task: Partial<Task>, sentEarlier: boolean) {
  const duplicates = createCallMeter<CallLabels>();
  const attempts = { markDispatched: async () => true };
  const core = { store: { attempts }, logger: silentLogger, duplicates } as unknown as Core;
  const options = {
    core,
    claimed: { attempt: { number: 2 } },
    task: { upstream: 'bank', tool: 'pay', operationId: 'op_1', ...task },
    fence: { taskId: 'tsk_1', attemptId: 'att_2', epoch: 2 },
    signal: new AbortController().signal,
  } as unknown as RunJobOptions;
  const state = { sent: sentEarlier, over: false, parked: false };
  return { job: createRunJob(options, state), duplicates };
}

test('an effect that is sent by a second attempt is counted as a duplicate', async () => {
  const { job, duplicates } = jobOf({}, true);
  await job.dispatched();
  expect(duplicates.counts()).toEqual([{ upstream: 'bank', tool: 'pay', count: 1 }]);
});

test.each([
  ['a first send', {}, false],
  ['a read that is done again', { operationId: undefined }, true],
  ['a handler that goes on after its journal', { journalled: true }, true],
] as const)('%s is none', async (_what, task, sentEarlier) => {
  const { job, duplicates } = jobOf(task as Partial<Task>, sentEarlier);
  await job.dispatched();
  await job.dispatched();
  expect(duplicates.counts()).toEqual([]);
});
