import { isJsonObject, stringAt, type Json } from '../../kernel/json.ts';
import { messageOf } from '../../kernel/logger.ts';
import { safeText } from '../../kernel/text.ts';
import { askKindOf, type Task } from '../../protocol/model.ts';
import type { AskedInputs, FoundInput, NewInput } from '../../stores/inputs.ts';
import type { Journalled } from '../../stores/journal.ts';
import type { JobJournal } from '../job.ts';
import type { BegunFact, Deed, DeedEnd, Plan, Refusal } from './deed.ts';
import {
  isProblem,
  QuestionCancelsRun,
  QuestionWithdrawn,
  type QuestionProblem,
} from './questions.ts';
import { errorToThrow } from './step-error.ts';
import { StepRefused } from './step-refused.ts';

const PROBLEM_CHARS = 500;

/** One question of a deed, by its name in the handler. */
export interface NamedQuestion {
  readonly name: string;
  /** Makes the question; called once, when it is really asked. */
  make(maxOpenMs: number): NewInput | QuestionProblem;
}

export interface AskDeedOptions {
  readonly questions: readonly NamedQuestion[];
  readonly task: Task;
  readonly journal: Pick<JobJournal, 'ask' | 'findInput' | 'openMs'>;
  /** What the journal remembers of the answers: never themselves. */
  readonly note?: (found: ReadonlyMap<string, FoundInput>) => Json | undefined;
  /** Hands what became of the questions to the handler, by name. Throws what the handler is to get instead. */
  readonly answer: (found: ReadonlyMap<string, FoundInput>, note: Json | undefined) => void;
  readonly refuse: (why: Error) => void;
}

/** Questions to the owner: they wait in the store under their keys, and a later attempt finds them by these. */
export function createAskDeed(options: AskDeedOptions): Deed {
  const { questions, journal } = options;
  const name = questions.map((question) => question.name).join(', ');
  let inputs: readonly NewInput[] = [];
  return {
    kind: 'ask',
    name,
    async plan() {
      const planned = await planOf(options, name);
      if ('refusal' in planned) return planned;
      inputs = planned.inputs;
      return planned.plan;
    },
    begin: async (fact) => journalled(await journal.ask(inputs, fact)),
    pursue: (begun) => ({
      kind: 'waiting',
      onAnswers: true,
      look: () => look(options, begun),
    }),
    async deliver({ value, error }, begun) {
      if (error) return options.refuse(errorToThrow(error));
      const found = await findAll(options, begun);
      try {
        options.answer(found, value);
      } catch (thrown) {
        if (thrown instanceof QuestionCancelsRun) throw thrown;
        options.refuse(thrown as Error);
      }
    },
    refuse: options.refuse,
  };
}

interface PlannedAsk {
  readonly plan: Plan;
  readonly inputs: readonly NewInput[];
}

async function planOf(
  { questions, task, journal }: AskDeedOptions,
  deed: string,
): Promise<PlannedAsk | Refusal> {
  const maxOpenMs = await journal.openMs();
  const keys: Record<string, string> = {};
  const inputs: NewInput[] = [];
  for (const { name, make } of questions) {
    const made = madeBy(make, maxOpenMs);
    if (isProblem(made))
      return { refusal: new StepRefused(name, `cannot be asked: ${made.problem}`) };
    const kind = askKindOf(made.method, made.params);
    if (!task.asks.includes(kind))
      return {
        refusal: new StepRefused(name, `cannot be asked: the caller has not declared ${kind}`),
      };
    keys[name] = made.key;
    inputs.push(made);
  }
  if (inputs.length === 0) return { refusal: new StepRefused(deed, 'asks nothing') };
  return { plan: { note: { keys } }, inputs };
}

/** A question is made with code of the tool's author, its `url` for example: what that throws is the question's problem. */
function madeBy(make: NamedQuestion['make'], maxOpenMs: number): NewInput | QuestionProblem {
  try {
    return make(maxOpenMs);
  } catch (thrown) {
    return { problem: safeText(messageOf(thrown), PROBLEM_CHARS) || 'making it threw' };
  }
}

function journalled(asked: AskedInputs): Journalled {
  if (asked.kind === 'asked') return 'written';
  return asked.reason === 'key_reused' || asked.reason === 'conflict' ? 'conflict' : 'fenced';
}

/** Every question of the deed as the store knows it. One whose row is gone counts as taken back. */
async function findAll(
  { questions, journal }: AskDeedOptions,
  { note }: BegunFact,
): Promise<ReadonlyMap<string, FoundInput>> {
  const keys = isJsonObject(note) && isJsonObject(note['keys']) ? note['keys'] : {};
  const found = new Map<string, FoundInput>();
  for (const { name } of questions) {
    const input = await journal.findInput(stringAt(keys, name) ?? '');
    if (input) found.set(name, input);
  }
  return found;
}

const isOpen = ({ input }: FoundInput): boolean =>
  input.state === 'pending' || input.state === 'confirming';

async function look(options: AskDeedOptions, begun: BegunFact): Promise<DeedEnd | undefined> {
  const found = await findAll(options, begun);
  if (Array.from(found.values()).some(isOpen)) return undefined;
  const value = options.note?.(found);
  return value === undefined ? {} : { value };
}

/** The question of that name; throws where its row is gone. */
export function foundOf(found: ReadonlyMap<string, FoundInput>, name: string): FoundInput {
  const input = found.get(name);
  if (!input) throw new QuestionWithdrawn('the question is not known any more');
  return input;
}
