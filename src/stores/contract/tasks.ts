import { describe } from 'vitest';
import { describeKeptBytes } from './kept-bytes.ts';
import { describeRepeats } from './repeats.ts';
import { describeStartClaims } from './start-claims.ts';
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
    describeStartClaims(open);
    describeRepeats(open);
    describeKeptBytes(open);
    describeTaskBinding(open);
    describeTaskLists(open);
    describeTaskChanges(open);
    describeSettlement(open);
    describeObstacles(open);
    describeTaskExpiry(open);
  });
}
