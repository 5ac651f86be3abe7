import { expect, test } from 'vitest';
import type { Call } from '../../src/runtime/receiver.ts';
import {
  ALICE,
  answered,
  callOf,
  createReceivingSide,
  payTool,
  readTool,
  until,
} from '../runtime/receiving-side.ts';

const RACES = 1000;

const keyed = (round: number): Call => ({ ...callOf(payTool), idempotencyKey: `k-${round}` });
const keyless = (round: number): Call => ({
  ...callOf(payTool, { round }),
  newOperation: false,
});

/** How many runs there were of each task. */
async function openSide() {
  const runs = new Map<string, number>();
  const side = await createReceivingSide({
    tools: [{ ...payTool, concurrency: 1000 }],
    slots: 1000,
    run: async (job) => {
      runs.set(job.task.id, (runs.get(job.task.id) ?? 0) + 1);
      await job.dispatched();
      return answered('paid');
    },
  });
  await side.open();
  return { side, runs };
}

test.each([
  ['under a key', keyed],
  ['without one', keyless],
])(
  'two parallel calls that are one (%s) run once, a thousand times [D2]',
  async (_how, callOfRound) => {
    const { side, runs } = await openSide();
    const { receiver } = side.runtime;
    for (let round = 0; round < RACES; round += 1) {
      const both = await Promise.all([
        receiver.start(callOfRound(round)),
        receiver.start(callOfRound(round)),
      ]);
      const tasks = both.map((started) => (started.kind === 'started' ? started : undefined));
      expect(tasks[0]?.task.id).toBe(tasks[1]?.task.id);
      expect(tasks.filter((started) => started?.deduplicated !== undefined)).toHaveLength(1);
    }
    await until(() => runs.size === RACES);
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
    const counts = await side.store.operations.counts();
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(RACES);
  },
);

test('two resumes in the same millisecond run the pending work once [D6]', async () => {
  let resumed = 0;
  const side = await createReceivingSide({
    run: async (job) => {
      await job.ask([
        {
          method: 'elicitation/create',
          params: { message: 'go on?', requestedSchema: { type: 'object', properties: {} } },
        },
      ]);
      resumed += 1;
      return answered('done');
    },
  });
  await side.open();
  const { receiver } = side.runtime;
  for (let round = 0; round < 50; round += 1) {
    const task = await side.call({ tool: readTool });
    await until(async () => (await side.row(task)).phase === 'input_required');
    const [input] = (await receiver.view(ALICE, task.id, false))?.inputs ?? [];
    const answer = { kind: 'result', result: { action: 'accept', content: {} } } as const;
    const both = await Promise.all(
      [1, 2].map(() => receiver.answer(ALICE, task.id, { [input?.key ?? '']: answer })),
    );
    expect(both.flatMap((one) => (one.kind === 'taken' ? one.taken : []))).toHaveLength(1);
    await side.outcome(task);
    expect((await side.store.attempts.listOf(task.id)).length).toBe(1);
  }
  expect(resumed).toBe(50);
});
