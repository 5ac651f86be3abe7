import type { DatabaseSync } from 'node:sqlite';
import { invariant } from '../../kernel/invariant.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { GENERATIONS } from '../../protocol/model.ts';
import type { Task } from '../../protocol/model.ts';
import { ATTEMPT_STATES } from '../attempts.ts';
import type { Attempt, Fence, UpstreamTask } from '../attempts.ts';
import {
  numberAt,
  objectColumn,
  optionalNumberAt,
  optionalTextAt,
  present,
  textAt,
  wordAt,
} from './rows.ts';
import type { Row } from './rows.ts';

/** Attempts and the queue they wait in. */
export interface AttemptTable {
  /** Queues a task's first attempt in its principal's next turn. */
  enqueueFirst(task: Task, attemptId: string): void;
  /** Queues the attempt that follows on an ended one, in the turn that one had. */
  enqueueNext(previous: Attempt, attemptId: string): void;
  /** The running attempt that the fence proves, or nothing where it is fenced out. */
  held(fence: Fence): Attempt | undefined;
  listOf(taskId: string): readonly Attempt[];
  queuedTools(): readonly string[];
  runningByTool(): ReadonlyMap<string, number>;
  listQueued(params: ListQueued): readonly QueuedAttempt[];
  start(queued: QueuedAttempt, lease: Lease): Attempt;
  /** Nothing for `ranMs` leaves what was said before. */
  extend(fence: Fence, leaseUntil: number, ranMs?: number): boolean;
  setRanMs(fence: Fence, ranMs: number): void;
  /** The first mark counts; false where there is one, or the attempt is fenced out. */
  markDispatched(fence: Fence, now: number): boolean;
  setUpstreamTask(fence: Fence, upstreamTask: UpstreamTask): void;
  end(now: number, taskId: string, reason: string): void;
  fenceOutOthers(params: FenceOut): readonly Attempt[];
  /** Remembers the turn of the latest claim. */
  advanceTurn(slot: number): void;
  /** Forgets turns that say nothing any more. */
  pruneTurns(): void;
  queuedCount(): number;
}

export interface ListQueued {
  readonly tool: string;
  readonly now: number;
  readonly limit: number;
  readonly exceptUpstreams: readonly string[];
}

/** A queued attempt's place: lower slots first, then the older row. */
export interface QueuedAttempt {
  readonly slot: number;
  readonly seq: number;
}

export interface Lease {
  readonly owner: string;
  readonly leaseUntil: number;
}

export interface FenceOut {
  readonly owner: string;
  readonly othersAreDead: boolean;
  readonly now: number;
  readonly leaseUntil: number;
}

const COLUMNS = `id, (SELECT tasks.id FROM tasks WHERE tasks.seq = task_seq) AS task_id, number, epoch, state,
  owner, lease_until, dispatched_at, upstream_task, end_reason, ran_ms`;
const OF_TASK = 'task_seq = (SELECT tasks.seq FROM tasks WHERE tasks.id = :taskId)';
const HELD = `${OF_TASK} AND id = :attemptId AND epoch = :epoch AND state = 'running'`;

/**
 * Fair turns (start-time fair queueing): a principal's next attempt is due one turn after its last one, and never
 * before the turn that is being served. So a flood queues up behind itself, and a newcomer goes next.
 */
const TAKE_TURN = `
  INSERT INTO turns (tenant, owner, slot)
  VALUES (:tenant, :owner, (SELECT slot FROM turns WHERE tenant = '' AND owner = ''))
  ON CONFLICT DO UPDATE SET
    slot = max(slot + 1, (SELECT slot FROM turns WHERE tenant = '' AND owner = ''))
  RETURNING slot`;
const ADVANCE_TURN = `UPDATE turns SET slot = max(slot, ?) WHERE tenant = '' AND owner = ''`;
const PRUNE_TURNS = `
  DELETE FROM turns WHERE tenant <> ''
    AND slot < (SELECT slot FROM turns WHERE tenant = '' AND owner = '')`;

const INSERT_FIRST = `
  INSERT INTO attempts (id, task_seq, tool, slot, number, epoch, state)
  SELECT :attemptId, seq, tool, :slot, 1, 0, 'queued' FROM tasks WHERE id = :taskId`;
