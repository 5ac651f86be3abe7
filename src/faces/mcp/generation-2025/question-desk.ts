import { hasScope } from '../../../identity/permissions.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { objectAt } from '../../../kernel/json.ts';
import { messageOf, type Logger } from '../../../kernel/logger.ts';
import type { InputAnswer, InputRequest, Task } from '../../../protocol/model.ts';
import { RELATED_TASK_META } from '../../../protocol/names.ts';
import type { ClosedBecause, TaskEvent } from '../../../runtime/feed.ts';
import { isPageOfOurs } from '../../../runtime/page-content.ts';
import type { Answered, Receiver } from '../../../runtime/receiver.ts';
import { canBeAsked } from '../client-capabilities.ts';
import { createCarriers, type Carrier, type Carriers } from './carriers.ts';
import type { Hub } from './hub.ts';
import type { Lane } from './lane.ts';
import { createPageBook, type PageBook } from './page-book.ts';
import { createQuestionBook, type Question } from './question-book.ts';
import { questionRequest } from './question-request.ts';
import type { ResponseVerdict, Session } from './session.ts';

/**
 * Brings the questions of tasks to clients of 2025-11-25 and older as requests.
 *
 * Of each input key at most one request is outstanding, over all streams and sessions of its owner. It goes on a
 * carrier of its task where one is open, else on a GET stream (T3). When the stream drops, the next one that opens gets
 * it again under a new id, or another open one after a grace, and the old id's answer is ignored (T4).
 */
export interface QuestionDesk {
  /**
   * Returns the way to end it. `keepsAsks`: its request is answered in order, so that the client goes on showing what was
   * asked on it, and is not asked again.
   */
  attach(taskId: string, carrier: Carrier): (end?: { readonly keepsAsks: boolean }) => void;
  carrierOf(taskId: string, session: Session): Carrier | undefined;
  /** Questions that somebody has just read from the store: they may have been asked before this process began. */
  notice(task: Task, inputs: readonly InputRequest[]): void;
  pending(taskId: string): readonly InputRequest[];
  onEvent(event: TaskEvent): void;
  /** A session's GET stream has opened or closed. */
  turned(session: Session): void;
}

