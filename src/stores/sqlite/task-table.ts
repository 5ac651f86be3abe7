import type { DatabaseSync } from 'node:sqlite';
import { invariant } from '../../kernel/invariant.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { HandleState, Outcome, Task, TaskEnding, TaskRequest } from '../../protocol/model.ts';
import {
  ASK_KINDS,
  CALL_ORIGINS,
  EFFECT_CLASSES,
  HANDLE_STATES,
  TASK_ENDINGS,
  TASK_PHASES,
  endingOf,
} from '../../protocol/model.ts';
import type { NewTask } from '../tasks.ts';
import {
  jsonAt,
  numberAt,
  objectColumn,
  optionalNumberAt,
  optionalTextAt,
  optionalWordAt,
  present,
  textAt,
  wordAt,
} from './rows.ts';
import type { Row } from './rows.ts';

/** A task's rows: itself, its request, its outcome. Changes answer the new row, or nothing where none fitted. */
export interface TaskTable {
  insert(now: number, task: NewTask, request: TaskRequest): Task;
  find(id: string): Task | undefined;
  findRequest(id: string): TaskRequest | undefined;
  findOutcome(id: string): Outcome | undefined;
  setPhase(now: number, id: string, to: 'working' | 'input_required'): Task | undefined;
  end(now: number, id: string, end: TaskEnd): Task | undefined;
  /** Nothing as the message clears it. */
  setMessage(now: number, id: string, message: string | undefined): Task | undefined;
  setHandle(id: string, handle: HandleState): Task | undefined;
  requestCancel(now: number, id: string): Task | undefined;
}

export interface TaskEnd {
  readonly outcome: Outcome;
  readonly message?: string | undefined;
}

/** The version of a stored outcome's form (decision 12). */
const OUTCOME_ENVELOPE = 1;

export const TASK_COLUMNS = `id, owner, tenant, origin, handle, upstream, tool, effect, phase, ending, message,
  created_at, updated_at, ttl_ms, poll_interval_ms, asks, cancel_requested_at, operation_id, journalled, revision`;

const INSERT = `
  INSERT INTO tasks (id, owner, tenant, origin, handle, upstream, tool, effect, phase, created_at,
    updated_at, ttl_ms, poll_interval_ms, asks, operation_id, journalled, kept_bytes, revision)
  VALUES (:id, :owner, :tenant, :origin, :handle, :upstream, :tool, :effect, 'working', :now,
    :now, :ttlMs, :pollIntervalMs, :asks, :operationId, :journalled, :keptBytes, 1)
  RETURNING ${TASK_COLUMNS}`;
const INSERT_REQUEST = `
  INSERT INTO task_requests (seq, arguments, meta, progress_token, subject)
  SELECT seq, :arguments, :meta, :progressToken, :subject FROM tasks WHERE id = :id`;
const INSERT_OUTCOME = `
  INSERT INTO task_outcomes (seq, envelope, body)
  SELECT seq, :envelope, :body FROM tasks WHERE id = :id`;
const SELECT = `SELECT ${TASK_COLUMNS} FROM tasks WHERE id = ?`;
const SELECT_REQUEST = `
  SELECT arguments, meta, progress_token, subject FROM task_requests
  WHERE seq = (SELECT seq FROM tasks WHERE id = ?)`;
const SELECT_OUTCOME = `
  SELECT envelope, body FROM task_outcomes WHERE seq = (SELECT seq FROM tasks WHERE id = ?)`;

/** Status and message move the update time, never back (T16); everything else leaves it. */
const TOUCH = 'updated_at = max(updated_at, :now), revision = revision + 1';
const SET_PHASE = `
  UPDATE tasks SET phase = :to, ${TOUCH} WHERE id = :id AND phase NOT IN ('ended', :to)
  RETURNING ${TASK_COLUMNS}`;
