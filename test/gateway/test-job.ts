import type { Gateway } from '../../src/gateway/gateway.ts';
import type { Principal } from '../../src/identity/principal.ts';
import { createDeferred, type Deferred } from '../../src/kernel/deferred.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { askKindOf, type AskKind, type InputAnswer, type Task } from '../../src/protocol/model.ts';
import type {
  Job,
  JobJournal,
  Question,
  Reply,
  RunEnd,
  StopReason,
} from '../../src/runtime/job.ts';
import type { ServedTool } from '../../src/runtime/tool.ts';
import type { UpstreamTask } from '../../src/stores/attempts.ts';
import { ALICE } from './gateway-kit.ts';

export interface JobSpec {
  readonly tool: string;
  readonly arguments?: JsonObject;
  readonly meta?: JsonObject;
  readonly principal?: Principal;
  readonly asks?: readonly AskKind[];
  readonly attempt?: number;
  readonly upstreamTask?: UpstreamTask;
  /** Whether the upstream's task may still be noted: not where the record has ended. */
  readonly mayJournal?: () => boolean;
}

/** A question that waits for its answer. */
export interface OpenQuestion extends Question {
  reply(reply: Reply): void;
  answer(answer: InputAnswer): void;
}

/** A run of the gateway's, with its job in the hands of the test. */
export interface TestRun {
  readonly end: Promise<RunEnd>;
  /** Questions in the order asked; those taken back are gone. */
  readonly questions: readonly OpenQuestion[];
  readonly journal: readonly UpstreamTask[];
  readonly statuses: readonly string[];
  readonly progress: readonly JsonObject[];
  readonly logs: readonly JsonObject[];
  dispatchedCount(): number;
  stop(reason: StopReason): void;
}

/** Runs a tool of the gateway's surface, as the runtime would. */
export function run(gateway: Gateway, spec: JobSpec): TestRun {
  const tool = gateway.surface.tool(spec.tool);
  if (!tool)
    throw new Error(
      `no tool ${spec.tool}: ${gateway.surface
        .tools()
        .map(({ name }) => name)
        .join(', ')}`,
    );
  const stopper = new AbortController();
  const questions: OpenQuestion[] = [];
  const journal: UpstreamTask[] = [];
  const statuses: string[] = [];
  const progress: JsonObject[] = [];
  const logs: JsonObject[] = [];
  let dispatched = 0;

  const putOne = (question: Question, signal?: AbortSignal): Promise<Reply> => {
    const reply: Deferred<Reply> = createDeferred<Reply>();
    let waits = true;
    const settle = (value: Reply): void => {
      waits = false;
      reply.resolve(value);
    };
    const open: OpenQuestion = {
      ...question,
      reply: settle,
      answer: (answer) => settle({ kind: 'answer', answer }),
    };
    const takeBack = (): void => {
      if (waits) questions.splice(questions.indexOf(open), 1);
      settle({ kind: 'withdrawn' });
    };
    signal?.addEventListener('abort', takeBack, { once: true });
    stopper.signal.addEventListener('abort', takeBack, { once: true });
    questions.push(open);
    return reply.promise;
  };
  const job: Job = {
    task: taskOf(spec, tool),
    tool,
    request: { arguments: spec.arguments ?? {}, meta: spec.meta ?? {} },
    attempt: spec.attempt ?? 1,
    ...(spec.upstreamTask ? { upstreamTask: spec.upstreamTask } : {}),
    signal: stopper.signal,
    deadline: 3_600_000,
    journal: NO_JOURNAL,
    dispatched: () => Promise.resolve(!stopper.signal.aborted && (dispatched += 1) > 0),
    journalUpstream: (task) =>
      Promise.resolve((spec.mayJournal?.() ?? true) && journal.push(task) > 0),
    ask: (asked, signal) =>
      Promise.all(
        asked.map((question) => {
          const declared =
            spec.asks?.includes(askKindOf(question.method, question.params)) ?? false;
          return declared
            ? putOne(question, signal)
            : Promise.resolve<Reply>({ kind: 'undeclared' });
        }),
      ),
    status: (text) => void statuses.push(text),
    progress: (params) => void progress.push(params),
    log: (params) => void logs.push(params),
  };
  const end = gateway.runTool(job).then((ended) => {
    if ('parked' in ended) throw new Error('a call of an upstream went to sleep');
    return ended;
  });
  return {
    end,
    questions,
    journal,
    statuses,
    progress,
    logs,
    dispatchedCount: () => dispatched,
    stop: (reason) => stopper.abort(reason),
  };
}

const refused = (): never => {
  throw new Error('a call of an upstream keeps no journal');
};

const NO_JOURNAL: JobJournal = {
  read: refused,
  append: refused,
  dispatchEffect: refused,
  recordReceipt: refused,
  consumeAnswer: refused,
  ask: refused,
  findInput: refused,
  park: refused,
  now: refused,
  openMs: refused,
  watch: refused,
};

function taskOf(spec: JobSpec, { name, upstream, effect }: ServedTool): Task {
  const principal = spec.principal ?? ALICE;
  return {
    id: 'tsk_test',
    owner: principal.key,
    tenant: principal.tenant,
    origin: '2025-11-25',
    handle: 'given',
    upstream,
    tool: name,
    effect,
    phase: 'working',
    createdAt: 0,
    updatedAt: 0,
    ttlMs: 3_600_000,
    pollIntervalMs: 1_000,
    asks: spec.asks ?? [],
    ...(effect === 'read' ? {} : { operationId: 'op_test' }),
    revision: 1,
  };
}

export const EVERY_ASK: readonly AskKind[] = [
  'elicitation-form',
  'elicitation-url',
  'sampling',
  'roots',
];

export const accept = (content: JsonObject): InputAnswer => ({
  kind: 'result',
  result: { action: 'accept', content },
});
