// Written by scripts/embed-migrations.ts from migrations/*.sql. Do not edit.
import type { Migration } from './migrate.ts';

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'initial',
    breaking: false,
    sql: `-- Times are ms since the epoch by the store's clock. JSON bodies are text. The CHECKs repeat what the
-- code promises, so that a mistake in one place is stopped by the other.

CREATE TABLE tasks (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL CHECK (owner <> ''),
  tenant TEXT NOT NULL CHECK (tenant <> ''),
  origin TEXT NOT NULL CHECK (origin IN ('2025-11-25', '2026-07-28', 'plain', 'job')),
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
  journalled INTEGER NOT NULL CHECK (journalled IN (0, 1)),
  -- What the record takes: the bytes of its bodies, and a share for its rows.
  kept_bytes INTEGER NOT NULL CHECK (kept_bytes > 0),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  CHECK ((phase = 'ended') = (ending IS NOT NULL)),
  CHECK (updated_at >= created_at),
  CHECK (effect <> 'read' OR operation_id IS NULL)
) STRICT;

CREATE INDEX tasks_by_age ON tasks (created_at, id);
CREATE INDEX tasks_of_owner ON tasks (tenant, owner, created_at, id);
CREATE INDEX tasks_with_handle ON tasks (tenant, owner, created_at, id)
  WHERE handle = 'given' OR (origin <> 'plain' AND handle = 'pending');
CREATE INDEX tasks_open ON tasks (expires_at) WHERE phase <> 'ended';
CREATE INDEX tasks_ended ON tasks (expires_at) WHERE phase = 'ended';

-- Bodies lie apart, so that a status read touches small rows only.
CREATE TABLE task_requests (
  seq INTEGER PRIMARY KEY REFERENCES tasks (seq) ON DELETE CASCADE,
  arguments TEXT NOT NULL,
  meta TEXT NOT NULL,
  progress_token TEXT,
  subject TEXT
) STRICT;

CREATE TABLE task_outcomes (
  seq INTEGER PRIMARY KEY REFERENCES tasks (seq) ON DELETE CASCADE,
  envelope INTEGER NOT NULL CHECK (envelope >= 1),
  body TEXT NOT NULL
) STRICT;

-- How many tasks are open and how many bytes are kept: of a principal (tenant, owner), of a tenant (tenant, ''), of
-- all ('', ''). Every record has bytes, so a row without any is of nobody who is known here.
CREATE TABLE usage (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  open INTEGER NOT NULL CHECK (open >= 0),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  PRIMARY KEY (tenant, owner)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tasks_counted AFTER INSERT ON tasks
BEGIN
  INSERT INTO usage (tenant, owner, open, bytes)
  SELECT column1, column2, NEW.phase <> 'ended', NEW.kept_bytes
  FROM (VALUES ('', ''), (NEW.tenant, ''), (NEW.tenant, NEW.owner)) WHERE true
  ON CONFLICT DO UPDATE SET open = open + excluded.open, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER tasks_recounted AFTER UPDATE OF phase, kept_bytes ON tasks
WHEN OLD.kept_bytes <> NEW.kept_bytes OR (OLD.phase <> 'ended') <> (NEW.phase <> 'ended')
BEGIN
  UPDATE usage
  SET open = open - (OLD.phase <> 'ended') + (NEW.phase <> 'ended'),
    bytes = bytes - OLD.kept_bytes + NEW.kept_bytes
  WHERE (tenant, owner) IN (VALUES ('', ''), (NEW.tenant, ''), (NEW.tenant, NEW.owner));
END;

CREATE TRIGGER tasks_uncounted AFTER DELETE ON tasks
BEGIN
  UPDATE usage SET bytes = bytes - OLD.kept_bytes
  WHERE (tenant, owner) IN (VALUES ('', ''), (OLD.tenant, ''), (OLD.tenant, OLD.owner));
  DELETE FROM usage
  WHERE bytes = 0 AND (tenant, owner) IN (VALUES (OLD.tenant, ''), (OLD.tenant, OLD.owner));
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
  state TEXT NOT NULL CHECK (state IN ('parked', 'queued', 'running', 'ended')),
  owner TEXT,
  lease_until INTEGER,
  dispatched_at INTEGER,
  upstream_task TEXT,
  -- What a parked one waits for: no open question, a time, or whichever comes first.
  wake_on_answers INTEGER CHECK (wake_on_answers = 1),
  wake_at INTEGER,
  -- How long it has run without its waits, as it said last.
  ran_ms INTEGER CHECK (ran_ms >= 0),
  ended_at INTEGER,
  end_reason TEXT,
  UNIQUE (task_seq, number),
  CHECK (state NOT IN ('parked', 'queued') OR (owner IS NULL AND dispatched_at IS NULL)),
  CHECK ((state = 'parked') = (wake_on_answers IS NOT NULL OR wake_at IS NOT NULL)),
  CHECK (state <> 'running' OR owner IS NOT NULL),
  CHECK ((state = 'running') = (lease_until IS NOT NULL)),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL AND end_reason IS NOT NULL))
) STRICT;

CREATE INDEX attempts_queued ON attempts (tool, slot) WHERE state = 'queued';
CREATE INDEX attempts_running ON attempts (tool) WHERE state = 'running';
CREATE INDEX attempts_sleeping ON attempts (wake_at) WHERE wake_at IS NOT NULL;
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
  state TEXT NOT NULL
    CHECK (state IN ('pending', 'confirming', 'answered', 'withdrawn', 'expired')),
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  policy TEXT,
  confirmation_hash TEXT CHECK (confirmation_hash <> ''),
  answer TEXT,
  closed_at INTEGER,
  closed_because TEXT
    CHECK (closed_because IN ('upstream_lost', 'upstream_withdrew', 'expired', 'ended')),
  UNIQUE (task_seq, key),
  CHECK (expires_at >= asked_at),
  CHECK ((state IN ('pending', 'confirming')) = (closed_at IS NULL)),
  CHECK (state <> 'confirming' OR confirmation_hash IS NOT NULL),
  CHECK ((state IN ('withdrawn', 'expired')) = (closed_because IS NOT NULL)),
  CHECK (answer IS NULL OR state = 'answered')
) STRICT;

CREATE INDEX inputs_open ON inputs (task_seq, state) WHERE closed_at IS NULL;
CREATE INDEX inputs_due ON inputs (expires_at) WHERE closed_at IS NULL;
CREATE UNIQUE INDEX inputs_confirmation ON inputs (confirmation_hash)
  WHERE confirmation_hash IS NOT NULL;

-- What journalled handlers have done: facts in the order of their positions, which have no gaps.
CREATE TABLE journal (
  seq INTEGER PRIMARY KEY,
  task_seq INTEGER NOT NULL REFERENCES tasks (seq) ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position >= 0),
  type TEXT NOT NULL CHECK (type IN ('begun', 'ended')),
  name TEXT,
  kind TEXT CHECK (kind IN ('step', 'effect', 'ask', 'sleep', 'secret')),
  operation_id TEXT,
  note TEXT,
  -- Position of the fact that this one ends.
  ends INTEGER,
  value TEXT,
  error TEXT,
  UNIQUE (task_seq, position),
  CHECK ((type = 'begun') = (name IS NOT NULL AND kind IS NOT NULL AND ends IS NULL)),
  CHECK ((type = 'ended') = (ends IS NOT NULL AND name IS NULL AND kind IS NULL)),
  CHECK (type = 'begun' OR (operation_id IS NULL AND note IS NULL)),
  CHECK (type = 'ended' OR (value IS NULL AND error IS NULL)),
  CHECK (value IS NULL OR error IS NULL),
  CHECK (ends < position)
) STRICT;

CREATE UNIQUE INDEX journal_ends ON journal (task_seq, ends) WHERE ends IS NOT NULL;

CREATE TRIGGER journal_stays BEFORE UPDATE ON journal
BEGIN
  SELECT RAISE(ABORT, 'a fact of a journal never changes');
END;

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
  -- Of an effect inside a handler: the operation of the whole call, and the effect's name.
  parent_id TEXT,
  name TEXT,
  -- What the peer gave as proof, as JSON.
  receipt TEXT,
  delivered_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  dispatched_at INTEGER,
  CHECK ((parent_id IS NULL) = (name IS NULL)),
  CHECK (parent_id IS NULL OR parent_id <> id),
  CHECK (updated_at >= created_at),
  CHECK (state NOT IN ('intended', 'abandoned') OR dispatched_at IS NULL),
  CHECK (state NOT IN ('dispatched', 'acknowledged', 'unknown') OR dispatched_at IS NOT NULL)
) STRICT;

CREATE INDEX operations_by_age ON operations (created_at, id);
CREATE INDEX operations_of_owner ON operations (tenant, owner, created_at, id);
CREATE INDEX operations_by_state ON operations (state, created_at, id);
-- Where an outcome may still come that outlives the task's record.
CREATE INDEX operations_awaited ON operations (task_id)
  WHERE state IN ('dispatched', 'unknown') AND parent_id IS NULL;
CREATE UNIQUE INDEX operations_effects ON operations (parent_id, name) WHERE parent_id IS NOT NULL;
-- What a repeat of a call is compared with.
CREATE INDEX operations_repeated ON operations (tenant, owner, arguments_digest, created_at)
  WHERE parent_id IS NULL;

-- Calls that were made under an idempotency key. Of a read the claim goes with the task's record, of anything else it
-- stays as long as the ledger's row.
CREATE TABLE claims (
  key_hash TEXT PRIMARY KEY NOT NULL CHECK (key_hash <> ''),
  fingerprint TEXT NOT NULL CHECK (fingerprint <> ''),
  task_seq INTEGER REFERENCES tasks (seq) ON DELETE CASCADE,
  operation_seq INTEGER REFERENCES operations (seq) ON DELETE CASCADE,
  CHECK ((task_seq IS NULL) <> (operation_seq IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_of_task ON claims (task_seq) WHERE task_seq IS NOT NULL;
CREATE INDEX claims_of_operation ON claims (operation_seq) WHERE operation_seq IS NOT NULL;

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

-- What is known of artifacts; their content lies beside the store. No foreign key leads to a task: they have a time of
-- their own. \`room\` is what one counts for, as ARTIFACT_BYTES_MIN says.
CREATE TABLE artifacts (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL CHECK (owner <> ''),
  tenant TEXT NOT NULL CHECK (tenant <> ''),
  task_id TEXT,
  name TEXT NOT NULL CHECK (name <> ''),
  media_type TEXT NOT NULL CHECK (media_type <> ''),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  room INTEGER NOT NULL AS (max(bytes, 4096)) VIRTUAL,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL CHECK (expires_at >= created_at)
) STRICT;

CREATE INDEX artifacts_of_owner ON artifacts (tenant, owner, created_at, id);
CREATE INDEX artifacts_of_task ON artifacts (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX artifacts_due ON artifacts (expires_at);

-- How many bytes are kept: of a principal (tenant, owner), of a tenant (tenant, ''), of all ('', '').
CREATE TABLE artifact_bytes (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  PRIMARY KEY (tenant, owner)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER artifacts_kept AFTER INSERT ON artifacts
BEGIN
  INSERT INTO artifact_bytes (tenant, owner, bytes)
  VALUES ('', '', NEW.room), (NEW.tenant, '', NEW.room), (NEW.tenant, NEW.owner, NEW.room)
  ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER artifacts_gone AFTER DELETE ON artifacts
BEGIN
  UPDATE artifact_bytes SET bytes = bytes - OLD.room
  WHERE (tenant, owner) IN (VALUES ('', ''), (OLD.tenant, ''), (OLD.tenant, OLD.owner));
  DELETE FROM artifact_bytes
  WHERE bytes = 0 AND (tenant, owner) IN (VALUES (OLD.tenant, ''), (OLD.tenant, OLD.owner));
END;

CREATE TABLE manifests (
  upstream TEXT PRIMARY KEY NOT NULL,
  taken_at INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT;
`,
  },
];
