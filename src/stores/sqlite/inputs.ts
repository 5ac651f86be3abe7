import { invariant } from '../../kernel/invariant.ts';
import type { InputAnswer, InputRequest, Task } from '../../protocol/model.ts';
import type { Access } from '../access.ts';
import type { Fence } from '../attempts.ts';
import type {
  AnswerInputs,
  AnswerOutcome,
  AnsweredInput,
  AskRefusal,
  AskedInputs,
  InputStore,
  NewInput,
  OpenPage,
  WithdrawReason,
} from '../inputs.ts';
import type { JournalFact } from '../journal.ts';
import { roundLimit } from './limits.ts';
import type { Session, Tables } from './session.ts';
import { taskEvent } from './settlement.ts';
import { actorOf, isOverdue, isVisible } from './visibility.ts';
import { wakeIfAnswered } from './waking.ts';

/** A task is `input_required` exactly while one of its questions is pending: each method below keeps that. */
export function createInputStore({ commit, tables }: Session): InputStore {
  const { tasks, inputs } = tables;
  return {
    ask: (fence, asked, facts = []) =>
      commit.write((now) => ask(tables, now, { fence, asked, facts })),
    answer: (access, params) => commit.write((now) => answer(tables, now, { access, params })),
    withdraw: (taskId, keys, reason) =>
      commit.write((now) => withdraw(tables, now, { taskId, keys, reason })),
    listPending: (access, taskId) =>
      commit.read((now) => {
        const task = tasks.find(taskId);
        return task && isVisible(task, access, now) ? inputs.listPending(now, taskId) : [];
      }),
    listOpen: (access, taskId) =>
      commit.read((now) => {
        const task = tasks.find(taskId);
        return task && isVisible(task, access, now) ? inputs.listOpen(taskId) : [];
      }),
    answerOf: (taskId, key) => commit.read(() => inputs.findAnswer(taskId, key)),
    listDue: (limit) => commit.read((now) => inputs.listDue(now, roundLimit(limit))),
    find: (taskId, key) => commit.read(() => inputs.find(taskId, key)),
    openPage: (access, page) => commit.write((now) => openPage(tables, now, { access, page })),
    findByConfirmation: (access, confirmationHash) =>
      commit.read((now) => confirmable(tables, now, { access, confirmationHash })?.input),
    confirm: (access, confirmationHash, word) =>
      commit.write((now) => confirm(tables, now, { access, confirmationHash, answer: word })),
    openTimeMs: (taskId) => commit.read((now) => inputs.openTimeMs(now, taskId)),
    countOpen: () => commit.read(() => inputs.countOpen()),
  };
}

interface Asking {
  readonly fence: Fence;
  readonly asked: readonly NewInput[];
  readonly facts: readonly JournalFact[];
}

function ask(tables: Tables, now: number, asking: Asking): AskedInputs {
  const { fence, asked, facts } = asking;
  invariant(asked.length > 0, 'asking means at least one question');
  const { taskId } = fence;
  const task = tables.tasks.find(taskId);
  if (task === undefined || task.phase === 'ended' || isOverdue(task, now)) {
    return { kind: 'refused', reason: 'ended' };
  }
  const refusal = refusalOf(tables, asking);
  if (refusal !== undefined) return { kind: 'refused', reason: refusal };
  tables.journal.append(taskId, facts);
  const inputs = asked.map((input) => tables.inputs.insert(now, taskId, input));
  for (const { key: reason } of inputs) {
    tables.events.append(now, taskEvent('task.input_asked', { task, reason }));
  }
  return {
    kind: 'asked',
    task: tables.tasks.setPhase(now, taskId, 'input_required') ?? task,
    inputs,
  };
}

function refusalOf(tables: Tables, { fence, asked, facts }: Asking): AskRefusal | undefined {
  const { taskId } = fence;
  if (tables.attempts.held(fence) === undefined) return 'fenced';
  const keys = new Set(asked.map(({ key }) => key));
  if (keys.size < asked.length || asked.some(({ key }) => tables.inputs.isUsed(taskId, key))) {
    return 'key_reused';
  }
  return tables.journal.fits(taskId, facts) ? undefined : 'conflict';
}

interface Answering {
  readonly access: Access;
  readonly params: AnswerInputs;
}

function answer(tables: Tables, now: number, { access, params }: Answering): AnswerOutcome {
  const task = tables.tasks.find(params.taskId);
  if (task === undefined || !isVisible(task, access, now)) return { kind: 'missing' };
  // A caller may name any number of keys; only those that are open cost a statement.
  const open = new Set(tables.inputs.listPending(now, task.id).map(({ key }) => key));
  const taken = params.answers.filter(
    (input) => open.delete(input.key) && tables.inputs.answer(now, task.id, input),
  );
  const ignored = params.answers.filter((input) => !taken.includes(input)).map(({ key }) => key);
  return { kind: 'taken', taken, ignored, ...afterAnswers(tables, now, { task, access, taken }) };
}

