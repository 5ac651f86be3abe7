import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { answered, callOf, createReceivingSide, payTool, readTool } from './receiving-side.ts';

/** What is stored of the call, damaged as a bad disk or another program would. */
function damage(path: string, taskId: string): void {
  const db = new DatabaseSync(path);
  const ofTask = 'WHERE seq = (SELECT seq FROM tasks WHERE id = ?)';
  db.prepare(`UPDATE task_requests SET arguments = '{"half' ${ofTask}`).run(taskId);
  db.close();
}

test('a call whose stored request cannot be read fails for its owner, and all others run', async () => {
  const ran: string[] = [];
  const side = await createReceivingSide({
    run: async (job) => {
      ran.push(job.task.id);
      return answered('done');
    },
  });
  const broken = await side.call(callOf(payTool));
  const beside = await side.call(callOf(readTool));
  damage(side.path, broken.id);
  await side.open();
  expect(await side.outcome(broken)).toMatchObject({
    kind: 'error',
    error: { code: -32603, data: { reason: 'request_unreadable' } },
  });
  expect(await side.outcome(beside)).toMatchObject({ kind: 'result' });
  expect(ran).toEqual([beside.id]);
  expect(await side.operationState(broken)).toBe('abandoned');
});
