import type { Gateway } from '../gateway/gateway.ts';
import type { Clock } from '../kernel/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../kernel/json.ts';
import { maskSecrets } from '../kernel/redact/redact.ts';
import { messageOf } from '../kernel/logger.ts';
import type { ToolCallEnd } from '../requestor/tool-call.ts';
import type { Job, RunTool } from '../runtime/job.ts';
import type { JobContext } from '../runtime/steps/context.ts';
import type { HandleJob } from '../runtime/steps/with-journal.ts';
import { RpcFailure } from '../runtime/surface.ts';
import { duringRun, type JournalledRun } from './current-run.ts';

/** How long a handler that was told to stop is heard; after that the run is left behind, and its request let go. */
const STOP_GRACE_MS = 30_000;

/** Adopted tools run as those of any upstream; their handlers can be told who asks. */
export const runAdopted =
  ({ runTool }: Pick<Gateway, 'runTool'>): RunTool =>
  (job) =>
    duringRun({ job }, () => runTool(job));

export interface HandleParts {
  readonly gateway: Pick<Gateway, 'callOnce'>;
  readonly clock: Clock;
}

/**
 * Runs a handler of the author's behind the author's server: the call goes through the SDK, which validates what goes in
 * and what comes out, and reaches the handler with the job's context.
 */
export function createHandle({ gateway, clock }: HandleParts): HandleJob {
  return async ({ job, context, over }) => {
    const leave = leaving(job.signal, over, clock);
    const stage = createStage(context, leave);
    const call = (): Promise<ToolCallEnd> => gateway.callOnce(job, leave);
    const ended = await duringRun({ job, journalled: stage.run }, call);
    const thrown = stage.thrown();
    if (thrown && speaksForItself(thrown.value, job)) throw thrown.value;
    if (ended.kind === 'result') return thrown ? withoutSecrets(ended.result) : ended.result;
    throw failureOf(ended, job);
  };
}

/** Aborted when nobody wants the server's answer any more: the run is over, or was told to stop and did not. */
function leaving(stopped: AbortSignal, over: AbortSignal, clock: Clock): AbortSignal {
  const leave = new AbortController();
  const end = (): void => leave.abort('the run is over');
  const onStop = (): void => void clock.after(STOP_GRACE_MS, end);
  over.addEventListener('abort', end, { once: true });
  if (stopped.aborted) onStop();
  else stopped.addEventListener('abort', onStop, { once: true, signal: over });
  return leave.signal;
}

interface Stage {
  readonly run: JournalledRun;
  /** What the handler threw, as it was. */
  thrown(): { readonly value: unknown } | undefined;
}

function createStage(context: JobContext, left: AbortSignal): Stage {
  let thrown: { readonly value: unknown } | undefined;
  return {
    thrown: () => thrown,
    run: {
      context,
      async play(work) {
        // The promise of a run that has gone to sleep never settles; the SDK must not wait for it for ever.
        const leave = whenAborted(left);
        try {
          return await Promise.race([work(), leave.promise]);
        } catch (error) {
          thrown = { value: error };
          throw error;
        } finally {
          leave.forget();
        }
      },
    },
  };
}

function whenAborted(signal: AbortSignal) {
  let leave: () => void = () => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    leave = () => reject(new Error('the run is over'));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
  return { promise, forget: () => signal.removeEventListener('abort', leave) };
}

/** What the runtime has to read itself; everything else is told to the caller in the words of the SDK. */
const speaksForItself = (thrown: unknown, { signal }: Job): boolean =>
  signal.aborted || thrown instanceof RpcFailure;

/** What a handler threw went into the result unseen: the SDK makes text of it. */
function withoutSecrets(result: JsonObject): JsonObject {
  const { content } = result;
  if (result['isError'] !== true || !Array.isArray(content)) return result;
  return { ...result, content: content.map(masked) };
}

function masked(block: Json): Json {
  const words = isJsonObject(block) ? block['text'] : undefined;
  return isJsonObject(block) && typeof words === 'string'
    ? { ...block, text: maskSecrets(words) }
    : block;
}

function failureOf(ended: Exclude<ToolCallEnd, { kind: 'result' }>, { tool }: Job): Error {
  if (ended.kind === 'error') {
    const { code, message, data } = ended.error;
    return new RpcFailure(code, message, data);
  }
  const why = 'problem' in ended ? ended.problem : ended.kind;
  return new Error(`"${tool.name}" came to no answer: ${messageOf(why)}`);
}
