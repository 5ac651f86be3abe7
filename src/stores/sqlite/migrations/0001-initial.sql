-- Times are ms since the epoch by the store's clock. JSON bodies are text. The CHECKs repeat what the
-- code promises, so that a mistake in one place is stopped by the other.

CREATE TABLE tasks (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL CHECK (owner <> ''),
  tenant TEXT NOT NULL CHECK (tenant <> ''),
  origin TEXT NOT NULL CHECK (origin IN ('2025-11-25', '2026-07-28', 'plain')),
  handle TEXT NOT NULL CHECK (handle IN ('pending', 'given', 'inline')),
  upstream TEXT NOT NULL,
  tool TEXT NOT NULL,
  effect TEXT NOT NULL CHECK (effect IN ('read', 'reversible', 'consequential')),
  phase TEXT NOT NULL CHECK (phase IN ('working', 'input_required', 'ended')),
  ending TEXT CHECK (ending IN ('result', 'tool_error', 'error', 'cancelled')),
  message TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ttl_ms INTEGER NOT NULL CHECK (ttl_ms >= 0),
  expires_at INTEGER NOT NULL AS (created_at + ttl_ms) VIRTUAL,
  poll_interval_ms INTEGER NOT NULL CHECK (poll_interval_ms >= 0),
  asks TEXT NOT NULL,
  cancel_requested_at INTEGER,
  operation_id TEXT,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  CHECK ((phase = 'ended') = (ending IS NOT NULL)),
  CHECK (updated_at >= created_at),
  CHECK (effect <> 'read' OR operation_id IS NULL)
) STRICT;

CREATE INDEX tasks_by_age ON tasks (created_at, id);
CREATE INDEX tasks_of_owner ON tasks (tenant, owner, created_at, id);
CREATE INDEX tasks_with_handle ON tasks (tenant, owner, created_at, id)
  WHERE origin <> 'plain' AND handle <> 'inline';
CREATE INDEX tasks_open ON tasks (expires_at) WHERE phase <> 'ended';
CREATE INDEX tasks_ended ON tasks (expires_at) WHERE phase = 'ended';

-- Bodies lie apart, so that a status read touches small rows only.
CREATE TABLE task_requests (
  seq INTEGER PRIMARY KEY REFERENCES tasks (seq) ON DELETE CASCADE,
  arguments TEXT NOT NULL,
  meta TEXT NOT NULL,
  progress_token TEXT
) STRICT;

CREATE TABLE task_outcomes (
  seq INTEGER PRIMARY KEY REFERENCES tasks (seq) ON DELETE CASCADE,
  envelope INTEGER NOT NULL CHECK (envelope >= 1),
  body TEXT NOT NULL
) STRICT;

-- How many tasks are open: of a principal (tenant, owner), of a tenant (tenant, ''), of all ('', '').
CREATE TABLE open_tasks (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  open INTEGER NOT NULL CHECK (open >= 0),
  PRIMARY KEY (tenant, owner)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tasks_opened AFTER INSERT ON tasks WHEN NEW.phase <> 'ended'
BEGIN
  INSERT INTO open_tasks (tenant, owner, open)
  VALUES ('', '', 1), (NEW.tenant, '', 1), (NEW.tenant, NEW.owner, 1)
  ON CONFLICT DO UPDATE SET open = open + 1;
END;

CREATE TRIGGER tasks_closed AFTER UPDATE OF phase ON tasks
WHEN OLD.phase <> 'ended' AND NEW.phase = 'ended'
BEGIN
  UPDATE open_tasks SET open = open - 1
  WHERE (tenant, owner) IN (VALUES ('', ''), (NEW.tenant, ''), (NEW.tenant, NEW.owner));
  DELETE FROM open_tasks
  WHERE open = 0 AND (tenant, owner) IN (VALUES (NEW.tenant, ''), (NEW.tenant, NEW.owner));
END;

CREATE TRIGGER tasks_stay_ended BEFORE UPDATE OF phase, ending ON tasks WHEN OLD.phase = 'ended'
BEGIN
  SELECT RAISE(ABORT, 'a task that has ended stays as it is');
END;

CREATE TRIGGER tasks_open_stay BEFORE DELETE ON tasks WHEN OLD.phase <> 'ended'
BEGIN
  SELECT RAISE(ABORT, 'a task that has not ended is never deleted');
END;

-- What hangs on a task refers to its seq: those keys grow, so their indexes change at one end only, while ids are
-- random and would touch a page each.
CREATE TABLE attempts (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  task_seq INTEGER NOT NULL REFERENCES tasks (seq) ON DELETE CASCADE,
  tool TEXT NOT NULL,
  -- The turn in which it is due: queued ones run in order of slot, see attempts.ts.
  slot INTEGER NOT NULL CHECK (slot >= 0),
  number INTEGER NOT NULL CHECK (number >= 1),
  epoch INTEGER NOT NULL CHECK (epoch >= 0),
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'ended')),
  owner TEXT,
  lease_until INTEGER,
  dispatched_at INTEGER,
  upstream_task TEXT,
  ended_at INTEGER,
  end_reason TEXT,
  UNIQUE (task_seq, number),
  CHECK (state <> 'queued' OR (owner IS NULL AND dispatched_at IS NULL)),
  CHECK (state <> 'running' OR owner IS NOT NULL),
  CHECK ((state = 'running') = (lease_until IS NOT NULL)),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL AND end_reason IS NOT NULL))
) STRICT;

