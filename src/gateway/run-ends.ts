import type { JsonObject } from '../kernel/json.ts';
import type { Outcome } from '../protocol/model.ts';
import { RPC_CODES } from '../protocol/names.ts';
import { plainUpstreamName } from '../protocol/upstream-name.ts';
import type { ToolCallEnd } from '../requestor/tool-call.ts';
import type { Job, RunEnd, StopReason } from '../runtime/job.ts';
import { CANCELLED, outcomeUnknown } from '../runtime/outcomes.ts';

/** Why a call ended without the upstream's own word: `data.reason` of the error, for programs. */
export const UPSTREAM_REASONS = [
  'upstream_unreachable',
  'upstream_lost',
  'upstream_task_lost',
  'upstream_session_gone',
  'upstream_http_error',
  'upstream_invalid',
  'result_too_large',
] as const;
export type UpstreamReason = (typeof UPSTREAM_REASONS)[number];

/** What of a job decides what the end of its call means. */
export type EndedJob = Pick<Job, 'task' | 'tool' | 'signal'>;

function failure(reason: UpstreamReason, message: string, facts: JsonObject = {}): Outcome {
  return {
    kind: 'error',
    error: { code: RPC_CODES.internalError, message, data: { reason, ...facts } },
  };
}

const end = (outcome: Outcome, callEnd: RunEnd['end'], reason: string): RunEnd => ({
  outcome,
  end: callEnd,
  reason,
});

/** What the end of a call to an upstream means for the run that made it. */
export function runEndOf(ended: ToolCallEnd, job: EndedJob): RunEnd {
  const upstream = plainUpstreamName(job.tool.upstream);
  switch (ended.kind) {
    case 'result': {
      const outcome: Outcome = { kind: 'result', result: ended.result };
      return ended.result['isError'] === true
        ? end(outcome, 'tool_error', 'tool_error')
        : end(outcome, 'answered', 'answered');
    }
    case 'error':
      return end({ kind: 'error', error: ended.error }, 'error', 'error');
    case 'peer_cancelled':
      return end(CANCELLED, 'cancelled', 'upstream_cancelled');
    case 'stopped':
    case 'fenced':
      return stoppedEnd(job);
    case 'unsent':
      return end(
        failure(
          'upstream_unreachable',
          `upstream "${upstream}" cannot be reached: ${ended.problem}; nothing was sent`,
          { upstream },
        ),
        'error',
        'upstream_unreachable',
      );
    case 'lost':
      return lostEnd(job, 'upstream_lost', ended.problem);
    case 'task_lost':
      return lostEnd(job, 'upstream_task_lost', `it no longer knows the task: ${ended.problem}`);
    case 'session_gone':
      return end(
        failure(
          'upstream_session_gone',
          `upstream "${upstream}" refused the call: ${ended.problem}`,
          { upstream },
        ),
        'error',
        'upstream_session_gone',
      );
    case 'http':
      return httpEnd(job, ended);
    case 'invalid':
      return end(
        failure('upstream_invalid', `upstream "${upstream}" answered nonsense: ${ended.problem}`, {
          upstream,
        }),
        'error',
        'upstream_invalid',
      );
    case 'too_large':
      return end(
        failure(
          'result_too_large',
          `upstream "${upstream}" has answered, but its answer cannot be kept: ${ended.problem}.${effectWords(job)}`,
          { upstream, ...operationOf(job) },
        ),
        'error',
        'result_too_large',
      );
  }
}

const operationOf = ({ task }: EndedJob): JsonObject =>
  task.operationId === undefined ? {} : { operationId: task.operationId };

/** The tool has run: only its answer is not there. */
const effectWords = ({ task }: EndedJob): string =>
  task.operationId === undefined
    ? ''
    : ' It may have taken effect: do not repeat it before that was checked.';

/** Nobody can say what became of it: a read has done no harm, for all else that is said aloud (decision 6). */
function lostEnd({ task, tool }: EndedJob, reason: UpstreamReason, problem: string): RunEnd {
  const outcome =
    tool.effect === 'read' && task.effect === 'read'
      ? failure(
          reason,
          `upstream "${plainUpstreamName(tool.upstream)}" was lost during the call: ${problem}`,
          {
            upstream: plainUpstreamName(tool.upstream),
          },
        )
      : outcomeUnknown(task.operationId);
  return end(outcome, 'lost', reason);
}

/** A client error is a refusal; what stands between us and the upstream speaks with the rest. */
function httpEnd(
  job: EndedJob,
  { status, problem }: Extract<ToolCallEnd, { readonly kind: 'http' }>,
): RunEnd {
  if (status >= 500) return lostEnd(job, 'upstream_lost', problem);
  const upstream = plainUpstreamName(job.tool.upstream);
  const outcome = failure(
    'upstream_http_error',
    `upstream "${upstream}" refused the call: ${problem}`,
    { upstream, status },
  );
  return end(outcome, 'error', 'upstream_http_error');
}

/** The run was told to stop; why decides. Without a reason it was fenced out, and nothing that it says counts. */
function stoppedEnd({ signal }: EndedJob): RunEnd {
  const reason: StopReason | undefined = signal.aborted ? (signal.reason as StopReason) : undefined;
  if (reason === 'cancelled' || reason === 'abandoned') return end(CANCELLED, 'cancelled', reason);
  const outcome = failure('upstream_lost', 'the run was ended before the upstream had answered');
  return end(outcome, reason === 'run_limit' ? 'run_limit' : 'lost', reason ?? 'fenced');
}