const END = `
  UPDATE tasks SET phase = 'ended', ending = :ending, message = :message,
    kept_bytes = kept_bytes + :bytes, ${TOUCH}
  WHERE id = :id AND phase <> 'ended'
  RETURNING ${TASK_COLUMNS}`;
const SET_MESSAGE = `
  UPDATE tasks SET message = :message, ${TOUCH} WHERE id = :id AND phase <> 'ended'
  RETURNING ${TASK_COLUMNS}`;
const SET_HANDLE = `
  UPDATE tasks SET handle = :handle, revision = revision + 1
  WHERE id = :id AND (handle = 'pending' OR (handle = 'inline' AND :handle = 'given'))
  RETURNING ${TASK_COLUMNS}`;
const REQUEST_CANCEL = `
  UPDATE tasks SET cancel_requested_at = :now, revision = revision + 1
  WHERE id = :id AND phase <> 'ended' AND cancel_requested_at IS NULL
  RETURNING ${TASK_COLUMNS}`;

export function createTaskTable(db: DatabaseSync): TaskTable {
  const insert = db.prepare(INSERT);
  const insertRequest = db.prepare(INSERT_REQUEST);
  const insertOutcome = db.prepare(INSERT_OUTCOME);
  const select = db.prepare(SELECT);
  const selectRequest = db.prepare(SELECT_REQUEST);
  const selectOutcome = db.prepare(SELECT_OUTCOME);
  const setPhase = db.prepare(SET_PHASE);
  const end = db.prepare(END);
  const setMessage = db.prepare(SET_MESSAGE);
  const setHandle = db.prepare(SET_HANDLE);
  const requestCancel = db.prepare(REQUEST_CANCEL);

  return {
    insert(now, task, request) {
      const bodies = encodeRequest(request);
      const row = insert.get({ ...encodeTask(now, task), keptBytes: bytesOf(bodies) });
      insertRequest.run({ id: task.id, ...bodies });
      invariant(row !== undefined, 'an inserted task is there');
      return decodeTask(row);
    },
    find: (id) => decoded(select.get(id)),
    findRequest: (id) => {
      const row = selectRequest.get(id);
      return row && decodeRequest(row);
    },
    findOutcome: (id) => {
      const row = selectOutcome.get(id);
      return row && decodeOutcome(row);
    },
    setPhase: (now, id, to) => decoded(setPhase.get({ now, id, to })),
    end(now, id, { outcome, message }) {
      const ending = endingOf(outcome);
      const body = JSON.stringify(outcome);
      const bytes = Buffer.byteLength(body);
      const row = end.get({ now, id, ending, message: message ?? null, bytes });
      if (row === undefined) return undefined;
      insertOutcome.run({ id, envelope: OUTCOME_ENVELOPE, body });
      return decodeTask(row);
    },
    setMessage: (now, id, message) =>
      decoded(setMessage.get({ now, id, message: message ?? null })),
    setHandle: (id, handle) => decoded(setHandle.get({ id, handle })),
    requestCancel: (now, id) => decoded(requestCancel.get({ now, id })),
  };
}

function encodeTask(now: number, task: NewTask) {
  return {
    id: task.id,
    owner: task.owner,
    tenant: task.tenant,
    origin: task.origin,
    handle: task.handle,
    upstream: task.upstream,
    tool: task.tool,
    effect: task.effect,
    ttlMs: task.ttlMs,
    pollIntervalMs: task.pollIntervalMs,
    asks: JSON.stringify(task.asks),
    operationId: task.operationId ?? null,
    journalled: Number(task.journalled ?? false),
    now,
  };
}

/** The share of a record's rows, roughly: a flood of empty calls takes room too (I4). */
const ROW_BYTES = 1024;

/** What a record takes as long as nothing has come of it. */
export const keptBytesOf = (request: TaskRequest): number => bytesOf(encodeRequest(request));

const bytesOf = ({ arguments: args, meta }: ReturnType<typeof encodeRequest>): number =>
  ROW_BYTES + Buffer.byteLength(args) + Buffer.byteLength(meta);

