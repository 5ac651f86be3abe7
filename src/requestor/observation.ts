import { messageOf } from '../kernel/logger.ts';
import type { JsonObject } from '../kernel/json.ts';
import { RPC_CODES } from '../protocol/names.ts';
import type { UpstreamTask } from '../stores/attempts.ts';
import { speaksTasks2026, type PeerAnswer } from './connection.ts';
import { capabilitiesFor } from './envelope.ts';
import type { CallContext, Seat } from './tool-call.ts';

const STATUS_MS_MAX = 10_000;
const CANCEL_MS_MAX = 5_000;
const CANCEL_TRIES = 3;

/** One request about a task of the peer. A peer that cannot be reached is an answer like any other. */
export async function askAboutTask(
  context: CallContext,
  method: string,
  options: {
    readonly params: JsonObject;
    readonly timeoutMs?: number;
    readonly signal?: AbortSignal;
  },
): Promise<PeerAnswer> {
  const seat = await context.line
    .seat(context.signal)
    .catch((error: unknown) => ({ problem: messageOf(error) }));
  if ('problem' in seat) return { kind: 'unsent', problem: seat.problem };
  const answer = await requestAbout(seat, context, { method, ...options });
  if (answer.kind === 'lost' || answer.kind === 'unsent' || answer.kind === 'session_gone')
    context.line.hangUp();
  return answer;
}

interface AboutTask {
  readonly method: string;
  readonly params: JsonObject;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

function requestAbout(
  { connection, attendance }: Seat,
  { call }: CallContext,
  about: AboutTask,
): Promise<PeerAnswer> {
  const tasks = speaksTasks2026(connection);
  return connection.request({
    ...about,
    attendance,
    capabilities: capabilitiesFor(call.asks, { tasks }),
  });
}

/** Reads where the task stands. */
export const readStatus = (context: CallContext, { taskId }: UpstreamTask): Promise<PeerAnswer> =>
  askAboutTask(context, 'tasks/get', { params: { taskId }, timeoutMs: STATUS_MS_MAX });

/** Whether the answer says that there is no such task: it is -32602, or the peer has no tasks any more (G1-90, G2-114). */
export function saysTaskLost(answer: PeerAnswer): boolean {
  if (answer.kind !== 'error') return false;
  return (
    answer.error.code === RPC_CODES.invalidParams || answer.error.code === RPC_CODES.methodNotFound
  );
}

/** Asks the peer to cancel its task. Cooperative: the answer says only that it was heard (G1-67, G2-86). */
export async function cancelTask(context: CallContext, { taskId }: UpstreamTask): Promise<void> {
  for (let tries = 0; tries < CANCEL_TRIES; tries += 1) {
    const answer = await askAboutTask(context, 'tasks/cancel', {
      params: { taskId },
      timeoutMs: CANCEL_MS_MAX,
    });
    if (answer.kind === 'result' || answer.kind === 'error') return;
  }
}
