import { createDeferred, type Deferred } from '../../kernel/deferred.ts';
import { newId } from '../../kernel/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Random } from '../../kernel/random.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { FoundInput } from '../../stores/inputs.ts';
import type { Confirmations } from '../confirmations.ts';
import type { Job } from '../job.ts';
import { isAnonymousTask } from '../name-in-logs.ts';
import { sealedContentOf } from '../page-content.ts';
import { createAskDeed, foundOf, type AskDeedOptions, type NamedQuestion } from './ask-deed.ts';
import type { Conductor } from './conductor.ts';
import type {
  FormAnswer,
  FormQuestion,
  JobContext,
  SealedValue,
  StepSite,
  UrlQuestion,
} from './context.ts';
import type { Names } from './names.ts';
import { formAnswerOf, newFormInput, newUrlInput, urlAnswerOf } from './questions.ts';
import { createSecretDeed } from './secret-deed.ts';
import { StepRefused } from './step-refused.ts';
import { createOutcome } from './work.ts';

export interface JobQuestionsOptions {
  readonly job: Pick<Job, 'task' | 'journal'>;
  readonly conductor: Pick<Conductor, 'take' | 'refuse'>;
  readonly names: Names;
  /** Of the works that see a sealed value. */
  readonly signal: AbortSignal;
  readonly random: Random;
  readonly vault: Vault;
  readonly confirmations: Confirmations;
}

type Found = ReadonlyMap<string, FoundInput>;

/** What the journal keeps of a page that has sent something sealed: that it has, after it was erased. */
const SEALED_NOTE: JsonObject = { sealed: true };

/** Asking in the name of a handler. */
export function createJobQuestions(
  options: JobQuestionsOptions,
): Pick<JobContext, 'ask' | 'askAll' | 'askUrl'> {
  const askForms = <Name extends string>(
    forms: Readonly<Record<Name, FormQuestion>>,
  ): Promise<Readonly<Record<Name, FormAnswer>>> => {
    const named = Object.entries<FormQuestion>(forms);
    return begin(options, {
      questions: named.map(([name, form]) => formNamed(options, name, form)),
      read: (found) =>
        Object.fromEntries(
          named.map(([name, form]) => [name, formAnswerOf(foundOf(found, name), form)]),
        ) as Record<Name, FormAnswer>,
    });
  };
  return {
    ask: async (name, form) => (await askForms({ [name]: form }))[name] as FormAnswer,
    askAll: askForms,
    askUrl: (name, question) =>
      begin(options, {
        questions: [pageNamed(options, name, question)],
        note: (found) => (sealedIn(found, name) ? SEALED_NOTE : undefined),
        read(found, note) {
          const { input } = foundOf(found, name);
          const sealed = sealedValue(options, input.key);
          const wasSealed = isJsonObject(note) && note['sealed'] === true;
          if (wasSealed) return { action: 'confirmed', sealed };
          return urlAnswerOf(foundOf(found, name), question, () => sealed);
        },
      }),
  };
}

function formNamed(
  { job, random }: JobQuestionsOptions,
  name: string,
  form: FormQuestion,
): NamedQuestion {
  const { effect } = job.task;
  const make = (maxOpenMs: number) =>
    newFormInput(form, { key: newId('input', random), maxOpenMs, effect });
  return { name, make };
}

function pageNamed(
  { job, random, confirmations }: JobQuestionsOptions,
  name: string,
  question: UrlQuestion,
): NamedQuestion {
  const make = (maxOpenMs: number) =>
    newUrlInput(question, {
      key: newId('input', random),
      maxOpenMs,
      confirmation: confirmations.issue(),
      anonymous: isAnonymousTask(job.task),
    });
  return { name, make };
}

interface Asking<T> extends Pick<AskDeedOptions, 'questions' | 'note'> {
  readonly read: (found: Found, note: Json | undefined) => T;
}

function begin<T>(
  { job, names, conductor }: JobQuestionsOptions,
  { questions, read, note }: Asking<T>,
): Promise<T> {
  const answer: Deferred<T> = createDeferred<T>();
  answer.promise.catch(() => undefined); // a handler need not wait for everything that it began
  for (const { name } of questions) {
    const problem = names.claim(name);
    if (!problem) continue;
    conductor.refuse({ why: problem, refuse: answer.reject });
    return answer.promise;
  }
  conductor.take(
    createAskDeed({
      questions,
      task: job.task,
      journal: job.journal,
      ...(note ? { note } : {}),
      answer: (found, remembered) => answer.resolve(read(found, remembered)),
      refuse: answer.reject,
    }),
  );
  return answer.promise;
}

function sealedIn(found: Found, name: string): boolean {
  const answer = found.get(name)?.answer;
  return answer?.kind === 'result' && sealedContentOf(answer.result) !== undefined;
}

function sealedValue(
  { job, names, conductor, signal, vault }: JobQuestionsOptions,
  key: string,
): SealedValue {
  let used = false;
  const place = { taskId: job.task.id, key };
  return {
    use<T>(name: string, work: (value: JsonObject, at: StepSite) => T | Promise<T>): Promise<T> {
      const outcome = createOutcome();
      const problem = used
        ? new StepRefused(name, 'cannot use the sealed value: it was used before, and once is all')
        : names.claim(name);
      used = true;
      if (problem) conductor.refuse({ why: problem, refuse: outcome.refuse });
      else {
        const guarded = names.around(name, work);
        const { journal } = job;
        conductor.take(
          createSecretDeed({ name, place, signal, journal, vault, work: guarded, outcome }),
        );
      }
      return outcome.promise as Promise<T>;
    },
  };
}