/** Refuses what could not be read again: a call that nobody can run must not get a record. */
function encodeRequest({ arguments: args, meta, progressToken, subject }: TaskRequest) {
  invariant(
    progressToken === undefined ||
      typeof progressToken === 'string' ||
      Number.isFinite(progressToken),
    'a progress token is a string or a number that has a JSON form',
  );
  return {
    arguments: encodeObject(args),
    meta: encodeObject(meta),
    progressToken: progressToken === undefined ? null : JSON.stringify(progressToken),
    subject: subject ?? null,
  };
}

/** What a `toJSON` member or a type that was lied about makes of it may be no object, or nothing at all. */
function encodeObject(value: JsonObject): string {
  const text: string | undefined = JSON.stringify(value);
  invariant(text?.startsWith('{'), 'what a request carries has the JSON form of an object');
  return text;
}

const decoded = (row: Row | undefined): Task | undefined => row && decodeTask(row);

export function decodeTask(row: Row): Task {
  const task: Task = {
    id: textAt(row, 'id'),
    owner: textAt(row, 'owner'),
    tenant: textAt(row, 'tenant'),
    origin: wordAt(row, { column: 'origin', of: CALL_ORIGINS }),
    handle: wordAt(row, { column: 'handle', of: HANDLE_STATES }),
    upstream: textAt(row, 'upstream'),
    tool: textAt(row, 'tool'),
    effect: wordAt(row, { column: 'effect', of: EFFECT_CLASSES }),
    phase: wordAt(row, { column: 'phase', of: TASK_PHASES }),
    createdAt: numberAt(row, 'created_at'),
    updatedAt: numberAt(row, 'updated_at'),
    ttlMs: numberAt(row, 'ttl_ms'),
    pollIntervalMs: numberAt(row, 'poll_interval_ms'),
    asks: decodeAsks(jsonAt(row, 'asks')),
    revision: numberAt(row, 'revision'),
    ...present({
      ending: optionalWordAt<TaskEnding>(row, { column: 'ending', of: TASK_ENDINGS }),
      message: optionalTextAt(row, 'message'),
      cancelRequestedAt: optionalNumberAt(row, 'cancel_requested_at'),
      operationId: optionalTextAt(row, 'operation_id'),
      journalled: row['journalled'] === 1 ? true : undefined,
    }),
  };
  invariant(
    (task.phase === 'ended') === (task.ending !== undefined),
    'ended means: with an ending',
  );
  invariant(task.updatedAt >= task.createdAt, 'a task is never updated before it exists');
  return task;
}

function decodeAsks(value: Json): Task['asks'] {
  invariant(Array.isArray(value), 'asks are a list');
  return value.map((item: Json) => {
    const kind = ASK_KINDS.find((one) => one === item);
    invariant(kind !== undefined, 'an ask is of a known kind');
    return kind;
  });
}

function decodeRequest(row: Row): TaskRequest {
  const token = row['progress_token'] === null ? undefined : jsonAt(row, 'progress_token');
  invariant(
    token === undefined || typeof token === 'string' || typeof token === 'number',
    'a progress token is a string or a number',
  );
  return {
    arguments: objectColumn(row, 'arguments'),
    meta: objectColumn(row, 'meta'),
    ...present({ progressToken: token, subject: optionalTextAt(row, 'subject') }),
  };
}

function decodeOutcome(row: Row): Outcome {
  invariant(row['envelope'] === OUTCOME_ENVELOPE, 'an outcome has a form that is known here');
  const body = objectColumn(row, 'body');
  const kind = body['kind'];
  invariant(kind === 'result' || kind === 'error' || kind === 'cancelled', 'an outcome has a kind');
  invariant(kind === 'cancelled' || body[kind] !== undefined, 'an outcome has its body');
  return body as unknown as Outcome;
}
