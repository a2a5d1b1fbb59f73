# SPDX-License-Identifier: Apache-2.0
"""What PostgreSQL does when statements meet: for each rule that our statements follow, the shape that breaks it is shown wrong and ours is
shown right. Nothing of pawl runs here; when one of these tests fails on a new major, the rule's reason has changed."""
import concurrent.futures
import contextlib
import json
import os
import signal

import psycopg
import psycopg.errors
import pytest

import pg
from harness import holds_for, wait_until
from test_pg_topology import make_standby

pytest_plugins = "test_pg_replicas"

LEVELS = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]


class Client:
    """A connection whose statements may wait for others: go() starts one, done() is its answer."""

    def __init__(self, db, **more):
        self.db, self.conn = db, db.connect(**more)
        self.thread = concurrent.futures.ThreadPoolExecutor(1)
        self.notices = []
        self.conn.add_notice_handler(lambda notice: self.notices.append((notice.severity_nonlocalized, notice.sqlstate)))

    def run(self, text, *values):
        done = self.conn.execute(text, values or None)
        return done.fetchall() if done.description else done.rowcount

    def begin(self, level="READ COMMITTED"):
        self.run(f"BEGIN ISOLATION LEVEL {level}")
        return self

    def go(self, text, *values):
        self.future = self.thread.submit(self.run, text, *values)
        return self

    def done(self):
        return self.future.result(20)

    def waits(self):
        """Until the server says that somebody blocks it."""
        pid = self.conn.info.backend_pid
        wait_until(lambda: self.db.one("SELECT cardinality(pg_blocking_pids(%s)) > 0", pid), 10, "it is blocked")
        return self

    def close(self):
        self.conn.close()
        self.thread.shutdown()


@pytest.fixture(scope="module", params=pg.MAJORS, ids=lambda major: f"pg{major}")
def db(request, pg_pool):
    database = pg_pool.server(request.param).database()
    yield database
    database.drop()


@pytest.fixture
def two(db):
    a, b = Client(db), Client(db)
    yield a, b
    a.close()
    b.close()


def fresh(db, text):
    """The test's own tables, in a schema that is made anew."""
    return db.script("DROP SCHEMA IF EXISTS t CASCADE; CREATE SCHEMA t; " + text)


# ---- R1: lock first, look later ----
GATE = "CREATE TABLE t.gate (id int PRIMARY KEY, generation int NOT NULL); INSERT INTO t.gate VALUES (1, 0); CREATE TABLE t.used (who text)"
LOCK = "SELECT id FROM t.gate WHERE id = 1 FOR NO KEY UPDATE"
TAKE = "INSERT INTO t.used SELECT %s WHERE (SELECT count(*) FROM t.used) < 1"
LOCK_AND_TAKE = f"WITH g AS MATERIALIZED ({LOCK}) INSERT INTO t.used SELECT %s FROM g WHERE (SELECT count(*) FROM t.used) < 1"


def test_r1_a_statement_that_locks_and_counts_counts_before_it_waited(db, two):
    fresh(db, GATE)
    a, b = two
    a.begin().run(LOCK_AND_TAKE, "a")
    b.begin().go(LOCK_AND_TAKE, "b").waits()
    a.run("COMMIT")
    assert b.done() == 1
    b.run("COMMIT")
    assert db.one("SELECT count(*) FROM t.used") == 2, "two for one slot: the wrong shape is wrong"


def test_r1_lock_in_one_statement_and_count_in_a_later_one(db, two):
    fresh(db, GATE)
    a, b = two
    a.begin().run(LOCK)
    a.run(TAKE, "a")
    b.begin().go(LOCK).waits()
    a.run("COMMIT")
    b.done()
    assert b.run(TAKE, "b") == 0
    b.run("COMMIT")
    assert db.one("SELECT count(*) FROM t.used") == 1


