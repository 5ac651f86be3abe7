import { describe } from 'vitest';
import { describeTaskBinding } from './task-binding.ts';
import { describeTaskChanges } from './task-changes.ts';
import { describeTaskCreation } from './task-creation.ts';
import { describeTaskExpiry } from './task-expiry.ts';
import { describeTaskLists } from './task-lists.ts';
import { describeObstacles } from './obstacles.ts';
import { describeSettlement } from './settlement.ts';
import type { OpenScene } from './scene.ts';

/** The contract of TaskStore. */
export function describeTasks(open: OpenScene): void {
  describe('TaskStore', () => {
    describeTaskCreation(open);
    describeTaskBinding(open);
    describeTaskLists(open);
    describeTaskChanges(open);
    describeSettlement(open);
    describeObstacles(open);
    describeTaskExpiry(open);
  });
}