export interface QuestionDeskOptions {
  readonly receiver: Receiver;
  readonly hub: Hub;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a client whose stream dropped may take to come back before another stream is used. */
export const REDELIVER_MS = 3000;
/** What a client reads when a question that it shows is over. */
const CLOSING_WORDS: Readonly<Record<ClosedBecause, string>> = {
  answered: 'the question is closed: it was answered',
  opened: 'the question is closed: its page was opened',
  expired: 'the question has expired: it was not answered in time',
  withdrawn: 'the question is closed: it is not asked any more',
};
/** How often one question goes back to a client whose answers to it make no sense. */
const MALFORMED_MAX = 3;

/** Whom to ask: a client that can be asked this kind, for a credential that may answer. */
const mayAnswer = ({ asks, principal }: Session, input: InputRequest): boolean =>
  canBeAsked(asks, input) && hasScope(principal(), 'task.answer');

/** The GET stream for a question: of a session that knows its task before others; for Tasks of 2026 of no other. */
function standaloneFor(hub: Hub, { task, input }: Question): Carrier | undefined {
  if (task.origin === 'plain' && task.handle !== 'given') return undefined;
  const candidates = hub
    .listenersOf(task)
    .filter((session) => session.standalone.isOpen() && mayAnswer(session, input));
  const knowing = candidates.find((session) => session.knows(task.id));
  const session = knowing ?? (task.origin === '2025-11-25' ? candidates.at(-1) : undefined);
  return session && { session, lane: session.standalone };
}

/** Who called plainly or by job tools knows no task, unless it has asked for it by name or was given its handle. */
const knowsTask = (session: Session, { id, origin }: Task): boolean =>
  (origin !== 'plain' && origin !== 'job') || session.knows(id);

type Deliver = (question: Question) => void;

/** What stops an answer before it is looked at: it names another task, so it may be forged (T10). */
function foreignProblem({ input }: Question, answer: InputAnswer): string | undefined {
  if (answer.kind === 'error') return undefined;
  const named = objectAt(objectAt(answer.result, '_meta'), RELATED_TASK_META)?.['taskId'];
  return named === undefined || named === input.taskId
    ? undefined
    : 'related-task names another task than the question';
}

function verdictOf(key: string, answered: Answered): ResponseVerdict {
  if (answered.kind === 'malformed') return { kind: 'malformed', problem: answered.problem };
  if (answered.kind === 'missing') return { kind: 'ignored' };
  if (answered.taken.includes(key)) return { kind: 'taken' };
  return { kind: answered.expired.includes(key) ? 'expired' : 'ignored' };
}

interface Delivery {
  readonly options: QuestionDeskOptions;
  readonly carriers: Carriers;
  readonly pages: PageBook;
}

function createDeliver({ options, carriers, pages }: Delivery): Deliver {
  const { receiver, hub, logger } = options;
  const judge = (question: Question, session: Session, answer: InputAnswer): Promise<Answered> => {
    const { taskId, key } = question.input;
    const problem = foreignProblem(question, answer);
    return problem === undefined
      ? receiver.answer(session.principal(), taskId, { [key]: answer })
      : Promise.resolve({ kind: 'malformed', key, problem });
  };
  const answered = async (
    question: Question,
    session: Session,
    answer: InputAnswer,
  ): Promise<ResponseVerdict> => {
    const { key } = question.input;
    question.state = 'answering';
    delete question.sent;
    const outcome = await judge(question, session, answer);
    if (outcome.kind === 'taken') return verdictOf(key, outcome); // its end comes as an event
    const problem = outcome.kind === 'malformed' ? outcome.problem : 'not by this credential';
    logger.warn('face.answer_refused', { key, problem });
    question.state = 'open';
    question.malformed += 1;
    question.problem = problem;
    deliver(question);
    return verdictOf(key, outcome);
  };
  const onAnswer = (question: Question, session: Session) => (answer: InputAnswer) =>
    answered(question, session, answer).catch((error: unknown) => {
      question.state = 'open';
      logger.error('face.answer_failed', { problem: messageOf(error) });
      throw error;
    });
  const pick = (question: Question): Carrier | undefined =>
    carriers
      .openFor(question.task.id)
      .find(
        ({ session, takes }) =>
          mayAnswer(session, question.input) && (takes?.(question.input) ?? true),
      ) ?? standaloneFor(hub, question);
  const deliver: Deliver = (question) => {
    if (question.state === 'answering' || question.malformed >= MALFORMED_MAX) return;
    if (question.sent?.lane.isOpen()) return;
    const carrier = pick(question);
    if (!carrier) return;
    if (question.sent?.kept === true && question.sent.session === carrier.session) return;
    question.sent?.ask.supersede();
    const { session, lane } = carrier;
    const { input, problem } = question;
    const related = knowsTask(session, question.task);
    const request = questionRequest(input, { related, problem });
    if (isPageOfOurs(input)) pages.sent(input.key, session);
    question.sent = { ...carrier, ask: session.ask(lane, request, onAnswer(question, session)) };
  };
  return deliver;
}

export function createQuestionDesk(options: QuestionDeskOptions): QuestionDesk {
  const book = createQuestionBook();
  const carriers = createCarriers();
  const carrierOf = (taskId: string, session: Session): Carrier | undefined =>
    carriers.openFor(taskId).find((carrier) => carrier.session === session);
  const pages = createPageBook({
    hub: options.hub,
    laneOf: (taskId, session) => carrierOf(taskId, session)?.lane ?? session.standalone,
  });
  const deliver = createDeliver({ options, carriers, pages });
  const deliverAll = (taskId: string): void => book.of(taskId).forEach(deliver);
  const turnedLane = (taskId: string, lane: Lane): void => {
    if (lane.isOpen()) deliverAll(taskId);
    else options.clock.after(REDELIVER_MS, () => deliverAll(taskId));
  };
  const notice = (task: Task, inputs: readonly InputRequest[]): void => {
    book.enter(task, inputs);
    deliverAll(task.id);
  };
  const close = (taskId: string, keys: readonly string[], why: ClosedBecause): void => {
    for (const key of keys) {
      const ask = book.remove(taskId, key)?.sent?.ask;
      if (why === 'expired') ask?.expire(CLOSING_WORDS[why]);
      else ask?.cancel(CLOSING_WORDS[why]);
      if (why !== 'opened') pages.forget(key);
    }
  };
  const pending = (taskId: string): readonly InputRequest[] =>
    book.of(taskId).map(({ input }) => input);

  /** Questions of an earlier process, or of another one, that this client has not seen yet. */
  const askAgain = async (session: Session): Promise<void> => {
    try {
      const asking = await options.receiver.asking(session.principal());
      for (const { task, inputs } of asking) notice(task, inputs);
    } catch (error) {
      options.logger.warn('face.questions_unread', { problem: messageOf(error) });
    }
  };

  return {
    notice,
    pending,
    attach(taskId, carrier) {
      const remove = carriers.add(taskId, carrier);
      const ignore = carrier.lane.onTurn(() => turnedLane(taskId, carrier.lane));
      deliverAll(taskId);
      return ({ keepsAsks } = { keepsAsks: false }) => {
        ignore();
        remove();
        for (const { sent } of book.of(taskId))
          if (keepsAsks && sent?.lane === carrier.lane) sent.kept = true;
      };
    },
    carrierOf,
    onEvent(event) {
      if (event.kind === 'asked') notice(event.task, event.inputs);
      if (event.kind === 'closed') close(event.taskId, event.keys, event.why);
      if (event.kind === 'confirmed') pages.confirmed(event.taskId, event.key);
      if (event.kind === 'changed' && event.task.phase === 'ended')
        close(
          event.task.id,
          pending(event.task.id).map(({ key }) => key),
          'withdrawn',
        );
    },
    turned(session) {
      const { standalone } = session;
      for (const taskId of book.tasks()) turnedLane(taskId, standalone);
      if (standalone.isOpen()) void askAgain(session);
    },
  };
}