@pytest.mark.parametrize("level", LEVELS[1:])
def test_r1_one_snapshot_for_all_statements_has_the_same_fault(db, two, level):
    """The other writer is READ COMMITTED, as a person in psql is: SERIALIZABLE adds nothing against writers that are not SERIALIZABLE."""
    fresh(db, GATE)
    a, b = two
    a.begin().run(LOCK)
    a.run(TAKE, "a")
    b.begin(level).go(LOCK).waits()
    a.run("COMMIT")
    b.done()
    assert b.run(TAKE, "b") == 1
    b.run("COMMIT")
    assert db.one("SELECT count(*) FROM t.used") == 2


@pytest.mark.parametrize("level", LEVELS[1:])
def test_r1_a_gate_that_is_written_stops_a_snapshot(db, two, level):
    """Under those levels whoever has waited for a gate that was only locked goes on, and for one that was changed starts over."""
    fresh(db, GATE)
    a, b = two
    a.begin().run("UPDATE t.gate SET generation = generation + 1 WHERE id = 1")
    a.run(TAKE, "a")
    b.begin(level).go(LOCK).waits()
    a.run("COMMIT")
    with pytest.raises(psycopg.errors.SerializationFailure):
        b.done()
    b.run("ROLLBACK")
    assert db.one("SELECT count(*) FROM t.used") == 1


def test_r1_claim_gone_run_absent(db, two):
    """Who asks for a lost COMMIT's outcome with one statement reads a row that was changed and misses what was inserted beside it."""
    fresh(db, """
        CREATE TABLE t.schedule (id int PRIMARY KEY, token text); INSERT INTO t.schedule VALUES (1, 'mine'); CREATE TABLE t.runs (id int)""")
    a, b = two
    for in_one in (True, False):
        db.script("UPDATE t.schedule SET token = 'mine'; DELETE FROM t.runs")
        a.begin().run("INSERT INTO t.runs VALUES (7)")
        a.run("UPDATE t.schedule SET token = NULL WHERE id = 1")
        b.begin()
        row, run = "SELECT token FROM t.schedule WHERE id = 1 FOR NO KEY UPDATE", "SELECT EXISTS (SELECT FROM t.runs WHERE id = 7)"
        b.go(f"WITH s AS MATERIALIZED ({row}) SELECT token, ({run}) FROM s" if in_one else row).waits()
        a.run("COMMIT")
        if in_one:
            assert b.done() == [(None, False)], "claim gone, run absent, of a run that is committed"
        else:
            assert b.done() == [(None,)]
            assert b.run(run) == [(True,)]
        b.run("COMMIT")


# ---- R2, R3, R4: what is changed ----
SWEEP = {
    "wrong": "DELETE FROM t.leases WHERE id IN (SELECT id FROM t.leases WHERE expires_at_ms < 100)",
    "right": "DELETE FROM t.leases WHERE id IN (SELECT id FROM t.leases WHERE expires_at_ms < 100) AND expires_at_ms < 100"}


@pytest.mark.parametrize("shape", SWEEP)
def test_r2_after_a_wait_only_the_targets_own_condition_is_looked_at_again(db, two, shape):
    fresh(db, "CREATE TABLE t.leases (id int PRIMARY KEY, expires_at_ms bigint); INSERT INTO t.leases VALUES (1, 50)")
    renewer, sweeper = two
    renewer.begin().run("UPDATE t.leases SET expires_at_ms = 1000 WHERE id = 1")
    sweeper.go(SWEEP[shape]).waits()
    renewer.run("COMMIT")
    assert sweeper.done() == (1 if shape == "wrong" else 0)
    assert db.one("SELECT count(*) FROM t.leases") == (0 if shape == "wrong" else 1)


CHOOSE = "SELECT id FROM t.queue WHERE NOT taken ORDER BY id LIMIT 5 FOR NO KEY UPDATE SKIP LOCKED"
TAKE_SOME = {
    "wrong": f"UPDATE t.queue SET taken = true WHERE id IN ({CHOOSE})",
    "right": f"WITH c AS MATERIALIZED ({CHOOSE}) UPDATE t.queue q SET taken = true FROM c WHERE q.id = c.id"}


