import { mayOn } from '../identity/permissions.ts';
import type { InputAnswer, InputRequest } from '../protocol/model.ts';
import type { Access } from '../stores/access.ts';
import type { AnsweredInput } from '../stores/inputs.ts';
import { answerProblem } from './answer-shape.ts';
import type { ContentCheck } from './content-check.ts';
import { accessOf, type Core } from './core.ts';
import { isPageOfOurs, PAGE_OPEN_MESSAGE } from './page-content.ts';
import type { Answered, Receiver } from './receiver.ts';

/** Of the keys that were not open any more, so many are looked up to say why: a caller may name any number. */
const LATE_LOOKED_UP_MAX = 32;

interface Sorted {
  /** Answers that close their question. */
  readonly live: readonly AnsweredInput[];
  /** Pages that the owner consented to open: what happened there the page itself will say (G1-52, G2-71). */
  readonly opened: readonly string[];
  readonly ignored: readonly string[];
}

type Malformed = Extract<Answered, { kind: 'malformed' }>;

interface Sorting {
  readonly pending: readonly InputRequest[];
  readonly answers: Readonly<Record<string, InputAnswer>>;
  readonly check: ContentCheck;
}

const accepts = (answer: InputAnswer): boolean =>
  answer.kind === 'result' && answer.result['action'] === 'accept';

function sort({ pending, answers, check }: Sorting): Sorted | Malformed {
  const live: AnsweredInput[] = [];
  const opened: string[] = [];
  const ignored: string[] = [];
  for (const [key, answer] of Object.entries(answers)) {
    const question = pending.find((request) => request.key === key);
    const problem = question && answerProblem(question, answer, check);
    if (problem !== undefined) return { kind: 'malformed', key, problem };
    if (!question) ignored.push(key);
    else if (isPageOfOurs(question) && accepts(answer)) opened.push(key);
    else live.push({ key, answer });
  }
  return { live, opened, ignored };
}

/** Takes answers: all that are valid, each key once, nothing where one of them cannot be an answer (T28). */
export function createAnswer(core: Core, check: ContentCheck): Receiver['answer'] {
  const { store } = core;
  return async (principal, taskId, answers) => {
    const access = accessOf(principal);
    const task = await store.tasks.get(access, taskId);
    if (!task || !mayOn(principal, 'task.answer', task)) return { kind: 'missing' };
    const pending = await store.inputs.listPending(access, taskId);
    const sorted = sort({ pending, answers, check });
    if ('kind' in sorted) return sorted;
    const opened = await openPages(core, access, { taskId, keys: sorted.opened });
    const closed = await takeAnswers(core, access, { taskId, live: sorted.live });
    if (closed === undefined) return { kind: 'missing' };
    const ignored = [...sorted.ignored, ...opened.ignored, ...closed.ignored];
    const expired = await expiredOf(core, taskId, ignored);
    return { kind: 'taken', taken: [...opened.taken, ...closed.taken], ignored, expired };
  };
}

interface Taken {
  readonly taken: readonly string[];
  readonly ignored: readonly string[];
}

async function openPages(
  { store, announcer }: Core,
  access: Access,
  { taskId, keys }: { readonly taskId: string; readonly keys: readonly string[] },
): Promise<Taken> {
  const taken: string[] = [];
  for (const key of keys) {
    const page = { taskId, key, message: PAGE_OPEN_MESSAGE };
    const task = await store.inputs.openPage(access, page);
    if (!task) continue;
    taken.push(key);
    announcer.closed(taskId, [key], 'opened');
    announcer.changed(task);
  }
  return { taken, ignored: keys.filter((key) => !taken.includes(key)) };
}

async function takeAnswers(
  { store, announcer, desk, engine }: Core,
  access: Access,
  { taskId, live }: { readonly taskId: string; readonly live: readonly AnsweredInput[] },
): Promise<Taken | undefined> {
  if (live.length === 0) return { taken: [], ignored: [] };
  const answered = await store.inputs.answer(access, { taskId, answers: live });
  if (answered.kind === 'missing') return undefined;
  for (const { key, answer } of answered.taken) desk.reply(key, { kind: 'answer', answer });
  const taken = answered.taken.map(({ key }) => key);
  announcer.closed(taskId, taken, 'answered');
  if (taken.length > 0) announcer.changed(answered.task);
  if (answered.resumed) engine.wake();
  return { taken, ignored: answered.ignored };
}

/** Late is something else than wrong, and whoever answers late is to know it (Q1). */
async function expiredOf(
  { store }: Core,
  taskId: string,
  keys: readonly string[],
): Promise<readonly string[]> {
  const expired: string[] = [];
  for (const key of keys.slice(0, LATE_LOOKED_UP_MAX)) {
    const found = await store.inputs.find(taskId, key);
    const isLate = found?.input.state === 'expired';
    const isDue =
      found?.answer === undefined && (found?.input.expiresAt ?? Infinity) <= store.now();
    if (isLate || (isDue && found?.closedBecause === undefined)) expired.push(key);
  }
  return expired;
}
