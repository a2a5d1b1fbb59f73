-- SPDX-License-Identifier: Apache-2.0
-- The first schema on PostgreSQL. Everything lies in the schema pawl, and every name is written with it: no search_path is relied on. Ids
-- are uuid; instants are milliseconds since the Unix epoch, named _at_ms; specs and inputs are text, because digests count their bytes;
-- names sort by their bytes, as on SQLite, and no upgrade of the system's collations can damage an index.

DO $$ BEGIN
  IF pg_catalog.to_regnamespace('pawl') IS NULL THEN CREATE SCHEMA pawl; END IF;
END $$;
REVOKE ALL ON SCHEMA pawl FROM PUBLIC;

-- The one clock. Volatile: in a condition it stands as a scalar of a MATERIALIZED CTE, or no index serves the condition.
CREATE FUNCTION pawl.now_ms() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint;
REVOKE ALL ON FUNCTION pawl.now_ms() FROM PUBLIC;

-- What made this schema, step by step. digest: SHA-256 of the script as it ran.
CREATE TABLE pawl.migrations (
  number integer NOT NULL PRIMARY KEY CHECK (number >= 1),
  name text NOT NULL,
  digest text NOT NULL,
  applied_at_ms bigint NOT NULL
);

CREATE TABLE pawl.meta (
  key text COLLATE "C" NOT NULL PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE pawl.projects (
  id uuid NOT NULL PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'archiving', 'archived')),
  updated_at_ms bigint NOT NULL
);

-- `slots` is what the file says, `slots_override` what somebody set at run time; the second wins while it is not null.
CREATE TABLE pawl.pools (
  id uuid NOT NULL PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES pawl.projects (id),
  name text COLLATE "C" NOT NULL,
  owner_mark text,
  slots integer NOT NULL CHECK (slots >= -1),
  slots_override integer CHECK (slots_override >= -1),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'draining', 'deleted')),
  updated_at_ms bigint NOT NULL,
  UNIQUE (project_id, name)
);

-- max_active and serial (a trigger of it has an overlap rule other than allow) are copied from the newest specs, so that a limit applies to
-- the runs that exist. pause_until_at_ms null = until resumed.
CREATE TABLE pawl.tasks (
  id uuid NOT NULL PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES pawl.projects (id),
  name text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('active', 'archived')),
  owner_mark text,
  revision bigint NOT NULL CHECK (revision >= 1),
  digest text NOT NULL,
  max_active integer NOT NULL DEFAULT 0 CHECK (max_active >= 0),
  serial boolean NOT NULL DEFAULT false,
  paused_at_ms bigint,
  pause_until_at_ms bigint,
  pause_reason text,
  paused_by text,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  CHECK (paused_at_ms IS NOT NULL OR (pause_until_at_ms IS NULL AND pause_reason IS NULL AND paused_by IS NULL)),
  UNIQUE (project_id, name)
);

CREATE TABLE pawl.task_revisions (
  task_id uuid NOT NULL REFERENCES pawl.tasks (id),
  revision bigint NOT NULL CHECK (revision >= 1),
  digest text NOT NULL,
  spec text NOT NULL,
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (task_id, revision)
);

-- The id is made at the first publication of (task, name) and kept for ever, through deletion and re-creation.
CREATE TABLE pawl.triggers (
  id uuid NOT NULL PRIMARY KEY,
  task_id uuid NOT NULL REFERENCES pawl.tasks (id),
  name text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('active', 'archived')),
  revision bigint NOT NULL CHECK (revision >= 1),
  digest text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  UNIQUE (task_id, name)
);

CREATE TABLE pawl.trigger_revisions (
  trigger_id uuid NOT NULL REFERENCES pawl.triggers (id),
  revision bigint NOT NULL CHECK (revision >= 1),
  digest text NOT NULL,
  spec text NOT NULL,
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (trigger_id, revision)
);