@pytest.mark.parametrize("shape", TAKE_SOME)
def test_r3_a_limit_in_a_sub_select_is_none(db, two, shape):
    """The planner may run the sub-select once for each row of the target; here it is led to."""
    fresh(db, """
        CREATE TABLE t.queue (id int PRIMARY KEY, taken boolean NOT NULL DEFAULT false);
        INSERT INTO t.queue SELECT generate_series(1, 200)""")
    a, _ = two
    for way in ("hashjoin", "mergejoin", "hashagg", "material", "sort"):
        a.run(f"SET enable_{way} = off")
    taken = a.run(TAKE_SOME[shape])
    assert taken == 5 if shape == "right" else taken > 5, taken


def test_r4_updates_have_no_order_and_deadlock(db, two):
    fresh(db, """
        CREATE TABLE t.rows (id int PRIMARY KEY, n int NOT NULL); INSERT INTO t.rows VALUES (1, 0), (2, 0);
        CREATE FUNCTION t.meet(key int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1 FROM pg_advisory_xact_lock_shared(key)'""")
    a, b = two
    for client in two:
        client.run("SET deadlock_timeout = '50ms'")
        client.run("SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off")
    # Each has changed its first row and is about to change its second.
    update = ("UPDATE t.rows r SET n = n + CASE WHEN r.id = {0} THEN t.meet({0}) ELSE 1 END"
              " FROM (VALUES ({1}), ({0})) v (id) WHERE r.id = v.id")
    with db.connect() as holder:
        holder.execute("BEGIN; SELECT pg_advisory_xact_lock(1), pg_advisory_xact_lock(2)")
        a.go(update.format(2, 1)).waits()
        b.go(update.format(1, 2)).waits()
        holder.execute("COMMIT")
    victims = 0
    for client in two:
        try:
            assert client.done() == 2
        except psycopg.errors.DeadlockDetected:
            victims += 1
    assert victims == 1

    lock = "SELECT id FROM t.rows WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
    a.begin().run(lock, [1, 2])
    b.begin().go(lock, [2, 1]).waits()
    a.run("UPDATE t.rows SET n = n + 1")
    a.run("COMMIT")
    assert b.done() == [(1,), (2,)]
    assert b.run("UPDATE t.rows SET n = n + 1") == 2
    b.run("COMMIT")


# ---- R5: now is a scalar ----
def conditions(plan, found=None):
    """Index conditions and filters on t.due within a plan."""
    found = found if found is not None else {"index": [], "filter": []}
    if "Index Cond" in plan:
        found["index"].append(plan["Index Cond"])
    found["filter"] += [plan[key] for key in ("Filter", "Join Filter") if key in plan]
    for part in plan.get("Plans", []):
        conditions(part, found)
    return found


NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
DUE = {
    "inline": f"SELECT id FROM t.due WHERE armed AND at_ms <= {NOW} ORDER BY at_ms, id LIMIT 16",
    "joined": f"WITH t AS MATERIALIZED (SELECT {NOW} AS now) SELECT id FROM t.due, t WHERE armed AND at_ms <= t.now"
              " ORDER BY at_ms, id LIMIT 16",
    "scalar": f"WITH t AS MATERIALIZED (SELECT {NOW} AS now) SELECT id FROM t.due WHERE armed AND at_ms <= (SELECT now FROM t)"
              " ORDER BY at_ms, id LIMIT 16"}


@pytest.fixture(scope="module")
def many_due(db):
    db.script(f"""
        CREATE SCHEMA due; CREATE TABLE due.due (id int PRIMARY KEY, at_ms bigint NOT NULL, armed boolean NOT NULL);
        INSERT INTO due.due SELECT i, {NOW} + 100000000 + i, true FROM generate_series(1, 50000) i;
        CREATE INDEX ON due.due (at_ms, id) WHERE armed""")
    db.script("ANALYZE due.due")
    return db