const INSERT_NEXT = `
  INSERT INTO attempts (id, task_seq, tool, slot, number, epoch, state, upstream_task)
  SELECT :attemptId, task_seq, tool, slot, number + 1, epoch, 'queued', upstream_task
  FROM attempts WHERE ${OF_TASK} AND number = :number`;
const SELECT_HELD = `SELECT ${COLUMNS} FROM attempts WHERE ${HELD}`;
const SELECT_OF_TASK = `SELECT ${COLUMNS} FROM attempts WHERE ${OF_TASK} ORDER BY number`;
/** One step in the index per tool, however many wait for it. */
const SELECT_QUEUED_TOOLS = `
  WITH RECURSIVE waiting (tool) AS (
    SELECT min(tool) FROM attempts WHERE state = 'queued'
    UNION ALL
    SELECT (SELECT min(tool) FROM attempts WHERE state = 'queued' AND tool > waiting.tool)
    FROM waiting WHERE waiting.tool IS NOT NULL
  )
  SELECT tool FROM waiting WHERE tool IS NOT NULL`;
const COUNT_RUNNING = `
  SELECT tool, count(*) AS rows FROM attempts WHERE state = 'running' GROUP BY tool`;
const SELECT_QUEUED = `
  SELECT attempts.slot, attempts.seq
  FROM attempts INDEXED BY attempts_queued CROSS JOIN tasks ON tasks.seq = attempts.task_seq
  WHERE attempts.state = 'queued' AND attempts.tool = :tool AND tasks.expires_at > :now
    AND tasks.upstream NOT IN (SELECT value FROM json_each(:except))
  ORDER BY attempts.slot, attempts.seq LIMIT :limit`;
const START = `
  UPDATE attempts SET state = 'running', epoch = epoch + 1, owner = :owner, lease_until = :leaseUntil
  WHERE seq = :seq AND state = 'queued'
  RETURNING ${COLUMNS}`;
const EXTEND = `
  UPDATE attempts SET lease_until = :leaseUntil, ran_ms = coalesce(:ranMs, ran_ms) WHERE ${HELD}`;
const SET_RAN_MS = `UPDATE attempts SET ran_ms = :ranMs WHERE ${HELD}`;
const MARK_DISPATCHED = `
  UPDATE attempts SET dispatched_at = :now WHERE ${HELD} AND dispatched_at IS NULL`;
const SET_UPSTREAM_TASK = `UPDATE attempts SET upstream_task = :upstreamTask WHERE ${HELD}`;
const END = `
  UPDATE attempts SET state = 'ended', lease_until = NULL, wake_on_answers = NULL, wake_at = NULL,
    ended_at = :now, end_reason = :reason
  WHERE ${OF_TASK} AND state <> 'ended'`;
const FENCE_OUT = `
  UPDATE attempts SET epoch = epoch + 1, lease_until = :leaseUntil
  WHERE state = 'running' AND owner <> :owner AND (:othersAreDead = 1 OR lease_until <= :now)
  RETURNING ${COLUMNS}`;
const COUNT_QUEUED = `SELECT count(*) AS rows FROM attempts WHERE state = 'queued'`;

