import type {
  AttemptDocument,
  InputDocument,
  TaskDetail,
  TaskDocument,
} from '../admin/documents.ts';
import { GENERATIONS } from '../protocol/model.ts';
import type { Printer } from './output/printer.ts';
import type { Cell, Fact } from './output/table.ts';
import { outcomeCell, protocolCell } from './two-columns.ts';

const quiet = (text: string): Cell => ({ text, tone: 'quiet' });
const plain = (text: string): Cell => ({ text });

/** The two columns under each other, each with what it means. */
export function columnFacts(task: TaskDocument, { style }: Printer): readonly Fact[] {
  const { protocol, outcome, operation } = task;
  const readers = GENERATIONS.map((reader) => `${protocol.status[reader]} for ${reader}`);
  const stands = operation === null ? [] : [plain(operationWords(operation))];
  return [
    ['protocol', protocolCell(task, style), quiet(readers.join(', '))],
    ['outcome', outcomeCell(outcome, style), quiet(outcome.explanation)],
    ['send again', plain(outcome.advice)],
    ['operation', ...stands],
  ];
}

const operationWords = ({ id, state, reason }: NonNullable<TaskDocument['operation']>): string =>
  `${id}  ${state}${reason === null ? '' : ` (${reason})`}`;

/** Everything about one task for people; text of peers stays on its line. */
export function taskFacts(task: TaskDetail, printer: Printer): readonly Fact[] {
  const { moment } = printer;
  const when = (iso: string | null): readonly Cell[] => (iso === null ? [] : [plain(moment(iso))]);
  return [
    ['task', plain(task.id)],
    ['tool', plain(`${task.tool} of ${task.upstream} (${task.effect})`)],
    ['asked by', plain(`${task.owner} in ${task.tenant}`), quiet(originWords(task))],
    ...columnFacts(task, printer),
    ['message', ...(task.message === null ? [] : [plain(task.message)])],
    ['created', ...when(task.createdAt)],
    ['changed', ...when(task.updatedAt)],
    ['cancel asked', ...when(task.cancelRequestedAt)],
    ['kept until', ...when(task.expiresAt)],
    ['attempts', ...task.attempts.map((attempt) => plain(attemptWords(attempt, printer)))],
    ['waits for', ...task.inputs.map((input) => plain(inputWords(input, printer)))],
    ['events', ...task.events.map((event) => quiet(eventWords(event, printer)))],
  ];
}

const ORIGINS = {
  '2025-11-25': 'a task of 2025-11-25',
  '2026-07-28': 'a task of 2026-07-28',
  plain: 'a plain call',
  job: 'a job, of job tools or REST',
} as const satisfies Record<TaskDocument['origin'], string>;

function originWords({ origin, handle }: TaskDocument): string {
  const handles = {
    pending: 'its handle has not been written',
    given: 'its handle was given out',
    inline: 'answered without a handle',
  };
  return `${ORIGINS[origin]}; ${handles[handle]}`;
}

function attemptWords(attempt: AttemptDocument, { moment }: Printer): string {
  const sent =
    attempt.dispatchedAt === null ? 'nothing sent' : `sent ${moment(attempt.dispatchedAt)}`;
  const follows = attempt.observesUpstreamTask ? ', follows a task of the upstream' : '';
  return `${attempt.number}  ${attempt.state}, ${sent}${follows}`;
}

const inputWords = (input: InputDocument, { moment }: Printer): string =>
  `${input.key}  ${questionWords(input)}, expires ${moment(input.expiresAt)} (then: ${input.onExpiry})`;

/** What kind of question it is and what it asks for, never the question itself. */
function questionWords({ mode, method, state, classes }: InputDocument): string {
  const what = mode === null ? method : `${mode} with ${classes.join(' and ')} data`;
  return state === 'confirming' ? `${what}, waits for its page to confirm` : what;
}

const eventWords = (
  { at, type, actor, reason }: TaskDetail['events'][number],
  p: Printer,
): string => `${p.moment(at)}  ${type} by ${actor}${reason === null ? '' : ` (${reason})`}`;