@pytest.mark.parametrize("shape", DUE)
def test_r5_only_a_scalar_now_is_an_index_condition(many_due, shape):
    plan = many_due.one("EXPLAIN (FORMAT json, ANALYZE, BUFFERS) " + DUE[shape].replace("t.due", "due.due"))
    plan = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]
    found = conditions(plan)
    by_index = any("at_ms" in condition for condition in found["index"])
    read = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    if shape == "scalar":
        assert by_index and read < 20, plan
    else:
        assert not by_index and read > 100, plan


# ---- R6: defaults ----
def test_r6_defaults_of_database_and_role_decide_where_nothing_is_said(db):
    db.script(f"""
        ALTER DATABASE "{db.name}" SET default_transaction_isolation = 'serializable';
        ALTER DATABASE "{db.name}" SET default_transaction_read_only = on;
        ALTER ROLE "{db.user}" SET synchronous_commit = off""")
    shown = ("transaction_isolation", "transaction_read_only", "synchronous_commit")
    try:
        with db.connect(user=db.user) as conn:
            def read():
                return [conn.execute(f"SHOW {name}").fetchone()[0] for name in shown]
            conn.execute("BEGIN")
            assert read() == ["serializable", "on", "off"]
            conn.execute("COMMIT")
            conn.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            conn.execute("SET LOCAL synchronous_commit = 'on'")
            assert read() == ["read committed", "off", "on"]
            conn.execute("COMMIT")
    finally:
        with db.server.connect() as conn:
            conn.execute(f'ALTER DATABASE "{db.name}" RESET ALL')
            conn.execute(f'ALTER ROLE "{db.user}" RESET ALL')


# ---- R7, R10: what no timeout ends ----
def test_r7_a_reader_that_stopped_keeps_its_backend_and_its_locks(db, two):
    fresh(db, """
        CREATE TABLE t.big (id int PRIMARY KEY, body text); INSERT INTO t.big SELECT i, repeat('x', 100000) FROM generate_series(1, 400) i""")
    reader, other = two
    reader.run("SET statement_timeout = '300ms'; SET idle_in_transaction_session_timeout = '300ms'; SET lock_timeout = '300ms'")
    reader.begin()
    pid = reader.conn.info.backend_pid
    stuck = "SELECT wait_event = 'ClientWrite' FROM pg_stat_activity WHERE pid = %s"
    reader.conn.pgconn.send_query(b"SELECT body FROM t.big, generate_series(1, 3) FOR NO KEY UPDATE OF big")
    wait_until(lambda: db.one(stuck, pid), 10, "it waits for its reader")
    holds_for(lambda: db.one(stuck, pid), 1.5, "no timeout ends it")
    assert other.run("SELECT id FROM t.big ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED") != [(1,)], "its locks stay"
    db.one("SELECT pg_terminate_backend(%s)", pid)

    small = Client(db)
    small.run("SET idle_in_transaction_session_timeout = '300ms'")
    wait_until(lambda: db.one("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", pid) == 0, 10, "the backend is gone")
    small.begin().run("SELECT id FROM t.big WHERE id = 1 FOR NO KEY UPDATE")
    other.run("SELECT id FROM t.big WHERE id = 1 FOR NO KEY UPDATE")  # waits for the timeout that ends the other
    small.close()


def test_r10_a_commit_that_is_cancelled_is_committed_with_a_warning(db, two):
    """A synchronous standby is away. statement_timeout does not bound the wait, and a cancel makes the server say COMMIT."""
    fresh(db, "CREATE TABLE t.runs (id int)")
    a, _ = two
    db.server.configure(synchronous_standby_names="away")
    try:
        a.run("SET statement_timeout = '300ms'")
        a.begin().run("INSERT INTO t.runs VALUES (1)")
        a.go("COMMIT")
        waits = "SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = %s"
        wait_until(lambda: db.one(waits, a.conn.info.backend_pid), 10, "it waits for the standby")
        holds_for(lambda: not a.future.done() and db.one(waits, a.conn.info.backend_pid), 1.2, "no timeout ends it")
        assert db.one("SELECT count(*) FROM t.runs") == 0, "nobody sees it yet"
        a.conn.cancel()
        a.done()
    finally:
        db.server.configure(synchronous_standby_names="")
    assert a.notices == [("WARNING", "01000")]
    assert db.one("SELECT count(*) FROM t.runs") == 1


