import { safeText } from '../../kernel/text.ts';
import type { Random } from '../../kernel/random.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { Confirmations } from '../confirmations.ts';
import type { Job } from '../job.ts';
import { isAnonymousTask } from '../name-in-logs.ts';
import type { Conductor } from './conductor.ts';
import type { EffectSite, JobContext, JobPrincipal, StepSite } from './context.ts';
import type { Deed } from './deed.ts';
import { createEffectDeed } from './effect-deed.ts';
import type { EffectKeys } from './effect-keys.ts';
import { createJobQuestions } from './job-questions.ts';
import { jsonCopy } from './journal-value.ts';
import { createNames } from './names.ts';
import { createSleepDeed } from './sleep-deed.ts';
import { createStepDeed } from './step-deed.ts';
import { createOutcome, type Outcome } from './work.ts';

export interface JobContextOptions {
  readonly job: Job;
  readonly conductor: Pick<Conductor, 'take' | 'refuse' | 'replaying'>;
  /** Aborted with an Error as its reason when the run is told to stop. */
  readonly signal: AbortSignal;
  /** The same for the works of steps; aborted too when the run is over, so that none outlives it. */
  readonly workSignal: AbortSignal;
  readonly keys: EffectKeys;
  readonly random: Random;
  readonly vault: Vault;
  readonly confirmations: Confirmations;
}

/** What a handler gets to work with: everything that it asks for goes through the conductor, in the order of the calls. */
export function createJobContext(options: JobContextOptions): JobContext {
  const { job, conductor, workSignal: signal, keys, random } = options;
  const { task, journal } = job;
  const names = createNames();

  const begin = <T>(name: string, make: (outcome: Outcome) => Deed): Promise<T> => {
    const outcome = createOutcome();
    const problem = names.claim(name);
    if (problem) conductor.refuse({ why: problem, refuse: outcome.refuse });
    else conductor.take(make(outcome));
    return outcome.promise as Promise<T>;
  };

  return {
    ...standingOf(options),
    step: <T>(name: string, work: (at: StepSite) => T | Promise<T>) =>
      begin<T>(name, (outcome) =>
        createStepDeed({ name, signal, work: names.around(name, work), outcome }),
      ),
    effect: <T>(name: string, work: (at: EffectSite) => T | Promise<T>) =>
      begin<T>(name, (outcome) => {
        const guarded = names.around(name, work);
        return createEffectDeed({
          name,
          task,
          signal,
          journal,
          keys,
          random,
          work: guarded,
          outcome,
        });
      }),
    sleepUntil: (name, at) =>
      begin<undefined>(name, (outcome) => createSleepDeed({ name, at, task, journal, outcome })),
    ...createJobQuestions({ ...options, signal, names }),
    ...tellingOf(options),
  };
}

type Standing = Pick<
  JobContext,
  'taskId' | 'operationId' | 'principal' | 'attempt' | 'signal' | 'deadline' | 'key'
>;

function standingOf({ job, signal, keys }: JobContextOptions): Standing {
  const { task } = job;
  return {
    taskId: task.id,
    ...(task.operationId === undefined ? {} : { operationId: task.operationId }),
    principal: principalOf(job),
    attempt: job.attempt,
    signal,
    deadline: job.deadline,
    key: keys.keyOf(task),
  };
}

function principalOf({ task, request }: Job): JobPrincipal {
  const anonymous = isAnonymousTask(task);
  const subject = request.subject ?? (anonymous ? 'anonymous' : task.owner);
  return { key: task.owner, tenant: task.tenant, subject, anonymous };
}

const finite = (value: number | undefined): number | undefined =>
  Number.isFinite(value) ? value : undefined;

/** What was told in an earlier attempt is not told again. Authors in JavaScript may hand in anything. */
function tellingOf({ job, conductor }: JobContextOptions): Pick<JobContext, 'progress' | 'log'> {
  return {
    progress(done, total, text) {
      if (conductor.replaying()) return;
      const message = typeof text === 'string' ? safeText(text) : undefined;
      if (message !== undefined) job.status(message);
      if (Number.isFinite(done)) job.progress({ progress: done, total: finite(total), message });
    },
    log(level, data) {
      if (!conductor.replaying())
        job.log({ level, logger: job.tool.name, data: jsonCopy(data) ?? null });
    },
  };
}