interface Answers {
  readonly task: Task;
  readonly access: Access;
  readonly taken: readonly AnsweredInput[];
}

/** What follows from answers that were taken, whichever way they came. */
function afterAnswers(tables: Tables, now: number, { task, access, taken }: Answers) {
  if (taken.length === 0) return { task, resumed: false };
  const actor = actorOf(access);
  for (const { key: reason } of taken) {
    tables.events.append(now, taskEvent('task.input_answered', { task, actor, reason }));
  }
  const after = resume(tables, now, task);
  return { task: after, resumed: !tables.inputs.hasOpen(task.id) };
}

interface OpeningPage {
  readonly access: Access;
  readonly page: OpenPage;
}

function openPage(tables: Tables, now: number, { access, page }: OpeningPage) {
  const { taskId, key, message } = page;
  const task = tables.tasks.find(taskId);
  if (task === undefined || !isVisible(task, access, now)) return undefined;
  if (!tables.inputs.openPage(now, taskId, key)) return undefined;
  const actor = actorOf(access);
  tables.events.append(now, taskEvent('task.input_page_opened', { task, actor, reason: key }));
  if (message !== undefined) tables.tasks.setMessage(now, taskId, message);
  return resume(tables, now, task);
}

interface Confirmation {
  readonly access: Access;
  readonly confirmationHash: string;
}

/** The open question that this confirmation is for, where the one who confirms may see its task. */
function confirmable(tables: Tables, now: number, { access, confirmationHash }: Confirmation) {
  const input: InputRequest | undefined = tables.inputs.findOpenBy(now, confirmationHash);
  const task = input && tables.tasks.find(input.taskId);
  return input && task && isVisible(task, access, now) ? { input, task } : undefined;
}

interface Confirming extends Confirmation {
  readonly answer: InputAnswer;
}

function confirm(tables: Tables, now: number, confirming: Confirming): AnswerOutcome {
  const found = confirmable(tables, now, confirming);
  if (found === undefined) return { kind: 'missing' };
  const { task, input } = found;
  const taken = [{ key: input.key, answer: confirming.answer }];
  tables.inputs.confirm(now, task.id, { key: input.key, answer: confirming.answer });
  stopWaiting(tables, now, input);
  const { access } = confirming;
  return {
    kind: 'taken',
    taken,
    ignored: [],
    ...afterAnswers(tables, now, { task, access, taken }),
  };
}

interface Withdrawing {
  readonly taskId: string;
  readonly keys: readonly string[];
  readonly reason: WithdrawReason;
}

function withdraw(tables: Tables, now: number, { taskId, keys, reason }: Withdrawing) {
  const task = tables.tasks.find(taskId);
  if (task === undefined || !isVisible(task, 'system', now)) return undefined;
  const closed = keys.filter((key) => {
    const waited = tables.inputs.find(taskId, key)?.input;
    const isClosed = tables.inputs.close(now, taskId, { key, reason });
    if (isClosed && waited) stopWaiting(tables, now, waited);
    return isClosed;
  });
  for (const key of closed) {
    const event = taskEvent('task.input_withdrawn', { task, reason: `${reason} ${key}` });
    tables.events.append(now, event);
    if (reason === 'expired') noteDefault(tables, now, { task, key });
  }
  return closed.length > 0 ? resume(tables, now, task) : task;
}

/** The status said that a page is waited for. */
function stopWaiting({ tasks }: Tables, now: number, { taskId, state }: InputRequest): void {
  if (state === 'confirming') tasks.setMessage(now, taskId, undefined);
}

/** What goes on by default goes on without anybody's word, and the record says so (decision 8). */
function noteDefault(
  { inputs, events }: Tables,
  now: number,
  { task, key }: { readonly task: Task; readonly key: string },
): void {
  if (inputs.find(task.id, key)?.input.policy?.onExpiry === 'default')
    events.append(now, taskEvent('task.input_nobody_answered', { task, reason: key }));
}

/** Back to `working` when no question is pending any more; on with the handler when none is open. */
function resume(tables: Tables, now: number, task: Task): Task {
  if (!tables.inputs.hasPending(task.id)) {
    tables.tasks.setPhase(now, task.id, 'working');
    wakeIfAnswered(tables, now, task.id);
  }
  return tables.tasks.find(task.id) ?? task; // its message may have changed too
}
