-- SPDX-License-Identifier: Apache-2.0
-- The first schema. Ids are UUIDs of 16 bytes; instants are milliseconds since the Unix epoch, named _at_ms.

-- What made this schema, step by step. digest: SHA-256 of the script as it ran.
CREATE TABLE migrations (
  number INTEGER NOT NULL PRIMARY KEY CHECK (number >= 1),
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  applied_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE projects (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  name TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'archiving', 'archived')),
  updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `slots` is what the file says, `slots_override` what somebody set at run time; the second wins while it is not null.
CREATE TABLE pools (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  project_id BLOB NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  owner_mark TEXT,
  slots INTEGER NOT NULL CHECK (slots >= -1),
  slots_override INTEGER CHECK (slots_override >= -1),
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'draining', 'deleted')),
  updated_at_ms INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT, WITHOUT ROWID;

-- max_active and serial (a trigger of it has an overlap rule other than allow) are copied from the newest specs, so that a limit applies to
-- the runs that exist. pause_until_at_ms null = until resumed.
CREATE TABLE tasks (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  project_id BLOB NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'archived')),
  owner_mark TEXT,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  digest TEXT NOT NULL,
  max_active INTEGER NOT NULL DEFAULT 0 CHECK (max_active >= 0),
  serial INTEGER NOT NULL DEFAULT 0 CHECK (serial IN (0, 1)),
  paused_at_ms INTEGER,
  pause_until_at_ms INTEGER,
  pause_reason TEXT,
  paused_by TEXT,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  CHECK (paused_at_ms IS NOT NULL OR (pause_until_at_ms IS NULL AND pause_reason IS NULL AND paused_by IS NULL)),
  UNIQUE (project_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_revisions (
  task_id BLOB NOT NULL REFERENCES tasks (id),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  digest TEXT NOT NULL,
  spec TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (task_id, revision)
) STRICT, WITHOUT ROWID;

-- The id is made at the first publication of (task, name) and kept for ever, through deletion and re-creation.
CREATE TABLE triggers (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  task_id BLOB NOT NULL REFERENCES tasks (id),
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'archived')),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  digest TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  UNIQUE (task_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE trigger_revisions (
  trigger_id BLOB NOT NULL REFERENCES triggers (id),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  digest TEXT NOT NULL,
  spec TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (trigger_id, revision)
) STRICT, WITHOUT ROWID;

-- The one mutable row of a trigger. next_fire_at_ms is the cursor: the nominal time of the first unsettled occurrence; due_at_ms is that plus the
-- occurrence's jitter. last_scheduled_at_ms is the high-water mark: no occurrence up to it is ever settled again. made_up counts the missed
-- occurrences of the present absence that fire_all has admitted. armed = 0: paused, disabled, archived, exhausted, or fired by something else than time.
CREATE TABLE trigger_schedules (
  trigger_id BLOB NOT NULL PRIMARY KEY REFERENCES triggers (id),
  task_id BLOB NOT NULL,
  project_id BLOB NOT NULL,
  trigger_revision INTEGER NOT NULL,
  task_revision INTEGER NOT NULL,
  armed INTEGER NOT NULL CHECK (armed IN (0, 1)),
  next_fire_at_ms INTEGER,
  due_at_ms INTEGER,
  last_scheduled_at_ms INTEGER NOT NULL DEFAULT 0,
  last_admitted_at_ms INTEGER NOT NULL DEFAULT 0,
  first_claimed_at_ms INTEGER,
  made_up INTEGER NOT NULL DEFAULT 0,
  state_version INTEGER NOT NULL DEFAULT 0 CHECK (state_version >= 0),
  claim_version INTEGER NOT NULL DEFAULT 0 CHECK (claim_version >= 0),
  claim_owner TEXT,
  claim_token BLOB,
  claim_acquired_at_ms INTEGER,
  claim_expires_at_ms INTEGER,
  paused_at_ms INTEGER,
  pause_until_at_ms INTEGER,
  pause_reason TEXT,
  paused_by TEXT,
  quarantined_at_ms INTEGER,
  quarantine_until_at_ms INTEGER,
  quarantine_count INTEGER NOT NULL DEFAULT 0,
  quarantine_reason TEXT,
  updated_at_ms INTEGER NOT NULL,
  CHECK ((claim_owner IS NULL) = (claim_token IS NULL) AND (claim_token IS NULL) = (claim_acquired_at_ms IS NULL)
    AND (claim_acquired_at_ms IS NULL) = (claim_expires_at_ms IS NULL)),
  CHECK (claim_expires_at_ms IS NULL OR claim_expires_at_ms > claim_acquired_at_ms),
  CHECK (armed = 0 OR (next_fire_at_ms IS NOT NULL AND due_at_ms IS NOT NULL)),
  CHECK ((next_fire_at_ms IS NULL) = (due_at_ms IS NULL) AND (due_at_ms IS NULL OR due_at_ms >= next_fire_at_ms)),
  CHECK (paused_at_ms IS NOT NULL OR (pause_until_at_ms IS NULL AND pause_reason IS NULL AND paused_by IS NULL)),
  CHECK ((quarantined_at_ms IS NULL) = (quarantine_until_at_ms IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX trigger_schedules_due ON trigger_schedules (due_at_ms, trigger_id) WHERE armed = 1;
CREATE INDEX trigger_schedules_quarantine ON trigger_schedules (quarantine_until_at_ms) WHERE quarantine_until_at_ms IS NOT NULL;
CREATE INDEX trigger_schedules_pause ON trigger_schedules (pause_until_at_ms) WHERE pause_until_at_ms IS NOT NULL;
CREATE INDEX trigger_schedules_task ON trigger_schedules (task_id);

-- History: written once. A run's state is derived (its hot row, else its last attempt), see v_runs.
CREATE TABLE runs (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  project_id BLOB NOT NULL,
  task_id BLOB NOT NULL,
  task_revision INTEGER NOT NULL,
  trigger_id BLOB,
  trigger_revision INTEGER,
  origin TEXT NOT NULL CHECK (origin IN ('schedule', 'manual', 'api', 'sql', 'event', 'retry', 'backfill')),
  nominal_at_ms INTEGER,
  queued_at_ms INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  retry_of BLOB,
  requested_by TEXT,
  input TEXT,
  CHECK (origin <> 'schedule' OR trigger_id IS NOT NULL),
  CHECK ((origin = 'retry') = (retry_of IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_task ON runs (task_id, id);

CREATE TABLE attempts (
  run_id BLOB NOT NULL,
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  state TEXT NOT NULL CHECK (state IN ('succeeded', 'failed', 'cancelled', 'timed_out', 'lost')),
  last INTEGER NOT NULL CHECK (last IN (0, 1)),
  reason TEXT,
  exit_code INTEGER,
  signal INTEGER,
  session_id BLOB,
  lease_version INTEGER NOT NULL,
  started_at_ms INTEGER,
  finished_at_ms INTEGER NOT NULL,
  output_bytes INTEGER NOT NULL DEFAULT 0,
  omitted_bytes INTEGER NOT NULL DEFAULT 0,
  cpu_ms INTEGER,
  max_rss_kib INTEGER,
  PRIMARY KEY (run_id, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_bad ON attempts (finished_at_ms, run_id) WHERE state <> 'succeeded';

CREATE TABLE events (
  subject BLOB NOT NULL CHECK (length(subject) = 16),
  seq INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  attempt INTEGER,
  machine_row INTEGER,
  data TEXT,
  PRIMARY KEY (subject, seq)
) STRICT, WITHOUT ROWID;

-- One row per range of occurrences of a trigger that did not become runs. count_exact = 0: count is a lower bound.
CREATE TABLE ledger (
  trigger_id BLOB NOT NULL,
  from_at_ms INTEGER NOT NULL,
  to_at_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('skipped', 'coalesced', 'over_limit', 'overlap', 'paused', 'superseded', 'already_run', 'quarantined',
    'too_old', 'archived', 'disabled')),
  count INTEGER NOT NULL CHECK (count >= 1),
  count_exact INTEGER NOT NULL DEFAULT 1 CHECK (count_exact IN (0, 1)),
  reason TEXT,
  recorded_at_ms INTEGER NOT NULL,
  CHECK (to_at_ms >= from_at_ms),
  PRIMARY KEY (trigger_id, to_at_ms, from_at_ms, outcome)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_recorded ON ledger (recorded_at_ms);

-- Hot tables: an unfinished run has exactly one row in one of the three. lease_version never falls within an attempt.
CREATE TABLE ready (
  run_id BLOB NOT NULL PRIMARY KEY,
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  task_id BLOB NOT NULL,
  pool_id BLOB NOT NULL,
  slots INTEGER NOT NULL CHECK (slots >= 1),
  order_key INTEGER NOT NULL,
  trigger_born INTEGER NOT NULL CHECK (trigger_born IN (0, 1)),
  lease_version INTEGER NOT NULL DEFAULT 0,
  laters INTEGER NOT NULL DEFAULT 0,
  start_by_at_ms INTEGER,
  since_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ready_order ON ready (pool_id, order_key, run_id);
CREATE INDEX ready_task ON ready (task_id, pool_id, order_key, run_id);
CREATE INDEX ready_start_by ON ready (start_by_at_ms, run_id) WHERE start_by_at_ms IS NOT NULL;

-- reason: limit (max_active), overlap, paused, retry, start_at, unsatisfiable (takes more slots than its pool has), manual (drift was found; it
-- waits for a person).
CREATE TABLE parked (
  run_id BLOB NOT NULL PRIMARY KEY,
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  task_id BLOB NOT NULL,
  pool_id BLOB NOT NULL,
  slots INTEGER NOT NULL CHECK (slots >= 1),
  order_key INTEGER NOT NULL,
  trigger_born INTEGER NOT NULL CHECK (trigger_born IN (0, 1)),
  lease_version INTEGER NOT NULL DEFAULT 0,
  laters INTEGER NOT NULL DEFAULT 0,
  start_by_at_ms INTEGER,
  since_at_ms INTEGER NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('limit', 'overlap', 'paused', 'retry', 'start_at', 'unsatisfiable', 'manual')),
  detail TEXT,
  wake_at_ms INTEGER,
  CHECK ((reason IN ('retry', 'start_at')) = (wake_at_ms IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX parked_wake ON parked (wake_at_ms, run_id) WHERE wake_at_ms IS NOT NULL;
CREATE INDEX parked_start_by ON parked (start_by_at_ms, run_id) WHERE start_by_at_ms IS NOT NULL;
CREATE INDEX parked_unsatisfiable ON parked (pool_id, slots, run_id) WHERE reason = 'unsatisfiable';
CREATE INDEX parked_limited ON parked (task_id, order_key, run_id) WHERE reason IN ('limit', 'overlap');
CREATE INDEX parked_task ON parked (task_id, trigger_born);

-- started_at_ms null: granted, nothing of it has run yet. The three process columns name the runner, so that a restart finds it.
CREATE TABLE leased (
  run_id BLOB NOT NULL PRIMARY KEY,
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  task_id BLOB NOT NULL,
  pool_id BLOB NOT NULL,
  slots INTEGER NOT NULL CHECK (slots >= 1),
  order_key INTEGER NOT NULL,
  trigger_born INTEGER NOT NULL CHECK (trigger_born IN (0, 1)),
  lease_version INTEGER NOT NULL CHECK (lease_version >= 1),
  laters INTEGER NOT NULL DEFAULT 0,
  start_by_at_ms INTEGER,
  since_at_ms INTEGER NOT NULL,
  session_id BLOB NOT NULL,
  token_digest TEXT NOT NULL,
  acquired_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  boot_id TEXT,
  pid INTEGER,
  start_ticks INTEGER,
  CHECK (expires_at_ms > acquired_at_ms),
  CHECK ((boot_id IS NULL) = (pid IS NULL) AND (pid IS NULL) = (start_ticks IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX leased_pool ON leased (pool_id, slots);
CREATE INDEX leased_task ON leased (task_id, trigger_born);

CREATE TABLE cancels (
  run_id BLOB NOT NULL PRIMARY KEY,
  requested_at_ms INTEGER NOT NULL,
  requested_by TEXT,
  reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE output (
  run_id BLOB NOT NULL,
  attempt INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  stream INTEGER NOT NULL CHECK (stream IN (1, 2, 3)),
  bytes BLOB NOT NULL,
  PRIMARY KEY (run_id, attempt, seq)
) STRICT, WITHOUT ROWID;

-- Output is kept by its task's own rule: this says until when.
CREATE TABLE output_until (
  run_id BLOB NOT NULL PRIMARY KEY,
  until_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX output_until_at ON output_until (until_at_ms);

CREATE TABLE workers (
  session_id BLOB NOT NULL PRIMARY KEY CHECK (length(session_id) = 16),
  name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  capacity INTEGER NOT NULL,
  boot_id TEXT NOT NULL,
  pid INTEGER NOT NULL,
  version TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  heartbeat_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
) STRICT, WITHOUT ROWID;

-- Gates are what is locked to hand out what a pool or a task limits. SQLite has one writer, so here they only carry the generation.
CREATE TABLE pool_gates (pool_id BLOB NOT NULL PRIMARY KEY, generation INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE task_gates (task_id BLOB NOT NULL PRIMARY KEY, generation INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;

CREATE VIEW v_runs AS
SELECT r.id, r.project_id, p.name AS project, r.task_id, t.name AS task, g.name AS trigger_name, r.trigger_id, r.origin, r.nominal_at_ms, r.queued_at_ms,
  r.retry_of, r.requested_by, r.task_revision,
  CASE
    WHEN l.run_id IS NOT NULL THEN 'running'
    WHEN w.run_id IS NOT NULL THEN 'queued'
    WHEN k.run_id IS NOT NULL THEN CASE k.reason WHEN 'retry' THEN 'retry_wait' WHEN 'start_at' THEN 'scheduled' ELSE 'queued' END
    WHEN a.state = 'lost' THEN 'failed'
    ELSE a.state
  END AS state,
  coalesce(l.attempt, w.attempt, k.attempt, a.attempt) AS attempts,
  coalesce(l.started_at_ms, a.started_at_ms) AS started_at_ms,
  CASE WHEN l.run_id IS NULL AND w.run_id IS NULL AND k.run_id IS NULL THEN a.finished_at_ms END AS finished_at_ms,
  CASE WHEN l.run_id IS NULL AND w.run_id IS NULL AND k.run_id IS NULL THEN a.exit_code END AS exit_code,
  CASE WHEN l.run_id IS NULL AND w.run_id IS NULL AND k.run_id IS NULL THEN a.signal END AS signal,
  CASE WHEN l.run_id IS NOT NULL OR w.run_id IS NOT NULL THEN NULL WHEN k.run_id IS NOT NULL THEN coalesce(k.detail, k.reason) ELSE a.reason END AS reason
FROM runs r
JOIN projects p ON p.id = r.project_id
JOIN tasks t ON t.id = r.task_id
LEFT JOIN triggers g ON g.id = r.trigger_id
LEFT JOIN leased l ON l.run_id = r.id
LEFT JOIN ready w ON w.run_id = r.id
LEFT JOIN parked k ON k.run_id = r.id
LEFT JOIN attempts a ON a.run_id = r.id AND a.attempt = (SELECT max(attempt) FROM attempts m WHERE m.run_id = r.id);
