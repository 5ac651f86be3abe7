import { hasScope } from '../../../identity/permissions.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { messageOf, type Logger } from '../../../kernel/logger.ts';
import type { InputAnswer, InputRequest, Task } from '../../../protocol/model.ts';
import type { TaskEvent } from '../../../runtime/feed.ts';
import type { Receiver } from '../../../runtime/receiver.ts';
import { canBeAsked } from '../client-capabilities.ts';
import { createCarriers, type Carrier, type Carriers } from './carriers.ts';
import type { Hub } from './hub.ts';
import type { Lane } from './lane.ts';
import { createQuestionBook, type Question } from './question-book.ts';
import { questionRequest } from './question-request.ts';
import type { Session } from './session.ts';

/**
 * Brings the questions of tasks to clients of 2025-11-25 and older as requests.
 *
 * Of each input key at most one request is outstanding, over all streams and sessions of its owner. It goes on a
 * carrier of its task where one is open, else on a GET stream (T3). When the stream drops, the next one that opens gets
 * it again under a new id, or another open one after a grace, and the old id's answer is ignored (T4).
 */
export interface QuestionDesk {
  attach(taskId: string, carrier: Carrier): () => void;
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
/** How often one question goes back to a client whose answers to it make no sense. */
const MALFORMED_MAX = 3;

/** Whom to ask: a client that can be asked this kind, for a credential that may answer. */
const mayAnswer = ({ asks, principal }: Session, input: InputRequest): boolean =>
  canBeAsked(asks, input) && hasScope(principal(), 'task.answer');

/** The GET stream for a question: of a session that knows its task before others; for Tasks of 2026 of no other. */
function standaloneFor(hub: Hub, { task, input }: Question): Carrier | undefined {
  if (task.origin === 'plain') return undefined;
  const candidates = hub
    .listenersOf(task)
    .filter((session) => session.standalone.isOpen() && mayAnswer(session, input));
  const knowing = candidates.find((session) => session.knows(task.id));
  const session = knowing ?? (task.origin === '2025-11-25' ? candidates.at(-1) : undefined);
  return session && { session, lane: session.standalone };
}

type Deliver = (question: Question) => void;

function createDeliver(
  { receiver, hub, logger }: QuestionDeskOptions,
  carriers: Carriers,
): Deliver {
  const answered = async (
    question: Question,
    session: Session,
    answer: InputAnswer,
  ): Promise<void> => {
    const { taskId, key } = question.input;
    question.state = 'answering';
    delete question.sent;
    const outcome = await receiver.answer(session.principal(), taskId, { [key]: answer });
    if (outcome.kind === 'taken') return; // its end comes as an event
    const problem = outcome.kind === 'malformed' ? outcome.problem : 'not by this credential';
    logger.warn('face.answer_refused', { key, problem });
    question.state = 'open';
    question.malformed += 1;
    deliver(question);
  };
  const onAnswer = (question: Question, session: Session) => (answer: InputAnswer) =>
    void answered(question, session, answer).catch((error: unknown) => {
      question.state = 'open';
      logger.error('face.answer_failed', { problem: messageOf(error) });
    });
  const pick = (question: Question): Carrier | undefined =>
    carriers.openFor(question.task.id).find(({ session }) => mayAnswer(session, question.input)) ??
    standaloneFor(hub, question);
  const deliver: Deliver = (question) => {
    if (question.state === 'answering' || question.malformed >= MALFORMED_MAX) return;
    if (question.sent?.lane.isOpen()) return;
    const carrier = pick(question);
    if (!carrier) return;
    question.sent?.ask.supersede();
    const { session, lane } = carrier;
    const request = questionRequest(question.input, question.task.origin !== 'plain');
    question.sent = { ...carrier, ask: session.ask(lane, request, onAnswer(question, session)) };
  };
  return deliver;
}

export function createQuestionDesk(options: QuestionDeskOptions): QuestionDesk {
  const book = createQuestionBook();
  const carriers = createCarriers();
  const deliver = createDeliver(options, carriers);
  const deliverAll = (taskId: string): void => book.of(taskId).forEach(deliver);
  const turnedLane = (taskId: string, lane: Lane): void => {
    if (lane.isOpen()) deliverAll(taskId);
    else options.clock.after(REDELIVER_MS, () => deliverAll(taskId));
  };
  const notice = (task: Task, inputs: readonly InputRequest[]): void => {
    book.enter(task, inputs);
    deliverAll(task.id);
  };
  const close = (taskId: string, keys: readonly string[]): void => {
    for (const key of keys) book.remove(taskId, key)?.sent?.ask.cancel('the question is closed');
  };
  const pending = (taskId: string): readonly InputRequest[] =>
    book.of(taskId).map(({ input }) => input);

  return {
    notice,
    pending,
    attach(taskId, carrier) {
      const remove = carriers.add(taskId, carrier);
      const ignore = carrier.lane.onTurn(() => turnedLane(taskId, carrier.lane));
      deliverAll(taskId);
      return () => {
        ignore();
        remove();
      };
    },
    carrierOf: (taskId, session) =>
      carriers.openFor(taskId).find((carrier) => carrier.session === session),
    onEvent(event) {
      if (event.kind === 'asked') notice(event.task, event.inputs);
      if (event.kind === 'closed') close(event.taskId, event.keys);
      if (event.kind === 'changed' && event.task.phase === 'ended')
        close(
          event.task.id,
          pending(event.task.id).map(({ key }) => key),
        );
    },
    turned({ standalone }) {
      for (const taskId of book.tasks()) turnedLane(taskId, standalone);
    },
  };
}