export function createAttemptTable(db: DatabaseSync): AttemptTable {
  const takeTurn = db.prepare(TAKE_TURN);
  const advanceTurn = db.prepare(ADVANCE_TURN);
  const pruneTurns = db.prepare(PRUNE_TURNS);
  const insertFirst = db.prepare(INSERT_FIRST);
  const insertNext = db.prepare(INSERT_NEXT);
  const selectHeld = db.prepare(SELECT_HELD);
  const selectOfTask = db.prepare(SELECT_OF_TASK);
  const selectQueuedTools = db.prepare(SELECT_QUEUED_TOOLS);
  const countRunning = db.prepare(COUNT_RUNNING);
  const selectQueued = db.prepare(SELECT_QUEUED);
  const start = db.prepare(START);
  const extend = db.prepare(EXTEND);
  const setRanMs = db.prepare(SET_RAN_MS);
  const markDispatched = db.prepare(MARK_DISPATCHED);
  const setUpstreamTask = db.prepare(SET_UPSTREAM_TASK);
  const end = db.prepare(END);
  const fenceOut = db.prepare(FENCE_OUT);
  const countQueued = db.prepare(COUNT_QUEUED);

  return {
    enqueueFirst({ id, tenant, owner }, attemptId) {
      const turn = takeTurn.get({ tenant, owner });
      invariant(turn !== undefined, 'a principal has a turn');
      insertFirst.run({ attemptId, taskId: id, slot: numberAt(turn, 'slot') });
    },
    enqueueNext: ({ taskId, number }, attemptId) => {
      insertNext.run({ attemptId, taskId, number });
    },
    held: (fence) => decoded(selectHeld.get(fenceOf(fence))),
    listOf: (taskId) => selectOfTask.all({ taskId }).map(decodeAttempt),
    queuedTools: () => selectQueuedTools.all().map((row) => textAt(row, 'tool')),
    runningByTool: () =>
      new Map(countRunning.all().map((row) => [textAt(row, 'tool'), numberAt(row, 'rows')])),
    listQueued: ({ exceptUpstreams, ...wanted }) =>
      selectQueued.all({ ...wanted, except: JSON.stringify(exceptUpstreams) }).map((row) => ({
        slot: numberAt(row, 'slot'),
        seq: numberAt(row, 'seq'),
      })),
    start({ seq }, { owner, leaseUntil }) {
      const started = decoded(start.get({ seq, owner, leaseUntil }));
      invariant(started !== undefined, 'a picked attempt is still queued');
      return started;
    },
    extend: (fence, leaseUntil, ranMs) =>
      extend.run({ ...fenceOf(fence), leaseUntil, ranMs: ranMs ?? null }).changes === 1,
    setRanMs: (fence, ranMs) => {
      setRanMs.run({ ...fenceOf(fence), ranMs });
    },
    markDispatched: (fence, now) => markDispatched.run({ ...fenceOf(fence), now }).changes === 1,
    setUpstreamTask: (fence, upstreamTask) => {
      setUpstreamTask.run({ ...fenceOf(fence), upstreamTask: JSON.stringify(upstreamTask) });
    },
    end: (now, taskId, reason) => {
      end.run({ now, taskId, reason });
    },
    fenceOutOthers: ({ owner, othersAreDead, now, leaseUntil }) =>
      fenceOut
        .all({ owner, othersAreDead: Number(othersAreDead), now, leaseUntil })
        .map(decodeAttempt),
    advanceTurn: (slot) => {
      advanceTurn.run(slot);
    },
    pruneTurns: () => {
      pruneTurns.run();
    },
    queuedCount: () => numberAt(countQueued.get() ?? {}, 'rows'),
  };
}

/** The fence's own members only: a caller may hand in more, which the statement would refuse. */
const fenceOf = ({ taskId, attemptId, epoch }: Fence) => ({ taskId, attemptId, epoch });

const decoded = (row: Row | undefined): Attempt | undefined => row && decodeAttempt(row);

function decodeAttempt(row: Row): Attempt {
  const attempt: Attempt = {
    id: textAt(row, 'id'),
    taskId: textAt(row, 'task_id'),
    number: numberAt(row, 'number'),
    epoch: numberAt(row, 'epoch'),
    state: wordAt(row, { column: 'state', of: ATTEMPT_STATES }),
    ...present({
      owner: optionalTextAt(row, 'owner'),
      leaseUntil: optionalNumberAt(row, 'lease_until'),
      dispatchedAt: optionalNumberAt(row, 'dispatched_at'),
      upstreamTask: row['upstream_task'] === null ? undefined : decodeUpstream(row),
      endReason: optionalTextAt(row, 'end_reason'),
      ranMs: optionalNumberAt(row, 'ran_ms'),
    }),
  };
  const running = attempt.state === 'running';
  invariant(running === (attempt.leaseUntil !== undefined), 'running means: under a lease');
  invariant(!running || attempt.owner !== undefined, 'a running attempt has an owner');
  return attempt;
}

function decodeUpstream(row: Row): UpstreamTask {
  const body: JsonObject = objectColumn(row, 'upstream_task');
  invariant(
    GENERATIONS.some((generation) => generation === body['generation']) &&
      typeof body['taskId'] === 'string',
    'an upstream task has a generation and an id',
  );
  return body as unknown as UpstreamTask;
}
