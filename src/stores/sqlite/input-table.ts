import type { DatabaseSync } from 'node:sqlite';
import { invariant } from '../../kernel/invariant.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isJsonObject } from '../../kernel/json.ts';
import type { InputAnswer, InputPolicy, InputRequest } from '../../protocol/model.ts';
import { EXPIRY_OUTCOMES, INPUT_METHODS, INPUT_STATES } from '../../protocol/model.ts';
import { WITHDRAW_REASONS } from '../inputs.ts';
import type { AnsweredInput, FoundInput, NewInput, OpenCount, WithdrawReason } from '../inputs.ts';
import { numberAt, objectColumn, optionalWordAt, present, textAt, wordAt } from './rows.ts';
import type { Row } from './rows.ts';

/** Questions of tasks, by task and key. A key stays taken after its question was closed. */
export interface InputTable {
  isUsed(taskId: string, key: string): boolean;
  insert(now: number, taskId: string, input: NewInput): InputRequest;
  /** Takes the answer of a pending question; false where it is not pending any more, or its time is up. */
  answer(now: number, taskId: string, input: AnsweredInput): boolean;
  /** The same from its page, which may also speak while it is confirming. */
  confirm(now: number, taskId: string, input: AnsweredInput): boolean;
  /** From pending to confirming; false where no page is to confirm it. */
  openPage(now: number, taskId: string, key: string): boolean;
  /** Erases a stored answer; false where there is none. */
  eraseAnswer(taskId: string, key: string): boolean;
  /** Closes an open question without an answer; false where it is not open any more. */
  close(now: number, taskId: string, closing: Closing): boolean;
  /** At a task's end: nothing stays open, and no answered value is kept. */
  closeAll(now: number, taskId: string): void;
  hasPending(taskId: string): boolean;
  /** Whether one is pending or confirming. */
  hasOpen(taskId: string): boolean;
  find(taskId: string, key: string): FoundInput | undefined;
  /** The open question with that confirmation, while its time is not up. */
  findOpenBy(now: number, confirmationHash: string): InputRequest | undefined;
  /** Pending ones whose time is not up, oldest first. */
  listPending(now: number, taskId: string): readonly InputRequest[];
  /** Pending and confirming ones, oldest first. */
  listOpen(taskId: string): readonly InputRequest[];
  findAnswer(taskId: string, key: string): InputAnswer | undefined;
  listDue(now: number, limit: number): readonly InputRequest[];
  countAsking(): number;
  openTimeMs(now: number, taskId: string): number;
  countOpen(): readonly OpenCount[];
}

export interface Closing {
  readonly key: string;
  readonly reason: WithdrawReason;
}

const COLUMNS = `(SELECT tasks.id FROM tasks WHERE tasks.seq = task_seq) AS task_id, key, method, params, state,
  asked_at, expires_at, policy`;
/** Neither answered nor closed: the words of the partial indexes. */
const OPEN = 'closed_at IS NULL';
const PENDING = `${OPEN} AND state = 'pending'`;
const OF_TASK = 'task_seq = (SELECT tasks.seq FROM tasks WHERE tasks.id = :taskId)';
const IS_USED = `SELECT 1 FROM inputs WHERE ${OF_TASK} AND key = :key`;
const INSERT = `
  INSERT INTO inputs (task_seq, key, method, params, state, asked_at, expires_at, policy,
    confirmation_hash)
  SELECT seq, :key, :method, :params, 'pending', :now, :now + :openMs, :policy, :confirmationHash
  FROM tasks WHERE id = :taskId
  RETURNING ${COLUMNS}`;
const ANSWER = `
  UPDATE inputs SET state = 'answered', answer = :answer, closed_at = :now
  WHERE ${OF_TASK} AND key = :key AND state = 'pending' AND expires_at > :now`;
const CONFIRM = `
  UPDATE inputs SET state = 'answered', answer = :answer, closed_at = :now
  WHERE ${OF_TASK} AND key = :key AND ${OPEN} AND expires_at > :now`;