-- The one mutable row of a trigger. next_fire_at_ms is the cursor: the nominal time of the first unsettled occurrence; due_at_ms is that
-- plus the occurrence's jitter. last_scheduled_at_ms is the high-water mark: no occurrence up to it is ever settled again. made_up counts
-- the missed occurrences of the present absence that fire_all has admitted. Not armed: paused, disabled, archived, exhausted, or fired by
-- something else than time. A claim is written and renewed in place (no index has its columns), so pages keep room for it.
CREATE TABLE pawl.trigger_schedules (
  trigger_id uuid NOT NULL PRIMARY KEY REFERENCES pawl.triggers (id),
  task_id uuid NOT NULL REFERENCES pawl.tasks (id),
  project_id uuid NOT NULL REFERENCES pawl.projects (id),
  trigger_revision bigint NOT NULL,
  task_revision bigint NOT NULL,
  armed boolean NOT NULL,
  next_fire_at_ms bigint,
  due_at_ms bigint,
  last_scheduled_at_ms bigint NOT NULL DEFAULT 0,
  last_admitted_at_ms bigint NOT NULL DEFAULT 0,
  first_claimed_at_ms bigint,
  made_up integer NOT NULL DEFAULT 0 CHECK (made_up >= 0),
  state_version bigint NOT NULL DEFAULT 0 CHECK (state_version >= 0),
  claim_version bigint NOT NULL DEFAULT 0 CHECK (claim_version >= 0),
  claim_owner text,
  claim_token uuid,
  claim_acquired_at_ms bigint,
  claim_expires_at_ms bigint,
  paused_at_ms bigint,
  pause_until_at_ms bigint,
  pause_reason text,
  paused_by text,
  quarantined_at_ms bigint,
  quarantine_until_at_ms bigint,
  quarantine_count integer NOT NULL DEFAULT 0 CHECK (quarantine_count >= 0),
  quarantine_reason text,
  updated_at_ms bigint NOT NULL,
  CHECK (num_nulls(claim_owner, claim_token, claim_acquired_at_ms, claim_expires_at_ms) IN (0, 4)),
  CHECK (claim_expires_at_ms > claim_acquired_at_ms),
  CHECK (NOT armed OR next_fire_at_ms IS NOT NULL),
  CHECK ((next_fire_at_ms IS NULL) = (due_at_ms IS NULL) AND (due_at_ms IS NULL OR due_at_ms >= next_fire_at_ms)),
  CHECK (paused_at_ms IS NOT NULL OR (pause_until_at_ms IS NULL AND pause_reason IS NULL AND paused_by IS NULL)),
  CHECK ((quarantined_at_ms IS NULL) = (quarantine_until_at_ms IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX trigger_schedules_due ON pawl.trigger_schedules (due_at_ms, trigger_id) WHERE armed;
CREATE INDEX trigger_schedules_quarantine ON pawl.trigger_schedules (quarantine_until_at_ms) WHERE quarantine_until_at_ms IS NOT NULL;
CREATE INDEX trigger_schedules_pause ON pawl.trigger_schedules (pause_until_at_ms) WHERE pause_until_at_ms IS NOT NULL;
CREATE INDEX trigger_schedules_task ON pawl.trigger_schedules (task_id);

-- History: written once, and dropped by partition. The key of every partitioned table begins with the id of a run, whose first bits are an
-- instant, so one range of ids is one range of time in all four. No foreign key touches them: it would make DROP and DETACH fail. A run's
-- state is derived (its hot row, else its last attempt), see v_runs.
CREATE TABLE pawl.runs (
  id uuid NOT NULL PRIMARY KEY,
  project_id uuid NOT NULL,
  task_id uuid NOT NULL,
  task_revision bigint NOT NULL,
  trigger_id uuid,
  trigger_revision bigint,
  origin text NOT NULL CHECK (origin IN ('schedule', 'manual', 'api', 'sql', 'event', 'retry', 'backfill')),
  nominal_at_ms bigint,
  queued_at_ms bigint NOT NULL,
  priority integer NOT NULL,
  retry_of uuid,
  requested_by text,
  input text,
  CHECK (origin <> 'schedule' OR trigger_id IS NOT NULL),
  CHECK ((origin = 'retry') = (retry_of IS NOT NULL))
) PARTITION BY RANGE (id);
CREATE INDEX runs_task ON pawl.runs (task_id, id);

CREATE TABLE pawl.attempts (
  run_id uuid NOT NULL,
  attempt integer NOT NULL CHECK (attempt >= 1),
  state text NOT NULL CHECK (state IN ('succeeded', 'failed', 'cancelled', 'timed_out', 'lost')),
  last boolean NOT NULL,
  reason text,
  exit_code integer,
  signal integer,
  session_id uuid,
  lease_version bigint NOT NULL,
  started_at_ms bigint,
  finished_at_ms bigint NOT NULL,
  output_bytes bigint NOT NULL DEFAULT 0,
  omitted_bytes bigint NOT NULL DEFAULT 0,
  cpu_ms bigint,
  max_rss_kib bigint,
  PRIMARY KEY (run_id, attempt)
) PARTITION BY RANGE (run_id);
CREATE INDEX attempts_bad ON pawl.attempts (finished_at_ms, run_id) WHERE state <> 'succeeded';

-- One sequence numbers all events. Two writers of one subject need not wait for each other (a canceller and a worker that finishes), no
-- number is ever taken twice, and what is written after a commit is numbered behind it. (xid, seq) is the position in the stream of all
-- events, which is read no further than pg_snapshot_xmin(pg_current_snapshot()).
CREATE SEQUENCE pawl.event_numbers;

CREATE TABLE pawl.events (
  subject uuid NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('pawl.event_numbers'),
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at_ms bigint NOT NULL,
  kind text NOT NULL,
  attempt integer,
  machine_row integer,
  data text,
  PRIMARY KEY (subject, seq)
) PARTITION BY RANGE (subject);
-- A late report is recorded once per attempt and lease version, which stands in data.
CREATE UNIQUE INDEX events_late ON pawl.events (subject, attempt, data) WHERE kind = 'attempt.late_report';

-- Events of tasks, triggers and pools: their ids are as old as they are, so no range of run ids may take them along.
CREATE TABLE pawl.facts (
  subject uuid NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('pawl.event_numbers'),
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at_ms bigint NOT NULL,
  kind text NOT NULL CHECK (kind NOT LIKE 'run.%' AND kind NOT LIKE 'attempt.%'),
  data text,
  PRIMARY KEY (subject, seq)
);

CREATE TABLE pawl.output (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  seq bigint NOT NULL,
  at_ms bigint NOT NULL,
  stream smallint NOT NULL CHECK (stream IN (1, 2, 3)),
  bytes bytea NOT NULL,
  PRIMARY KEY (run_id, attempt, seq)
) PARTITION BY RANGE (run_id);

CREATE TABLE pawl.runs_default PARTITION OF pawl.runs DEFAULT;
CREATE TABLE pawl.attempts_default PARTITION OF pawl.attempts DEFAULT;
CREATE TABLE pawl.events_default PARTITION OF pawl.events DEFAULT;
CREATE TABLE pawl.output_default PARTITION OF pawl.output DEFAULT;

-- Output is kept by its task's own rule: this says until when.
CREATE TABLE pawl.output_until (
  run_id uuid NOT NULL PRIMARY KEY,
  until_at_ms bigint NOT NULL
);
CREATE INDEX output_until_at ON pawl.output_until (until_at_ms);

-- One row per range of occurrences of a trigger that did not become runs. Not count_exact: count is a lower bound.
CREATE TABLE pawl.ledger (
  trigger_id uuid NOT NULL,
  from_at_ms bigint NOT NULL,
  to_at_ms bigint NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('skipped', 'coalesced', 'over_limit', 'overlap', 'paused', 'superseded', 'already_run',
    'quarantined',     'too_old', 'archived', 'disabled')),
  count bigint NOT NULL CHECK (count >= 1),
  count_exact boolean NOT NULL DEFAULT true,
  reason text,
  recorded_at_ms bigint NOT NULL,
  CHECK (to_at_ms >= from_at_ms),
  PRIMARY KEY (trigger_id, to_at_ms, from_at_ms, outcome)
);
CREATE INDEX ledger_recorded ON pawl.ledger (recorded_at_ms);

-- Hot tables: an unfinished run has exactly one row in one of the three. lease_version never falls within an attempt. They live by insert
-- and delete, so vacuum comes by number of dead rows and at full speed, whatever the size, and never takes the lock that shrinking the file
-- needs.
CREATE TABLE pawl.ready (
  run_id uuid NOT NULL PRIMARY KEY,
  attempt integer NOT NULL CHECK (attempt >= 1),
  task_id uuid NOT NULL,
  pool_id uuid NOT NULL,
  slots integer NOT NULL CHECK (slots >= 1),
  order_key bigint NOT NULL,
  trigger_born boolean NOT NULL,
  lease_version bigint NOT NULL DEFAULT 0 CHECK (lease_version >= 0),
  laters integer NOT NULL DEFAULT 0,
  start_by_at_ms bigint,
  since_at_ms bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false);
CREATE INDEX ready_order ON pawl.ready (pool_id, order_key, run_id);
CREATE INDEX ready_task ON pawl.ready (task_id, pool_id, order_key, run_id);
CREATE INDEX ready_start_by ON pawl.ready (start_by_at_ms, run_id) WHERE start_by_at_ms IS NOT NULL;

-- reason: limit (max_active), overlap, paused, retry, start_at, unsatisfiable (takes more slots than its pool has), manual (drift was
-- found; it waits for a person).
CREATE TABLE pawl.parked (
  run_id uuid NOT NULL PRIMARY KEY,
  attempt integer NOT NULL CHECK (attempt >= 1),
  task_id uuid NOT NULL,
  pool_id uuid NOT NULL,
  slots integer NOT NULL CHECK (slots >= 1),
  order_key bigint NOT NULL,
  trigger_born boolean NOT NULL,
  lease_version bigint NOT NULL DEFAULT 0 CHECK (lease_version >= 0),
  laters integer NOT NULL DEFAULT 0,
  start_by_at_ms bigint,
  since_at_ms bigint NOT NULL,
  reason text NOT NULL CHECK (reason IN ('limit', 'overlap', 'paused', 'retry', 'start_at', 'unsatisfiable', 'manual')),
  detail text,
  wake_at_ms bigint,
  CHECK ((reason IN ('retry', 'start_at')) = (wake_at_ms IS NOT NULL))
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false);
CREATE INDEX parked_wake ON pawl.parked (wake_at_ms, run_id) WHERE wake_at_ms IS NOT NULL;
CREATE INDEX parked_start_by ON pawl.parked (start_by_at_ms, run_id) WHERE start_by_at_ms IS NOT NULL;
CREATE INDEX parked_unsatisfiable ON pawl.parked (pool_id, slots, run_id) WHERE reason = 'unsatisfiable';
CREATE INDEX parked_limited ON pawl.parked (task_id, order_key, run_id) WHERE reason IN ('limit', 'overlap');
CREATE INDEX parked_task ON pawl.parked (task_id, trigger_born);

-- started_at_ms null: granted, nothing of it has run yet. The three process columns name the runner, so that a restart finds it. A renewal
-- changes expires_at_ms only, which no index has: half of each page is left for it.
CREATE TABLE pawl.leased (
  run_id uuid NOT NULL PRIMARY KEY,
  attempt integer NOT NULL CHECK (attempt >= 1),
  task_id uuid NOT NULL,
  pool_id uuid NOT NULL,
  slots integer NOT NULL CHECK (slots >= 1),
  order_key bigint NOT NULL,
  trigger_born boolean NOT NULL,
  lease_version bigint NOT NULL CHECK (lease_version >= 1),
  laters integer NOT NULL DEFAULT 0,
  start_by_at_ms bigint,
  since_at_ms bigint NOT NULL,
  session_id uuid NOT NULL,
  token_digest text NOT NULL,
  acquired_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  started_at_ms bigint,
  boot_id text,
  pid bigint,
  start_ticks bigint,
  CHECK (expires_at_ms > acquired_at_ms),
  CHECK (num_nulls(boot_id, pid, start_ticks) IN (0, 3))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  vacuum_truncate = false);
CREATE INDEX leased_pool ON pawl.leased (pool_id, slots);
CREATE INDEX leased_task ON pawl.leased (task_id, trigger_born);
CREATE INDEX leased_session ON pawl.leased (session_id, run_id);

CREATE TABLE pawl.cancels (
  run_id uuid NOT NULL PRIMARY KEY,
  requested_at_ms bigint NOT NULL,
  requested_by text,
  reason text NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = false);

-- A worker's generations rise; two that register at once under one name get different ones.
CREATE SEQUENCE pawl.worker_generations;

CREATE TABLE pawl.workers (
  session_id uuid NOT NULL PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  generation bigint NOT NULL DEFAULT nextval('pawl.worker_generations'),
  capacity integer NOT NULL,
  boot_id text NOT NULL,
  pid bigint NOT NULL,
  version text NOT NULL,
  started_at_ms bigint NOT NULL,
  heartbeat_at_ms bigint NOT NULL,
  ended_at_ms bigint
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Control processes on this database. address: where the health door of one answers, HOST:PORT.
CREATE TABLE pawl.replicas (
  id uuid NOT NULL PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  version text NOT NULL,
  host text NOT NULL,
  pid bigint NOT NULL,
  address text,
  state text NOT NULL CHECK (state IN ('starting', 'ready', 'unready', 'draining', 'ended')),
  started_at_ms bigint NOT NULL,
  heartbeat_at_ms bigint NOT NULL,
  ended_at_ms bigint,
  CHECK ((state = 'ended') = (ended_at_ms IS NOT NULL))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Gates are what is locked to hand out what a pool or a task limits; a generation that has risen says that the limit has changed.
CREATE TABLE pawl.pool_gates (
  pool_id uuid NOT NULL PRIMARY KEY,
  generation bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE pawl.task_gates (
  task_id uuid NOT NULL PRIMARY KEY,
  generation bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE VIEW pawl.v_runs AS
SELECT r.id, r.project_id, p.name AS project, r.task_id, t.name AS task, g.name AS trigger_name, r.trigger_id, r.origin, r.nominal_at_ms,
  r.queued_at_ms,
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
  CASE WHEN l.run_id IS NOT NULL OR w.run_id IS NOT NULL THEN NULL WHEN k.run_id IS NOT NULL THEN coalesce(k.detail, k.reason)
    ELSE a.reason END AS reason
FROM pawl.runs r
JOIN pawl.projects p ON p.id = r.project_id
JOIN pawl.tasks t ON t.id = r.task_id
LEFT JOIN pawl.triggers g ON g.id = r.trigger_id
LEFT JOIN pawl.leased l ON l.run_id = r.id
LEFT JOIN pawl.ready w ON w.run_id = r.id
LEFT JOIN pawl.parked k ON k.run_id = r.id
LEFT JOIN LATERAL (SELECT m.attempt, m.state, m.reason, m.exit_code, m.signal, m.started_at_ms, m.finished_at_ms
  FROM pawl.attempts m WHERE m.run_id = r.id ORDER BY m.attempt DESC LIMIT 1) a ON true;

-- For people in psql: the same facts with instants that read as such, in the zone of their own session.
CREATE FUNCTION pawl.at(at_ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN timestamptz 'epoch' + at_ms * interval '1 millisecond';
REVOKE ALL ON FUNCTION pawl.at(bigint) FROM PUBLIC;

CREATE VIEW pawl.v_run AS
SELECT id, project, task, trigger_name AS trigger, origin, state, attempts, pawl.at(nominal_at_ms) AS nominal,
  pawl.at(queued_at_ms) AS queued,
  pawl.at(started_at_ms) AS started, pawl.at(finished_at_ms) AS finished, exit_code, signal, reason, requested_by, retry_of
FROM pawl.v_runs;

CREATE VIEW pawl.v_attempt AS
SELECT run_id, attempt, state, reason, exit_code, signal, lease_version, pawl.at(started_at_ms) AS started,
  pawl.at(finished_at_ms) AS finished,
  NULL::timestamptz AS lease_expires, output_bytes, omitted_bytes, cpu_ms, max_rss_kib
FROM pawl.attempts
UNION ALL
SELECT run_id, attempt, CASE WHEN started_at_ms IS NULL THEN 'leased' ELSE 'running' END, NULL, NULL, NULL, lease_version,
  pawl.at(started_at_ms), NULL,
  pawl.at(expires_at_ms), NULL, NULL, NULL, NULL
FROM pawl.leased
UNION ALL
SELECT run_id, attempt, 'waiting', NULL, NULL, NULL, lease_version, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM pawl.ready
UNION ALL
SELECT run_id, attempt, 'waiting', coalesce(detail, reason), NULL, NULL, lease_version, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM pawl.parked;

CREATE VIEW pawl.v_schedule AS
SELECT p.name AS project, t.name AS task, g.name AS trigger, s.armed, pawl.at(s.next_fire_at_ms) AS next_fire, pawl.at(s.due_at_ms) AS due,
  pawl.at(nullif(s.last_scheduled_at_ms, 0)) AS settled_up_to, pawl.at(nullif(s.last_admitted_at_ms, 0)) AS last_admitted,
  s.claim_owner, pawl.at(s.claim_expires_at_ms) AS claim_expires,
  pawl.at(coalesce(t.paused_at_ms, s.paused_at_ms)) AS paused, pawl.at(coalesce(t.pause_until_at_ms, s.pause_until_at_ms)) AS pause_until,
  pawl.at(s.quarantine_until_at_ms) AS quarantine_until, s.quarantine_reason, s.trigger_revision, s.task_revision, s.trigger_id
FROM pawl.trigger_schedules s
JOIN pawl.projects p ON p.id = s.project_id
JOIN pawl.tasks t ON t.id = s.task_id
JOIN pawl.triggers g ON g.id = s.trigger_id;

CREATE VIEW pawl.v_ledger AS
SELECT p.name AS project, t.name AS task, g.name AS trigger, l.outcome, pawl.at(l.from_at_ms) AS from_nominal,
  pawl.at(l.to_at_ms) AS to_nominal,
  l.count, l.count_exact, l.reason, pawl.at(l.recorded_at_ms) AS recorded, l.trigger_id
FROM pawl.ledger l
JOIN pawl.triggers g ON g.id = l.trigger_id
JOIN pawl.tasks t ON t.id = g.task_id
JOIN pawl.projects p ON p.id = t.project_id;

CREATE VIEW pawl.v_event AS
SELECT subject, seq, pawl.at(at_ms) AS at, kind, attempt, machine_row, data, xid FROM pawl.events
UNION ALL
SELECT subject, seq, pawl.at(at_ms), kind, NULL, NULL, data, xid FROM pawl.facts;
