import { stringAt } from '../kernel/json.ts';
import type { UpstreamTask } from '../stores/attempts.ts';
import { endOf, resultEnd } from './call-end.ts';
import type { PeerAnswer } from './connection.ts';
import { askAboutTask, readStatus, saysTaskLost } from './observation.ts';
import { createPace, type Pace } from './pace.ts';
import { problemOf } from './pages.ts';
import type { CallContext, ToolCallEnd } from './tool-call.ts';

const RESULT_MS_MAX = 20_000;

/** The held `tasks/result`: the delivery stream of questions, and at the end of the result (T3). */
interface ResultStream {
  answer?: PeerAnswer;
  readonly done: Promise<PeerAnswer>;
}

/**
 * Observes a task of a peer of 2025-11-25 to its end. `tasks/get` decides; `tasks/result` is held open where the peer
 * may want to ask, because only there some peers do. A question that may not be asked is refused on the same way.
 */
export async function observe2025(context: CallContext, task: UpstreamTask): Promise<ToolCallEnd> {
  const { line, signal, hooks, call } = context;
  const pace = createPace(context.clock, context.random);
  pace.hint(task.pollIntervalMs);
  line.onNudge(() => pace.nudge());
  let stream = call.asks.length > 0 ? holdResult(context, task, pace) : undefined;

  while (!signal.aborted) {
    const early = stream?.answer;
    if (early?.kind === 'result') return resultEnd(early.result, early.bytes, call);
    const answer = await readStatus(context, task);
    if (saysTaskLost(answer)) return { kind: 'task_lost', problem: problemOf(answer) };
    if (answer.kind !== 'result') {
      await pace.recover(signal, retryAfterOf(answer));
      continue;
    }
    pace.succeeded();
    pace.hint(answer.result['pollInterval']);
    const status = stringAt(answer.result, 'status');
    const message = stringAt(answer.result, 'statusMessage');
    if (message !== undefined) hooks.status(message);
    if (status === 'cancelled') return { kind: 'peer_cancelled' };
    if (status === 'completed' || status === 'failed') {
      const end = await fetchResult(context, task, stream);
      if (end) return end;
      stream = undefined;
      await pace.recover(signal);
      continue;
    }
    if (stream?.answer !== undefined) stream = undefined; // it ended, but the task has not
    if (call.asks.length > 0 || status === 'input_required')
      stream ??= holdResult(context, task, pace);
    await pace.rest(signal);
  }
  return { kind: 'stopped' };
}

function holdResult(context: CallContext, { taskId }: UpstreamTask, pace: Pace): ResultStream {
  const { signal } = context;
  const done = askAboutTask(context, 'tasks/result', { params: { taskId }, signal });
  const stream: ResultStream = { done };
  void done.then((answer) => {
    stream.answer = answer;
    pace.nudge();
  });
  return stream;
}

/** The result of a task that has ended: from the held stream where it comes, else read once more. Nothing: try again. */
async function fetchResult(
  context: CallContext,
  { taskId }: UpstreamTask,
  stream: ResultStream | undefined,
): Promise<ToolCallEnd | undefined> {
  const { clock, call } = context;
  const timer = new AbortController();
  const limit = clock.after(RESULT_MS_MAX, () => timer.abort());
  const late = new Promise<undefined>((resolve) =>
    timer.signal.addEventListener('abort', () => resolve(undefined)),
  );
  const held = stream && (await Promise.race([stream.done, late]));
  limit.cancel();
  const usable = held?.kind === 'result' || held?.kind === 'error';
  const answer = usable
    ? held
    : await askAboutTask(context, 'tasks/result', { params: { taskId }, timeoutMs: RESULT_MS_MAX });
  if (answer.kind === 'result') return resultEnd(answer.result, answer.bytes, call);
  const settles =
    answer.kind === 'error' || answer.kind === 'too_large' || answer.kind === 'invalid';
  return settles ? endOf(answer) : undefined;
}

const retryAfterOf = (answer: PeerAnswer): number | undefined =>
  answer.kind === 'http' ? answer.retryAfterMs : undefined;
