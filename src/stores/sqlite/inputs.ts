import { invariant } from '../../kernel/invariant.ts';
import type { Task } from '../../protocol/model.ts';
import type { Access } from '../access.ts';
import type { Fence } from '../attempts.ts';
import type {
  AnswerInputs,
  AnswerOutcome,
  AskedInputs,
  InputStore,
  NewInput,
  WithdrawReason,
} from '../inputs.ts';
import { roundLimit } from './limits.ts';
import type { Session, Tables } from './session.ts';
import { taskEvent } from './settlement.ts';
import { actorOf, isOverdue, isVisible } from './visibility.ts';

/** A task is `input_required` exactly while one of its questions is pending: each method below keeps that. */
export function createInputStore({ commit, tables }: Session): InputStore {
  const { tasks, inputs } = tables;
  return {
    ask: (fence, asked) => commit.write((now) => ask(tables, now, { fence, asked })),
    answer: (access, params) => commit.write((now) => answer(tables, now, { access, params })),
    withdraw: (taskId, keys, reason) =>
      commit.write((now) => withdraw(tables, now, { taskId, keys, reason })),
    listPending: (access, taskId) =>
      commit.read((now) => {
        const task = tasks.find(taskId);
        return task && isVisible(task, access, now) ? inputs.listPending(now, taskId) : [];
      }),
    answerOf: (taskId, key) => commit.read(() => inputs.findAnswer(taskId, key)),
    listDue: (limit) => commit.read((now) => inputs.listDue(now, roundLimit(limit))),
  };
}

interface Asking {
  readonly fence: Fence;
  readonly asked: readonly NewInput[];
}

function ask(tables: Tables, now: number, { fence, asked }: Asking): AskedInputs {
  invariant(asked.length > 0, 'asking means at least one question');
  const { taskId } = fence;
  const task = tables.tasks.find(taskId);
  if (task === undefined || task.phase === 'ended' || isOverdue(task, now)) {
    return { kind: 'refused', reason: 'ended' };
  }
  if (tables.attempts.held(fence) === undefined) return { kind: 'refused', reason: 'fenced' };
  const keys = new Set(asked.map(({ key }) => key));
  if (keys.size < asked.length || asked.some(({ key }) => tables.inputs.isUsed(taskId, key))) {
    return { kind: 'refused', reason: 'key_reused' };
  }
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
  const actor = actorOf(access);
  for (const { key: reason } of taken) {
    tables.events.append(now, taskEvent('task.input_answered', { task, actor, reason }));
  }
  const resumed = taken.length > 0 ? resume(tables, now, task) : undefined;
  return { kind: 'taken', task: resumed ?? task, taken, ignored, resumed: resumed !== undefined };
}

interface Withdrawing {
  readonly taskId: string;
  readonly keys: readonly string[];
  readonly reason: WithdrawReason;
}

function withdraw(tables: Tables, now: number, { taskId, keys, reason }: Withdrawing) {
  const task = tables.tasks.find(taskId);
  if (task === undefined || !isVisible(task, 'system', now)) return undefined;
  const state = reason === 'expired' ? 'expired' : 'withdrawn';
  const closed = keys.filter((key) => tables.inputs.close(now, taskId, { key, state }));
  for (const key of closed) {
    const event = taskEvent('task.input_withdrawn', { task, reason: `${reason} ${key}` });
    tables.events.append(now, event);
  }
  return (closed.length > 0 ? resume(tables, now, task) : undefined) ?? task;
}

/** Back to `working` when no question is left; nothing where some are. */
function resume(tables: Tables, now: number, task: Task): Task | undefined {
  if (tables.inputs.hasPending(task.id)) return undefined;
  return tables.tasks.setPhase(now, task.id, 'working');
}
