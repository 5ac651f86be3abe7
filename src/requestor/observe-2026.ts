import { objectAt, stringAt, type JsonObject } from '../kernel/json.ts';
import type { RpcError } from '../protocol/model.ts';
import { RPC_CODES } from '../protocol/names.ts';
import type { UpstreamTask } from '../stores/attempts.ts';
import { resultEnd } from './call-end.ts';
import { readQuestions, type KeyedQuestion } from './input-requests.ts';
import { askAboutTask, cancelTask, readStatus, saysTaskLost } from './observation.ts';
import { inputResponses } from './owner-questions.ts';
import { createPace } from './pace.ts';
import { problemOf } from './pages.ts';
import { readMessage } from './rpc-message.ts';
import type { CallContext, ToolCallEnd } from './tool-call.ts';

const UPDATE_MS_MAX = 20_000;

/** Observes a task of the extension to its end: status, questions and outcome all come with `tasks/get`. */
export async function observe2026(context: CallContext, task: UpstreamTask): Promise<ToolCallEnd> {
  const { line, signal, hooks } = context;
  const pace = createPace(context.clock, context.random);
  pace.hint(task.pollIntervalMs);
  line.onNudge(() => pace.nudge());
  const relay = createRelay(context, task, () => pace.nudge());

  while (!signal.aborted) {
    const refused = relay.refused();
    if (refused) {
      await cancelTask(context, task);
      return { kind: 'error', error: refused };
    }
    const answer = await readStatus(context, task);
    if (saysTaskLost(answer)) return { kind: 'task_lost', problem: problemOf(answer) };
    if (answer.kind !== 'result') {
      if (answer.kind === 'too_large') return answer;
      await pace.recover(signal, answer.kind === 'http' ? answer.retryAfterMs : undefined);
      continue;
    }
    pace.succeeded();
    pace.hint(answer.result['pollIntervalMs']);
    const message = stringAt(answer.result, 'statusMessage');
    if (message !== undefined) hooks.status(message);
    const end = endOfTask(context, answer.result, answer.bytes);
    if (end) return end;
    const problem = relay.see(objectAt(answer.result, 'inputRequests') ?? {});
    if (problem !== undefined) {
      await cancelTask(context, task); // it would wait for ever for an answer that nobody gives
      return { kind: 'invalid', problem };
    }
    await pace.rest(signal);
  }
  return { kind: 'stopped' };
}

/** The end of the call where the task has one. */
function endOfTask(
  { call }: CallContext,
  task: JsonObject,
  bytes: number,
): ToolCallEnd | undefined {
  const { status } = task;
  if (status === 'cancelled') return { kind: 'peer_cancelled' };
  if (status === 'completed') {
    const result = objectAt(task, 'result');
    return result
      ? resultEnd(result, bytes, call)
      : { kind: 'invalid', problem: 'its completed task has no result' };
  }
  if (status !== 'failed') return undefined;
  const read = readMessage({ error: task['error'] ?? null });
  return read.kind === 'error'
    ? read
    : { kind: 'invalid', problem: 'its failed task has no error' };
}

const UNASKABLE: RpcError = {
  code: RPC_CODES.internalError,
  message: 'the question could not be passed on',
};

/** Hands the task's questions to the owner, each once, and the answers back. */
interface Relay {
  /** What is outstanding now, by the peer's keys. Returns a problem where that is nothing to make sense of. */
  see(outstanding: JsonObject): string | undefined;
  /** The owner cannot give an answer that the peer could take: the task has no way on. */
  refused(): RpcError | undefined;
}

function createRelay(context: CallContext, task: UpstreamTask, onAnswered: () => void): Relay {
  const { hooks, signal } = context;
  /** Keys are never used twice in a task, so that what was asked once is never asked again (G2-50, G2-52). */
  const asked = new Map<string, AbortController>();
  let refusal: RpcError | undefined;

  const relay = async (questions: readonly KeyedQuestion[], taken: AbortSignal): Promise<void> => {
    await hooks.journal({ ...task, relayedKeys: Array.from(asked.keys()) });
    const given = AbortSignal.any([signal, taken]);
    const replies = await hooks.ask(
      questions.map(([, question]) => question),
      given,
    );
    if (signal.aborted || taken.aborted) return;
    const answers = inputResponses(questions, replies);
    if (answers.kind === 'refused') refusal = answers.error;
    else await sendAnswers(context, task, answers.responses);
    onAnswered();
  };
  return {
    see(outstanding) {
      for (const [key, control] of asked) if (!Object.hasOwn(outstanding, key)) control.abort();
      const fresh = Object.entries(outstanding).filter(([key]) => !asked.has(key));
      const read = readQuestions(Object.fromEntries(fresh));
      if (read.kind === 'invalid') return read.problem;
      for (const question of read.questions) {
        const control = new AbortController();
        asked.set(question[0], control);
        relay([question], control.signal).catch(() => (refusal = UNASKABLE));
      }
      return undefined;
    },
    refused: () => refusal,
  };
}

/** Sends answers until the peer has taken them; it ignores what it has already (G2-54). */
async function sendAnswers(
  context: CallContext,
  { taskId }: UpstreamTask,
  responses: JsonObject,
): Promise<void> {
  const pace = createPace(context.clock, context.random);
  while (!context.signal.aborted) {
    const params = { taskId, inputResponses: responses };
    const answer = await askAboutTask(context, 'tasks/update', {
      params,
      timeoutMs: UPDATE_MS_MAX,
    });
    if (answer.kind === 'result' || answer.kind === 'error') return; // an error shows in the task
    await pace.recover(context.signal);
  }
}
