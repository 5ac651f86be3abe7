import { describe, expect, it } from 'vitest';
import type { Task } from '../protocol/model.ts';
import { createAnnouncer } from './announcer.ts';
import type { TaskEvent } from './feed.ts';

const task = (revision: number, more: Partial<Task> = {}): Task => ({
  id: 'tsk_1',
  owner: 'prn_1',
  tenant: 'acme',
  origin: '2026-07-28',
  handle: 'given',
  upstream: 'u',
  tool: 't',
  effect: 'read',
  phase: 'working',
  createdAt: 0,
  updatedAt: 0,
  ttlMs: 1e6,
  pollIntervalMs: 1_000,
  asks: [],
  revision,
  ...more,
});

function listen(now = 0) {
  const announcer = createAnnouncer(() => now);
  const heard: TaskEvent[] = [];
  announcer.feed.watch('tsk_1', (event) => void heard.push(event));
  return { announcer, heard };
}

describe('what is told of a task', () => {
  it('never goes back: who has seen the end does not see it open again', () => {
    const { announcer, heard } = listen();
    announcer.changed(task(3, { phase: 'ended', ending: 'result' }));
    announcer.changed(task(2, { message: 'overtaken' }));
    announcer.asked(task(2, { phase: 'input_required' }), []);
    announcer.changed(task(3, { phase: 'ended', ending: 'result' }));
    expect(heard).toHaveLength(1);
  });

  it('is told for each task apart', () => {
    const { announcer, heard } = listen();
    announcer.changed(task(9, { id: 'tsk_2' }));
    announcer.changed(task(1));
    expect(heard.map((event) => 'task' in event && event.task.id)).toEqual(['tsk_1']);
  });

  it('comes with the poll hint of its age', () => {
    const { announcer, heard } = listen(200_000);
    announcer.changed(task(1));
    expect(heard).toMatchObject([{ task: { pollIntervalMs: 10_000 } }]);
  });

  it('says nothing where no key was closed', () => {
    const { announcer, heard } = listen();
    announcer.closed('tsk_1', [], 'answered');
    announcer.closed('tsk_1', ['in_1'], 'answered');
    expect(heard).toEqual([{ kind: 'closed', taskId: 'tsk_1', keys: ['in_1'], why: 'answered' }]);
  });

  it('reaches everybody when one listener throws, and that one too the next time', () => {
    const thrown: unknown[] = [];
    const announcer = createAnnouncer(
      () => 0,
      (problem) => void thrown.push(problem),
    );
    const told = { bad: 0, good: 0 };
    const bad = new Error('a bad listener');
    announcer.feed.watchAll(() => {
      told.bad += 1;
      throw bad;
    });
    announcer.feed.watch('tsk_1', () => void (told.good += 1));
    announcer.closed('tsk_1', ['in_1'], 'answered');
    announcer.closed('tsk_1', ['in_2'], 'answered');
    expect(told).toEqual({ bad: 2, good: 2 });
    expect(thrown).toEqual([bad, bad]);
  });

  it('is remembered for a bounded number of tasks', () => {
    const { announcer, heard } = listen();
    announcer.changed(task(2));
    for (let index = 0; index < 5_000; index += 1)
      announcer.changed(task(1, { id: `other_${index}` }));
    announcer.changed(task(1));
    expect(heard).toHaveLength(2);
  });
});
