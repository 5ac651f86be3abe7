import type { JsonObject } from '../../kernel/json.ts';
import { invalidParams } from './failures.ts';

/** `params.taskId`. Related-task metadata never counts: the param is the source of truth (G1-136, G2-164). */
export function readTaskId({ taskId }: JsonObject): string {
  if (typeof taskId !== 'string') throw invalidParams('taskId must be a string');
  return taskId;
}
