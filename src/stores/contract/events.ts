import { describe, expect, test } from 'vitest';
import { isId } from '../../kernel/ids.ts';
import { draftTask, givenTask, NO_LIMITS } from './given.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

/** The contract of EventStore. */
export function describeEvents(open: OpenScene): void {
  describe('EventStore', () => {
    testEvents(useScene(open));
  });
}

const READ = { type: 'admin.result_read', tenant: 'north', actor: 'admin' } as const;

function testEvents(scene: Scene): void {
  test('an event comes back as it was appended', async () => {
    const full = { ...READ, taskId: 'tsk_a', operationId: 'op_a', reason: 'support case' };
    const bare = await scene.store.events.append(READ);
    scene.clock.advance(5);
    const stored = await scene.store.events.append(full);
    expect(bare).toEqual({ ...READ, id: bare.id, sequence: 1, at: SCENE_START });
    expect(stored).toEqual({ ...full, id: stored.id, sequence: 2, at: SCENE_START + 5 });
    expect(isId('event', stored.id)).toBe(true);
    expect(await scene.store.events.list({ limit: 10 })).toEqual([bare, stored]);
  });

  test('the sequence has no gaps, whatever was refused in between', async () => {
    const taken = draftTask();
    await scene.store.tasks.create(taken);
    const refused = draftTask({ limits: { ...NO_LIMITS, total: 1 } });
    const work = [
      scene.store.events.append(READ),
      scene.store.tasks.create(taken),
      scene.store.tasks.create(refused),
      scene.store.events.append(READ),
    ];
    await Promise.allSettled(work);
    await scene.reopen();
    await scene.store.events.append(READ);
    const events = await scene.store.events.list({ limit: 10 });
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  });

  test('a reader goes on where it stopped', async () => {
    for (let count = 0; count < 5; count += 1) await scene.store.events.append(READ);
    const first = await scene.store.events.list({ limit: 2 });
    const afterSequence = first.at(-1)?.sequence ?? 0;
    const rest = await scene.store.events.list({ limit: 10, afterSequence });
    expect([...first, ...rest].map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
  });

  test('the events of one task stand alone', async () => {
    const task = await givenTask(scene.store);
    await givenTask(scene.store);
    await scene.store.events.append({ ...READ, taskId: task.id });
    const events = await scene.store.events.list({ limit: 10, taskId: task.id });
    expect(events.map(({ type }) => type)).toEqual(['task.created', READ.type]);
    const [first] = events;
    const later = { limit: 10, taskId: task.id, afterSequence: first?.sequence ?? 0 };
    expect(await scene.store.events.list(later)).toHaveLength(1);
  });
}
