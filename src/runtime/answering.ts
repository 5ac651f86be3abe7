import { mayOn } from '../identity/permissions.ts';
import type { AnsweredInput } from '../stores/inputs.ts';
import { answerProblem } from './answer-shape.ts';
import type { ContentCheck } from './content-check.ts';
import { accessOf, type Core } from './core.ts';
import type { Receiver } from './receiver.ts';

/** Takes answers: all that are valid, each key once, nothing where one of them cannot be an answer (T28). */
export function createAnswer(core: Core, check: ContentCheck): Receiver['answer'] {
  const { store, announcer, desk } = core;
  return async (principal, taskId, answers) => {
    const access = accessOf(principal);
    const task = await store.tasks.get(access, taskId);
    if (!task || !mayOn(principal, 'task.answer', task)) return { kind: 'missing' };
    const pending = await store.inputs.listPending(access, taskId);
    const live: AnsweredInput[] = [];
    const ignored: string[] = [];
    for (const [key, answer] of Object.entries(answers)) {
      const question = pending.find((request) => request.key === key);
      const problem = question && answerProblem(question, answer, check);
      if (problem !== undefined) return { kind: 'malformed', key, problem };
      if (question) live.push({ key, answer });
      else ignored.push(key);
    }
    if (live.length === 0) return { kind: 'taken', taken: [], ignored };

    const answered = await store.inputs.answer(access, { taskId, answers: live });
    if (answered.kind === 'missing') return answered;
    for (const { key, answer } of answered.taken) desk.reply(key, { kind: 'answer', answer });
    const taken = answered.taken.map(({ key }) => key);
    announcer.closed(taskId, taken);
    if (taken.length > 0) announcer.changed(answered.task);
    return { kind: 'taken', taken, ignored: [...ignored, ...answered.ignored] };
  };
}
