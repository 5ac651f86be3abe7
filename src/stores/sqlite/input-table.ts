import type { DatabaseSync } from 'node:sqlite';
import { invariant } from '../../kernel/invariant.ts';
import type { InputAnswer, InputRequest, InputState } from '../../protocol/model.ts';
import { INPUT_METHODS, INPUT_STATES } from '../../protocol/model.ts';
import type { AnsweredInput, NewInput } from '../inputs.ts';
import { numberAt, objectColumn, textAt, wordAt } from './rows.ts';
import type { Row } from './rows.ts';

/** Questions of tasks, by task and key. A key stays taken after its question was closed. */
export interface InputTable {
  isUsed(taskId: string, key: string): boolean;
  insert(now: number, taskId: string, input: NewInput): InputRequest;
  /** Takes the answer of an open question; false where it is not open any more. */
  answer(now: number, taskId: string, input: AnsweredInput): boolean;
  /** Closes an open question without an answer; false where it is not open any more. */
  close(now: number, taskId: string, closing: Closing): boolean;
  /** At a task's end: nothing stays open, and no answered value is kept. */
  closeAll(now: number, taskId: string): void;
  hasPending(taskId: string): boolean;
  /** Open ones whose time is not up, oldest first. */
  listPending(now: number, taskId: string): readonly InputRequest[];
  findAnswer(taskId: string, key: string): InputAnswer | undefined;
  listDue(now: number, limit: number): readonly InputRequest[];
  countAsking(): number;
}

export interface Closing {
  readonly key: string;
  readonly state: Extract<InputState, 'withdrawn' | 'expired'>;
}

const COLUMNS = `(SELECT tasks.id FROM tasks WHERE tasks.seq = task_seq) AS task_id, key, method, params, state,
  asked_at, expires_at`;
const OF_TASK = 'task_seq = (SELECT tasks.seq FROM tasks WHERE tasks.id = :taskId)';
const IS_USED = `SELECT 1 FROM inputs WHERE ${OF_TASK} AND key = :key`;
const INSERT = `
  INSERT INTO inputs (task_seq, key, method, params, state, asked_at, expires_at)
  SELECT seq, :key, :method, :params, 'pending', :now, :now + :openMs FROM tasks WHERE id = :taskId
  RETURNING ${COLUMNS}`;
const ANSWER = `
  UPDATE inputs SET state = 'answered', answer = :answer, closed_at = :now
  WHERE ${OF_TASK} AND key = :key AND state = 'pending' AND expires_at > :now`;
const CLOSE = `
  UPDATE inputs SET state = :state, closed_at = :now
  WHERE ${OF_TASK} AND key = :key AND state = 'pending'`;
const CLOSE_ALL = `
  UPDATE inputs SET answer = NULL, state = iif(state = 'pending', 'withdrawn', state),
    closed_at = coalesce(closed_at, :now)
  WHERE ${OF_TASK}`;
const HAS_PENDING = `SELECT 1 FROM inputs WHERE ${OF_TASK} AND state = 'pending' LIMIT 1`;
const SELECT_PENDING = `
  SELECT ${COLUMNS} FROM inputs WHERE ${OF_TASK} AND state = 'pending' AND expires_at > :now
  ORDER BY seq`;
const SELECT_ANSWER = `
  SELECT answer FROM inputs WHERE ${OF_TASK} AND key = :key AND answer IS NOT NULL`;
const SELECT_DUE = `
  SELECT ${COLUMNS} FROM inputs WHERE state = 'pending' AND expires_at <= ?
  ORDER BY expires_at, seq LIMIT ?`;
const COUNT_ASKING = `SELECT count(DISTINCT task_seq) AS rows FROM inputs WHERE state = 'pending'`;

export function createInputTable(db: DatabaseSync): InputTable {
  const isUsed = db.prepare(IS_USED);
  const insert = db.prepare(INSERT);
  const answer = db.prepare(ANSWER);
  const close = db.prepare(CLOSE);
  const closeAll = db.prepare(CLOSE_ALL);
  const hasPending = db.prepare(HAS_PENDING);
  const selectPending = db.prepare(SELECT_PENDING);
  const selectAnswer = db.prepare(SELECT_ANSWER);
  const selectDue = db.prepare(SELECT_DUE);
  const countAsking = db.prepare(COUNT_ASKING);

  return {
    isUsed: (taskId, key) => isUsed.get({ taskId, key }) !== undefined,
    insert(now, taskId, { key, method, params, openMs }) {
      const body = JSON.stringify(params);
      const row = insert.get({ now, taskId, key, method, params: body, openMs });
      invariant(row !== undefined, 'an asked question is there');
      return decodeInput(row);
    },
    answer: (now, taskId, input) => {
      const body = JSON.stringify(input.answer);
      return answer.run({ now, taskId, key: input.key, answer: body }).changes === 1;
    },
    close: (now, taskId, { key, state }) => close.run({ now, taskId, key, state }).changes === 1,
    closeAll: (now, taskId) => {
      closeAll.run({ now, taskId });
    },
    hasPending: (taskId) => hasPending.get({ taskId }) !== undefined,
    listPending: (now, taskId) => selectPending.all({ taskId, now }).map(decodeInput),
    findAnswer: (taskId, key) => {
      const row = selectAnswer.get({ taskId, key });
      return row && decodeAnswer(row);
    },
    listDue: (now, limit) => selectDue.all(now, limit).map(decodeInput),
    countAsking: () => numberAt(countAsking.get() ?? {}, 'rows'),
  };
}

function decodeInput(row: Row): InputRequest {
  const input: InputRequest = {
    taskId: textAt(row, 'task_id'),
    key: textAt(row, 'key'),
    method: wordAt(row, { column: 'method', of: INPUT_METHODS }),
    params: objectColumn(row, 'params'),
    state: wordAt(row, { column: 'state', of: INPUT_STATES }),
    askedAt: numberAt(row, 'asked_at'),
    expiresAt: numberAt(row, 'expires_at'),
  };
  invariant(input.expiresAt >= input.askedAt, 'a question expires after it was asked');
  return input;
}

function decodeAnswer(row: Row): InputAnswer {
  const body = objectColumn(row, 'answer');
  const kind = body['kind'];
  invariant(kind === 'result' || kind === 'error', 'an answer is a result or an error');
  invariant(body[kind] !== undefined, 'an answer has its body');
  return body as unknown as InputAnswer;
}