# ---- R11 and section 1: locks and rights ----
def test_r11_locking_needs_update_on_a_column(db):
    fresh(db, f"""
        CREATE TABLE t.gate (id int PRIMARY KEY, generation int); INSERT INTO t.gate VALUES (1, 0);
        GRANT USAGE ON SCHEMA t TO "{db.user}"; GRANT SELECT ON t.gate TO "{db.user}" """)
    strengths = ["KEY SHARE", "SHARE", "NO KEY UPDATE", "UPDATE"]
    with db.connect(user=db.user) as conn:
        for strength in strengths:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(f"SELECT id FROM t.gate FOR {strength}")
        db.script(f'GRANT UPDATE (generation) ON t.gate TO "{db.user}"')
        for strength in strengths:
            assert conn.execute(f"SELECT id FROM t.gate FOR {strength}").fetchall() == [(1,)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("UPDATE t.gate SET id = 2")


def test_only_for_update_waits_for_who_refers_to_the_row(db, two):
    """A publication under way holds its project FOR KEY SHARE, through the foreign key."""
    fresh(db, """
        CREATE TABLE t.projects (id int PRIMARY KEY); INSERT INTO t.projects VALUES (1);
        CREATE TABLE t.tasks (project_id int REFERENCES t.projects)""")
    publishing, archiving = two
    publishing.begin().run("INSERT INTO t.tasks VALUES (1)")
    archiving.begin().run("SELECT id FROM t.projects WHERE id = 1 FOR NO KEY UPDATE")
    assert archiving.run("SELECT count(*) FROM t.tasks") == [(0,)], "it goes on and misses the task: the wrong strength"
    archiving.run("ROLLBACK")
    archiving.begin().go("SELECT id FROM t.projects WHERE id = 1 FOR UPDATE").waits()
    publishing.run("COMMIT")
    archiving.done()
    assert archiving.run("SELECT count(*) FROM t.tasks") == [(1,)]
    archiving.run("COMMIT")


# ---- section 2: a lost answer, clocks of the log ----
@pytest.mark.parametrize("with_token", [False, True])
def test_bytes_that_come_late_commit_after_the_verdict(db, two, with_token):
    fresh(db, """
        CREATE TABLE t.schedule (id int PRIMARY KEY, token int, version int); INSERT INTO t.schedule VALUES (1, 111, 1);
        CREATE TABLE t.runs (id int)""")
    late, resolver = two
    resolver.begin().run("SELECT id FROM t.schedule WHERE id = 1 FOR NO KEY UPDATE")
    assert resolver.run("SELECT count(*) FROM t.runs WHERE id = 7") == [(0,)], "the verdict: nothing happened"
    if with_token:
        assert resolver.run("UPDATE t.schedule SET token = 222, version = version + 1 WHERE id = 1 AND token = 111 AND version = 1") == 1
    resolver.run("COMMIT")
    # What was under way all the time arrives now.
    late.begin().run("SELECT id FROM t.schedule WHERE id = 1 FOR NO KEY UPDATE")
    late.run("WITH s AS (UPDATE t.schedule SET token = NULL WHERE id = 1 AND token = 111 AND version = 1 RETURNING id)"
             " INSERT INTO t.runs SELECT 7 FROM s")
    late.run("COMMIT")
    assert db.one("SELECT count(*) FROM t.runs") == (0 if with_token else 1)


# ---- section 6: history ----
HISTORY = "CREATE TABLE t.runs (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE t.runs_default PARTITION OF t.runs DEFAULT;"


def test_a_foreign_key_holds_a_partition(db):
    fresh(db, HISTORY + """
        CREATE TABLE t.runs_1 PARTITION OF t.runs FOR VALUES FROM (1) TO (10); CREATE TABLE t.events (run int REFERENCES t.runs);
        INSERT INTO t.runs VALUES (1); INSERT INTO t.events VALUES (1)""")
    for verb in ("DROP TABLE t.runs_1", "ALTER TABLE t.runs DETACH PARTITION t.runs_1"):
        with pytest.raises((psycopg.errors.ForeignKeyViolation, psycopg.errors.DependentObjectsStillExist)):
            db.script(verb)
    db.script("DROP TABLE t.events; DROP TABLE t.runs_1")


def test_detach_concurrently_is_impossible_beside_a_default(db):
    fresh(db, HISTORY + "CREATE TABLE t.runs_1 PARTITION OF t.runs FOR VALUES FROM (1) TO (10)")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        db.script("ALTER TABLE t.runs DETACH PARTITION t.runs_1 CONCURRENTLY")


def test_partition_of_locks_the_parent_and_attach_does_not(db, two):
    fresh(db, HISTORY)
    a, _ = two
    mode = ("SELECT mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 't.runs'::regclass AND mode <> 'AccessShareLock'"
            " ORDER BY mode")
    a.begin().run("CREATE TABLE t.runs_1 PARTITION OF t.runs FOR VALUES FROM (1) TO (10)")
    assert ("AccessExclusiveLock",) in a.run(mode)
    a.run("ROLLBACK")
    a.begin().run("CREATE TABLE t.runs_1 (LIKE t.runs INCLUDING ALL)")
    a.run("ALTER TABLE t.runs ATTACH PARTITION t.runs_1 FOR VALUES FROM (1) TO (10)")
    assert a.run(mode) == [("ShareUpdateExclusiveLock",)]
    a.run("ROLLBACK")


def test_a_new_function_belongs_to_everybody(db):
    fresh(db, "CREATE FUNCTION t.f() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    public = "SELECT has_function_privilege('public', 't.f()', 'EXECUTE')"
    assert db.one(public)
    db.script("REVOKE EXECUTE ON FUNCTION t.f() FROM PUBLIC")
    assert not db.one(public)


def test_a_position_in_a_sequence_skips_who_commits_late(db, two):
    fresh(db, """CREATE TABLE t.events (id bigint GENERATED ALWAYS AS IDENTITY, xid xid8 NOT NULL DEFAULT pg_current_xact_id());
        CREATE FUNCTION t.read(after_xid xid8, after_id bigint) RETURNS SETOF t.events LANGUAGE sql AS $$
          SELECT * FROM t.events WHERE (xid, id) > (after_xid, after_id) AND xid < pg_snapshot_xmin(pg_current_snapshot())
          ORDER BY xid, id $$""")
    late, quick = two
    late.begin().run("INSERT INTO t.events DEFAULT VALUES")
    quick.run("INSERT INTO t.events DEFAULT VALUES")
    by_sequence = db.rows("SELECT id FROM t.events ORDER BY id")
    by_xid = db.rows("SELECT id, xid::text FROM t.read('0', 0)")
    late.run("COMMIT")
    last = by_sequence[-1]["id"]
    assert last == 2 and not db.rows("SELECT id FROM t.events WHERE id > %s", last), "the first event is never seen: the wrong position"
    assert by_xid == [], "what may still be overtaken is not read"
    wait_until(lambda: [row["id"] for row in db.rows("SELECT id FROM t.read('0', 0)")] == [1, 2], 10, "both, once nothing older is open")


def test_the_control_file_shows_the_old_timeline_until_a_checkpoint_ends(db):
    standby = make_standby(db.server)
    try:
        checkpointer = standby.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")[0][0]
        with stopped(checkpointer):
            standby.promote()
            timeline = ("SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int,"
                        " (pg_control_checkpoint()).timeline_id")
            assert standby.sql(timeline) == [(2, 1)]
        standby.sql("CHECKPOINT")
        assert standby.sql(timeline) == [(2, 2)]
    finally:
        standby.close()


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