CREATE INDEX attempts_queued ON attempts (tool, slot) WHERE state = 'queued';
CREATE INDEX attempts_running ON attempts (tool) WHERE state = 'running';
CREATE UNIQUE INDEX attempts_unended ON attempts (task_seq) WHERE state <> 'ended';

-- The slot that a principal was given last; ('', '') is the slot of the latest claim.
CREATE TABLE turns (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  slot INTEGER NOT NULL CHECK (slot >= 0),
  PRIMARY KEY (tenant, owner)
) STRICT, WITHOUT ROWID;

INSERT INTO turns (tenant, owner, slot) VALUES ('', '', 0);

CREATE TABLE inputs (
  seq INTEGER PRIMARY KEY,
  task_seq INTEGER NOT NULL REFERENCES tasks (seq) ON DELETE CASCADE,
  key TEXT NOT NULL CHECK (key <> ''),
  method TEXT NOT NULL
    CHECK (method IN ('elicitation/create', 'sampling/createMessage', 'roots/list')),
  params TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'answered', 'withdrawn', 'expired')),
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  answer TEXT,
  closed_at INTEGER,
  UNIQUE (task_seq, key),
  CHECK (expires_at >= asked_at),
  CHECK ((state = 'pending') = (closed_at IS NULL)),
  CHECK (answer IS NULL OR state = 'answered')
) STRICT;

CREATE INDEX inputs_pending ON inputs (task_seq) WHERE state = 'pending';
CREATE INDEX inputs_due ON inputs (expires_at) WHERE state = 'pending';

-- The ledger. No foreign key leads from here to a task: an operation outlives it.
CREATE TABLE operations (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL CHECK (owner <> ''),
  tenant TEXT NOT NULL CHECK (tenant <> ''),
  upstream TEXT NOT NULL,
  tool TEXT NOT NULL,
  effect TEXT NOT NULL CHECK (effect IN ('reversible', 'consequential')),
  state TEXT NOT NULL CHECK (
    state IN ('intended', 'dispatched', 'acknowledged', 'confirmed', 'refused', 'absent', 'unknown',
      'abandoned', 'contradicted')
  ),
  reason TEXT,
  arguments_digest TEXT NOT NULL,
  task_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  dispatched_at INTEGER,
  CHECK (updated_at >= created_at),
  CHECK (state NOT IN ('intended', 'abandoned') OR dispatched_at IS NULL),
  CHECK (state NOT IN ('dispatched', 'acknowledged', 'unknown') OR dispatched_at IS NOT NULL)
) STRICT;

CREATE INDEX operations_by_age ON operations (created_at, id);
CREATE INDEX operations_of_owner ON operations (tenant, owner, created_at, id);
CREATE INDEX operations_by_state ON operations (state, created_at, id);
-- Where an outcome may still come that outlives the task's record.
CREATE INDEX operations_awaited ON operations (task_id) WHERE state IN ('dispatched', 'unknown');

-- Append-only. The sequence is the row's own key, so a rolled-back write leaves no gap.
CREATE TABLE events (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  type TEXT NOT NULL CHECK (type <> ''),
  tenant TEXT NOT NULL,
  actor TEXT NOT NULL CHECK (actor <> ''),
  task_id TEXT,
  operation_id TEXT,
  reason TEXT
) STRICT;

CREATE INDEX events_of_task ON events (task_id) WHERE task_id IS NOT NULL;

CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN
  SELECT RAISE(ABORT, 'an event never changes');
END;

CREATE TABLE manifests (
  upstream TEXT PRIMARY KEY NOT NULL,
  taken_at INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT;