const OPEN_PAGE = `
  UPDATE inputs SET state = 'confirming'
  WHERE ${OF_TASK} AND key = :key AND state = 'pending' AND expires_at > :now
    AND confirmation_hash IS NOT NULL`;
const ERASE_ANSWER = `
  UPDATE inputs SET answer = NULL WHERE ${OF_TASK} AND key = :key AND answer IS NOT NULL`;
const CLOSE = `
  UPDATE inputs SET state = iif(:reason = 'expired', 'expired', 'withdrawn'), closed_at = :now,
    closed_because = :reason
  WHERE ${OF_TASK} AND key = :key AND ${OPEN}`;
const CLOSE_ALL = `
  UPDATE inputs SET answer = NULL, state = iif(${OPEN}, 'withdrawn', state),
    closed_because = iif(${OPEN}, 'ended', closed_because), closed_at = coalesce(closed_at, :now)
  WHERE ${OF_TASK}`;
const HAS_PENDING = `SELECT 1 FROM inputs WHERE ${OF_TASK} AND ${PENDING} LIMIT 1`;
const HAS_OPEN = `SELECT 1 FROM inputs WHERE ${OF_TASK} AND ${OPEN} LIMIT 1`;
const SELECT_ONE = `
  SELECT ${COLUMNS}, answer, closed_because FROM inputs WHERE ${OF_TASK} AND key = :key`;
const SELECT_OPEN_BY = `
  SELECT ${COLUMNS} FROM inputs
  WHERE confirmation_hash = :confirmationHash AND ${OPEN} AND expires_at > :now`;
const SELECT_PENDING = `
  SELECT ${COLUMNS} FROM inputs WHERE ${OF_TASK} AND ${PENDING} AND expires_at > :now
  ORDER BY seq`;
const SELECT_OPEN = `SELECT ${COLUMNS} FROM inputs WHERE ${OF_TASK} AND ${OPEN} ORDER BY seq`;
const SELECT_ANSWER = `
  SELECT answer FROM inputs WHERE ${OF_TASK} AND key = :key AND answer IS NOT NULL`;
const SELECT_DUE = `
  SELECT ${COLUMNS} FROM inputs WHERE ${OPEN} AND expires_at <= ?
  ORDER BY expires_at, seq LIMIT ?`;
const SELECT_OPEN_TIMES = `
  SELECT asked_at, coalesce(closed_at, :now) AS until FROM inputs WHERE ${OF_TASK} ORDER BY asked_at`;
const COUNT_OPEN = `SELECT policy, count(*) AS rows FROM inputs WHERE ${OPEN} GROUP BY policy`;
const COUNT_ASKING = `SELECT count(DISTINCT task_seq) AS rows FROM inputs WHERE ${PENDING}`;

