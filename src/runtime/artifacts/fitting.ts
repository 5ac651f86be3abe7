import type { Outcome, Task } from '../../protocol/model.ts';
import type { TaskStore } from '../../stores/tasks.ts';
import { invalidEnd, resultTooLarge } from '../outcomes.ts';
import type { ToolOf } from '../tool.ts';
import type { ArtifactKeeper, ArtifactPolicy } from './keeper.ts';
import { relieve } from './relief.ts';

export interface FittingOptions {
  readonly tasks: Pick<TaskStore, 'get'>;
  readonly toolOf: ToolOf;
  /** Absent: nothing is kept apart. */
  readonly keeper: ArtifactKeeper | undefined;
  /** The hard limit on a stored outcome, in bytes of its JSON. */
  readonly outcomeBytesMax: number;
}

/** An outcome as it can be kept, and what was made for it. */
export interface Fitted {
  readonly outcome: Outcome;
  /** Artifacts that are nobody's if the outcome is not kept. */
  readonly fresh: readonly string[];
}

/**
 * Makes an outcome fit to be kept. Artifacts that it needs are durable when it resolves; rejects where the stores do.
 * What fits as it is comes back at once: settlements keep the order in which they were asked for.
 */
export type Fit = (taskId: string, outcome: Outcome) => Fitted | Promise<Fitted>;

/** Below this nothing is looked up: no threshold is smaller. */
export const ARTIFACT_ABOVE_MIN = 1024;

/** The bytes of its JSON; nothing where it has no JSON form. */
function jsonBytes(outcome: Outcome): number | undefined {
  try {
    return Buffer.byteLength(JSON.stringify(outcome));
  } catch {
    return undefined;
  }
}

export interface TooLarge {
  /** Present where the call may have taken effect. */
  readonly operationId?: string | undefined;
  /** Why it could not be kept apart, where that was wanted. */
  readonly full?: keyof ArtifactPolicy | undefined;
}

/** The outcome as it can be kept: what has no JSON form, or too long a one, is said to be that. */
export function storable(outcome: Outcome, bytesMax: number, about: TooLarge = {}): Outcome {
  const bytes = jsonBytes(outcome);
  if (bytes === undefined) return invalidEnd(about.operationId);
  return bytes <= bytesMax ? outcome : resultTooLarge({ ...about, bytes, maxBytes: bytesMax });
}

export function createFit({ tasks, toolOf, keeper, outcomeBytesMax }: FittingOptions): Fit {
  /** Where the tool says so, and for a job, whose host can do nothing with what is dropped (decision 12). */
  const aboveOf = (task: Task, bytes: number): number | undefined => {
    const mustFit = task.origin === 'job' && bytes > outcomeBytesMax;
    return toolOf(task)?.artifactAbove ?? (mustFit ? keeper?.policy.aboveBytes : undefined);
  };
  const relieved = async (
    task: Task,
    outcome: Outcome,
    bytes: number,
  ): Promise<Fitted & TooLarge> => {
    const above = aboveOf(task, bytes);
    if (outcome.kind !== 'result' || above === undefined || !keeper) return { outcome, fresh: [] };
    const { result, fresh, full } = await relieve({ keeper, task, result: outcome.result, above });
    return { outcome: { kind: 'result', result }, fresh, full };
  };
  const fit = async (
    taskId: string,
    outcome: Outcome,
    bytes: number | undefined,
  ): Promise<Fitted> => {
    const task = await tasks.get('system', taskId);
    const about = { operationId: task?.operationId };
    if (!task || bytes === undefined)
      return { outcome: storable(outcome, outcomeBytesMax, about), fresh: [] };
    const { fresh, full, ...made } = await relieved(task, outcome, bytes);
    return { outcome: storable(made.outcome, outcomeBytesMax, { ...about, full }), fresh };
  };
  return (taskId, outcome) => {
    const bytes = jsonBytes(outcome);
    const isSmall = bytes !== undefined && bytes <= Math.min(ARTIFACT_ABOVE_MIN, outcomeBytesMax);
    return isSmall ? { outcome, fresh: [] } : fit(taskId, outcome, bytes);
  };
}