export function createInputTable(db: DatabaseSync): InputTable {
  const isUsed = db.prepare(IS_USED);
  const insert = db.prepare(INSERT);
  const answer = db.prepare(ANSWER);
  const confirm = db.prepare(CONFIRM);
  const openPage = db.prepare(OPEN_PAGE);
  const eraseAnswer = db.prepare(ERASE_ANSWER);
  const close = db.prepare(CLOSE);
  const closeAll = db.prepare(CLOSE_ALL);
  const hasPending = db.prepare(HAS_PENDING);
  const hasOpen = db.prepare(HAS_OPEN);
  const selectOne = db.prepare(SELECT_ONE);
  const selectOpenBy = db.prepare(SELECT_OPEN_BY);
  const selectPending = db.prepare(SELECT_PENDING);
  const selectOpen = db.prepare(SELECT_OPEN);
  const selectAnswer = db.prepare(SELECT_ANSWER);
  const selectDue = db.prepare(SELECT_DUE);
  const countAsking = db.prepare(COUNT_ASKING);
  const selectOpenTimes = db.prepare(SELECT_OPEN_TIMES);
  const countOpen = db.prepare(COUNT_OPEN);

  return {
    isUsed: (taskId, key) => isUsed.get({ taskId, key }) !== undefined,
    insert(now, taskId, input) {
      const row = insert.get({ now, taskId, ...encodeInput(input) });
      invariant(row !== undefined, 'an asked question is there');
      return decodeInput(row);
    },
    answer: (now, taskId, input) => {
      const body = JSON.stringify(input.answer);
      return answer.run({ now, taskId, key: input.key, answer: body }).changes === 1;
    },
    confirm: (now, taskId, input) => {
      const body = JSON.stringify(input.answer);
      return confirm.run({ now, taskId, key: input.key, answer: body }).changes === 1;
    },
    openPage: (now, taskId, key) => openPage.run({ now, taskId, key }).changes === 1,
    eraseAnswer: (taskId, key) => eraseAnswer.run({ taskId, key }).changes === 1,
    close: (now, taskId, { key, reason }) => close.run({ now, taskId, key, reason }).changes === 1,
    closeAll: (now, taskId) => {
      closeAll.run({ now, taskId });
    },
    hasPending: (taskId) => hasPending.get({ taskId }) !== undefined,
    hasOpen: (taskId) => hasOpen.get({ taskId }) !== undefined,
    find: (taskId, key) => {
      const row = selectOne.get({ taskId, key });
      return row && decodeFound(row);
    },
    findOpenBy: (now, confirmationHash) => {
      const row = selectOpenBy.get({ now, confirmationHash });
      return row && decodeInput(row);
    },
    listPending: (now, taskId) => selectPending.all({ taskId, now }).map(decodeInput),
    listOpen: (taskId) => selectOpen.all({ taskId }).map(decodeInput),
    findAnswer: (taskId, key) => {
      const row = selectAnswer.get({ taskId, key });
      return row && decodeAnswer(row);
    },
    listDue: (now, limit) => selectDue.all(now, limit).map(decodeInput),
    countAsking: () => numberAt(countAsking.get() ?? {}, 'rows'),
    openTimeMs: (now, taskId) => unionMs(selectOpenTimes.all({ now, taskId })),
    countOpen: () =>
      countOpen.all().map((row) => ({
        count: numberAt(row, 'rows'),
        ...present({ policy: row['policy'] === null ? undefined : decodePolicy(row) }),
      })),
  };
}

/** The time that is covered by at least one of these stretches, which come in order of their beginning. */
function unionMs(rows: readonly Row[]): number {
  let total = 0;
  let reached = -Infinity;
  for (const row of rows) {
    const until = numberAt(row, 'until');
    total += Math.max(0, until - Math.max(numberAt(row, 'asked_at'), reached));
    reached = Math.max(reached, until);
  }
  return total;
}

function encodeInput({ key, method, params, openMs, policy, confirmationHash }: NewInput) {
  return {
    key,
    method,
    params: JSON.stringify(params),
    openMs,
    policy: policy === undefined ? null : JSON.stringify(policy),
    confirmationHash: confirmationHash ?? null,
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
    ...present({ policy: row['policy'] === null ? undefined : decodePolicy(row) }),
  };
  invariant(input.expiresAt >= input.askedAt, 'a question expires after it was asked');
  return input;
}

/** A policy that cannot be read would be a secret treated as none: nothing of it is guessed. */
function decodePolicy(row: Row): InputPolicy {
  const body: JsonObject = objectColumn(row, 'policy');
  invariant(
    isJsonObject(body['fields']) &&
      Array.isArray(body['answerableByModel']) &&
      EXPIRY_OUTCOMES.some((outcome) => outcome === body['onExpiry']) &&
      typeof body['approval'] === 'boolean',
    'a policy has its members',
  );
  return body as unknown as InputPolicy;
}

function decodeFound(row: Row): FoundInput {
  const closedBecause = optionalWordAt(row, { column: 'closed_because', of: WITHDRAW_REASONS });
  const answer = row['answer'] === null ? undefined : decodeAnswer(row);
  return { input: decodeInput(row), ...present({ answer, closedBecause }) };
}

function decodeAnswer(row: Row): InputAnswer {
  const body = objectColumn(row, 'answer');
  const kind = body['kind'];
  invariant(kind === 'result' || kind === 'error', 'an answer is a result or an error');
  invariant(body[kind] !== undefined, 'an answer has its body');
  return body as unknown as InputAnswer;
}
