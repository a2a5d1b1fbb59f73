# SPDX-License-Identifier: Apache-2.0
"""pawl.enqueue, pawl.cancel and pawl.retry: they write what the program writes on a store of its own, and meet who comes in between."""
import concurrent.futures
import datetime
import json
import os
import threading
import time
import uuid

import psycopg
import psycopg.rows
import pytest

BUNDLE = """
pools: {builds: {slots: 4}}
tasks:
  plain: {exec: ["true"]}
  wide: {exec: ["true"], pool: builds, slots: 2, priority: 5, start_within: 1h30m500ms}
  gone: {exec: ["true"]}
"""
COPIED = ["projects", "pools", "tasks", "task_revisions", "pool_gates", "task_gates"]
HEADS = {"task_id", "project_id", "pool_id"}


@pytest.fixture
def filled(box, db):
    """A store on SQLite that was applied to, and the same heads on PostgreSQL."""
    box.file.write_text(BUNDLE)
    box.ok("apply", "-f", box.file)
    box.ok("delete", "gone", "--yes")
    kinds = {(table, name): kind for table, name, kind in db.execute(
        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'pawl'")}
    for table in COPIED:
        for row in box.store.rows(f"SELECT * FROM {table}"):
            values = [uuid.UUID(bytes=value) if isinstance(value, bytes) else bool(value) if kinds[table, key] == "boolean" else value
                      for key, value in row.items()]
            db.execute(f"INSERT INTO pawl.{table} ({', '.join(row)}) VALUES ({', '.join(['%s'] * len(row))})", values)
    return box


def both(box, db, table, column):
    """The rows of a table in both stores, by run: an id of a run is only there or not, an instant is minutes since the run's birth."""
    with db.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        there = cursor.execute(f"SELECT * FROM pawl.{table}").fetchall()
        births = {row["id"]: row["queued_at_ms"] for row in cursor.execute("SELECT id, queued_at_ms FROM pawl.runs").fetchall()}
    here = [{key: uuid.UUID(bytes=value) if isinstance(value, bytes) else value for key, value in row.items()} for row in
            box.store.rows(f"SELECT * FROM {table}")]
    births.update((uuid.UUID(bytes=row["id"]), row["queued_at_ms"]) for row in box.store.rows("SELECT id, queued_at_ms FROM runs"))

    def plain(row, key, value):
        if isinstance(value, uuid.UUID):
            return value if key in HEADS else "an id"
        if value is not None and (key.endswith("at_ms") or key == "order_key"):
            return round((value - births[row[column]]) / 60000)
        return int(value) if isinstance(value, bool) else value

    def tidy(rows):
        rows = sorted((row for row in rows if row[column] in births), key=lambda row: (row[column].int, row.get("seq", 0)))
        return [{key: plain(row, key, value) for key, value in row.items() if key not in ("seq", "xid")} for row in rows]
    return tidy(here), tidy(there)


def call(db, name, *args, **named):
    """SELECT pawl.NAME(…)."""
    marks = ["%s"] * len(args) + [f"{key} => %s" for key in named]
    return db.execute(f"SELECT pawl.{name}({', '.join(marks)})", [*args, *named.values()]).fetchone()[0]


def refused(db, state, text, name, *args, **named):
    with pytest.raises(psycopg.Error, match=text) as caught:
        call(db, name, *args, **named)
    assert caught.value.sqlstate == state
    return caught.value.diag.message_primary


def kinds(db, run):
    return [kind for (kind,) in db.execute("SELECT kind FROM pawl.events WHERE subject = %s ORDER BY seq", (run,))]


def lease(db, run):
    """As a dispatcher grants."""
    db.execute("""WITH d AS (DELETE FROM pawl.ready WHERE run_id = %s RETURNING *)
        INSERT INTO pawl.leased (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, since_at_ms, session_id,
          token_digest, acquired_at_ms, expires_at_ms)
        SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, 1, since_at_ms, run_id, '', pawl.now_ms(),
          pawl.now_ms() + 30000 FROM d""", (run,))


def finish(db, run, state="succeeded"):
    db.execute("""WITH d AS (DELETE FROM pawl.leased WHERE run_id = %s RETURNING *)
        INSERT INTO pawl.attempts (run_id, attempt, state, last, lease_version, finished_at_ms)
        SELECT run_id, 1, %s, true, 1, pawl.now_ms() FROM d""", (run, state))


def test_they_write_what_the_program_writes(filled, db):
    """The same requests in the same order on both engines: the rows are the same."""
    box = filled
    name = box.store.one("SELECT json_extract(data, '$.actor') FROM events WHERE kind = 'task.published'")
    actor = {"requested_by": name, "origin": "manual"}
    later = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(hours=3)
    made = [call(db, "enqueue", "plain", **actor), call(db, "enqueue", "wide", "some input ü\n", **actor),
            call(db, "enqueue", "wide", None, None, 7, later, **actor), call(db, "enqueue", "plain", priority=-1000, **actor)]
    ids = [box.ok("run", "plain").out.split()[-1], box.ok("run", "wide", "--input", "some input ü\n").out.split()[-1],
           box.ok("run", "wide", "--priority", "7", "--at", f"{later:%Y-%m-%dT%H:%M:%SZ}").out.split()[-1],
           box.ok("run", "plain", "--priority=-1000").out.split()[-1]]
    actor.pop("origin")
    assert [call(db, "cancel", run, why, **actor) for run, why in ((made[0], None), (made[2], 'no "more"'))] == ["cancelled"] * 2
    box.ok("cancel", ids[0])
    box.ok("cancel", ids[2], "--reason", 'no "more"')
    call(db, "retry", made[0], **actor)
    call(db, "retry", made[2], **actor)
    box.ok("retry", ids[0])
    box.ok("retry", ids[2])
    for table in ("runs", "ready", "parked", "attempts", "cancels", "events"):
        column = {"runs": "id", "events": "subject"}.get(table, "run_id")
        here, there = both(box, db, table, column)
        assert here == there, table
    assert len(both(box, db, "events", "subject")[0]) == 6 * 2 + 2 * 3
    assert box.store.one("SELECT count(*) FROM ready") == 4


def test_the_messages_are_those_of_the_program(filled, db):
    box = filled
    run = call(db, "enqueue", "plain", start_at="2899-01-01")
    ended = box.ok("run", "plain").out.split()[-1]
    box.ok("cancel", ended)
    same = [(("enqueue", "nothing_like_it"), "PW404", ("run", "nothing_like_it")), (("enqueue", "gone"), "PW404", ("run", "gone")),
            (("enqueue", "plain", None, "elsewhere_xyz"), "PW404", ("run", "plain", "--project", "elsewhere_xyz"))]
    for request, state, argv in same:
        said = refused(db, state, "there is no", *request)
        assert said in box.refused(*argv), said
    call(db, "cancel", run)
    said = refused(db, "PW409", "has ended already: cancelled", "cancel", run)
    assert said.replace(str(run)[-8:], ended[-8:]) in box.refused("cancel", ended)
    refused(db, "PW409", "has not ended yet", "retry", call(db, "retry", run))
    refused(db, "PW404", f"there is no run {uuid.UUID(int=5)}", "retry", uuid.UUID(int=5))
    refused(db, "PW404", f"there is no run {uuid.UUID(int=5)}", "cancel", uuid.UUID(int=5))
    refused(db, "PW400", "priority 1001: expected -1000 to 1000", "enqueue", "plain", priority=1001)
    refused(db, "PW400", "a start before 1970 or after 2900", "enqueue", "plain", start_at="1969-12-31 23:59:59+00")
    refused(db, "PW400", "a start before 1970 or after 2900", "enqueue", "plain", start_at="infinity")
    refused(db, "PW400", "a run is asked of a task: 'plain'", "enqueue", "plain/nightly")
    refused(db, "PW400", "expected manual, api or sql", "enqueue", "plain", origin="schedule")
    db.execute("UPDATE pawl.pools SET state = 'deleted' WHERE name = 'builds'")
    refused(db, "PW404", "there is no pool 'builds'", "enqueue", "wide")
    done = call(db, "enqueue", "plain")
    call(db, "cancel", done)
    db.execute("UPDATE pawl.tasks SET state = 'archived' WHERE name = 'plain'")
    refused(db, "PW409", "task 'plain' was deleted; apply it again", "retry", done)
    assert db.execute("SELECT count(*) FROM pawl.cancels").fetchone()[0] == 0  # a refusal leaves nothing


def test_the_same_request_again_is_the_same_run(filled, database, db):
    ms = db.execute("SELECT pawl.now_ms()").fetchone()[0]
    mine = uuid.UUID(int=(ms << 80) | (7 << 76) | (2 << 62) | 42)
    assert [call(db, "enqueue", "plain", "x", run=mine) for _ in range(3)] == [mine] * 3
    assert kinds(db, mine) == ["run.created", "run.queued"]
    refused(db, "PW409", "asked for by another request", "enqueue", "plain", "y", run=mine)
    refused(db, "PW409", "asked for by another request", "enqueue", "wide", "x", run=mine)
    for bad in (uuid.uuid4(), uuid.UUID(int=mine.int - (2 * 86400000 << 80)), uuid.UUID(int=mine.int + (2 * 86400000 << 80))):
        refused(db, "PW400", "a UUIDv7 of these days", "enqueue", "plain", run=bad)
    other = uuid.UUID(int=mine.int + 1)
    connections = [database.connect() for _ in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda conn: call(conn, "enqueue", "plain", run=other), connections)) == {other}
    assert kinds(db, other) == ["run.created", "run.queued"]


def test_ids_are_uuid7_and_rise(filled, db):
    ids = [call(db, "enqueue", "plain") for _ in range(200)]
    assert ids == sorted(ids) and all(i.version == 7 and i.variant == uuid.RFC_4122 for i in ids)
    assert abs((ids[0].int >> 80) - time.time() * 1000) < 60000


def test_it_takes_effect_with_the_callers_commit(filled, database, db):
    rung = []
    db.add_notify_handler(lambda note: rung.append(note.channel))
    db.execute("LISTEN pawl")
    with database.connect() as user:
        with user.transaction(force_rollback=True):
            call(user, "enqueue", "plain")
        assert db.execute("SELECT count(*) FROM pawl.runs").fetchone()[0] == 0
        with user.transaction():
            run = call(user, "enqueue", "plain")
            assert db.execute("SELECT count(*) FROM pawl.runs").fetchone()[0] == 0
    assert kinds(db, run) == ["run.created", "run.queued"]
    assert rung == ["pawl"]  # by the one that was committed


def test_what_a_worker_has_gets_an_intent_and_its_lease_is_not_locked(filled, database, db):
    run = call(db, "enqueue", "plain")
    lease(db, run)
    with database.connect() as user, user.transaction():
        assert call(user, "cancel", run, "enough", "somebody") == "requested"
        with db.transaction():  # while the user's transaction is open, the lease is renewed and ended at will
            db.execute("SET LOCAL lock_timeout = '1s'")
            assert db.execute("UPDATE pawl.leased SET expires_at_ms = expires_at_ms + 1 WHERE run_id = %s", (run,)).rowcount == 1
    assert db.execute("SELECT requested_by, reason FROM pawl.cancels WHERE run_id = %s", (run,)).fetchone() == ("somebody", "enough")
    assert kinds(db, run)[-1] == "run.cancel_requested"
    data = db.execute("SELECT data FROM pawl.events WHERE subject = %s AND kind = 'run.cancel_requested'", (run,)).fetchone()[0]
    assert json.loads(data) == {"actor": "somebody", "reason": "enough"} and " " not in data
    finish(db, run, "lost")
    refused(db, "PW409", "has ended already: failed", "cancel", run)


@pytest.mark.parametrize("to", ["leased", "parked", "ended"])
def test_a_run_that_is_moved_meanwhile_is_found(filled, database, db, to):
    """The canceller looks into ready and waits there for a mover who has not committed yet; then the row is elsewhere."""
    run = call(db, "enqueue", "plain")
    answer = []

    def cancel():
        with database.connect() as user:
            try:
                answer.append(call(user, "cancel", run))
            except psycopg.Error as error:
                answer.append(error.sqlstate)
    with database.connect() as mover:
        with mover.transaction():
            if to == "parked":
                mover.execute("""WITH d AS (DELETE FROM pawl.ready WHERE run_id = %s RETURNING *)
                    INSERT INTO pawl.parked (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, since_at_ms, reason)
                    SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, since_at_ms, 'paused' FROM d""", (run,))
            else:
                lease(mover, run)
                if to == "ended":
                    finish(mover, run)
            thread = threading.Thread(target=cancel)
            thread.start()
            deadline = time.monotonic() + 20
            waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%pawl.cancel%'"
            while not db.execute(waits).fetchone():
                assert time.monotonic() < deadline and not answer, answer
                time.sleep(0.01)
        thread.join(20)
    assert answer == [{"leased": "requested", "parked": "cancelled", "ended": "PW409"}[to]]
    assert db.execute("SELECT count(*) FROM pawl.ready").fetchone()[0] == 0
    assert db.execute("SELECT count(*) FROM pawl.attempts").fetchone()[0] == (0 if to == "leased" else 1)
    assert db.execute("SELECT count(*) FROM pawl.cancels").fetchone()[0] == (1 if to == "leased" else 0)


def test_a_group_that_may_enqueue_may_do_nothing_else(filled, database, db):
    with database.connect("postgres") as admin:
        admin.execute("CREATE ROLE pawl_enqueue; CREATE ROLE app LOGIN IN ROLE pawl_enqueue")
    assert db.execute("SELECT * FROM pawl.grant_role('enqueue', 'pawl_enqueue')").fetchall() == []
    with database.connect("app") as app:
        app.execute("SET search_path = pg_temp, public")
        run = call(app, "enqueue", "plain")
        assert db.execute("SELECT requested_by, origin FROM pawl.runs WHERE id = %s", (run,)).fetchone() == ("app", "sql")
        assert call(app, "cancel", run) == "cancelled"
        assert db.execute("SELECT reason FROM pawl.attempts WHERE run_id = %s", (run,)).fetchone() == ("cancelled by app",)
        assert call(app, "retry", run)
        for text in ("SELECT 1 FROM pawl.runs", "SELECT pawl.now_ms()", "SELECT pawl.append_event(NULL, 'x', 1, 1, NULL)",
                     "SELECT pawl.find_task('default', 'plain')", "SELECT pawl.new_id(0)", "SELECT pawl.create_run(NULL, NULL)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(text)


MOVES = [  # what a replica does all day, each in a transaction of its own, passing by what is locked
    """WITH c AS MATERIALIZED (SELECT run_id FROM pawl.ready ORDER BY random() LIMIT 3 FOR UPDATE SKIP LOCKED),
       d AS (DELETE FROM pawl.ready h USING c WHERE h.run_id = c.run_id RETURNING h.*)
       INSERT INTO pawl.leased (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, since_at_ms, session_id,
         token_digest, acquired_at_ms, expires_at_ms)
       SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version + 1, since_at_ms, run_id, '', 1, 2 FROM d""",
    """WITH c AS MATERIALIZED (SELECT run_id FROM pawl.ready ORDER BY random() LIMIT 3 FOR UPDATE SKIP LOCKED),
       d AS (DELETE FROM pawl.ready h USING c WHERE h.run_id = c.run_id RETURNING h.*)
       INSERT INTO pawl.parked (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, since_at_ms, reason)
       SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, since_at_ms, 'limit' FROM d""",
    """WITH c AS MATERIALIZED (SELECT run_id FROM pawl.parked ORDER BY random() LIMIT 3 FOR UPDATE SKIP LOCKED),
       d AS (DELETE FROM pawl.parked h USING c WHERE h.run_id = c.run_id RETURNING h.*)
       INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, since_at_ms)
       SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, since_at_ms FROM d""",
    """WITH c AS MATERIALIZED (SELECT run_id FROM pawl.leased ORDER BY random() LIMIT 2 FOR UPDATE SKIP LOCKED),
       d AS (DELETE FROM pawl.leased h USING c WHERE h.run_id = c.run_id RETURNING h.*)
       INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, since_at_ms)
       SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, since_at_ms FROM d""",
    """WITH c AS MATERIALIZED (SELECT run_id FROM pawl.leased ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED),
       d AS (DELETE FROM pawl.leased h USING c WHERE h.run_id = c.run_id RETURNING h.*)
       INSERT INTO pawl.attempts (run_id, attempt, state, last, lease_version, finished_at_ms)
       SELECT run_id, attempt, 'succeeded', true, 1, 1 FROM d"""]


def test_cancels_among_movers_lose_no_run_and_end_none_twice(filled, server, database, db):
    log = server.removeprefix("host=") + "/log"
    before, until, answers = os.path.getsize(log), time.monotonic() + 4, []

    def move():
        with database.connect() as conn:
            while time.monotonic() < until:
                for statement in MOVES:
                    conn.execute(statement)

    def cancel():
        with database.connect() as conn:
            while time.monotonic() < until:
                for (run,) in conn.execute("SELECT id FROM pawl.runs ORDER BY random() LIMIT 5").fetchall():
                    try:
                        answers.append(call(conn, "cancel", run))
                    except psycopg.Error as error:
                        answers.append(error.sqlstate)
                        assert error.sqlstate == "PW409" and "no hot table" not in str(error), error

    def ask():
        with database.connect() as conn:
            while time.monotonic() < until:
                with conn.transaction():
                    runs = [call(conn, "enqueue", "plain") for _ in range(5)]
                for (run,) in conn.execute("SELECT run_id FROM pawl.attempts ORDER BY random() LIMIT 1").fetchall():
                    runs.append(call(conn, "retry", run))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(what) for what in (move, move, move, cancel, cancel, cancel, ask, ask)]:
            done.result(60)
    assert {"cancelled", "requested", "PW409"} == set(answers)
    bad = db.execute("""SELECT id, hot, ends FROM (SELECT r.id,
        (SELECT count(*) FROM (SELECT run_id FROM pawl.ready UNION ALL SELECT run_id FROM pawl.parked
          UNION ALL SELECT run_id FROM pawl.leased) h WHERE h.run_id = r.id) AS hot,
        (SELECT count(*) FROM pawl.attempts a WHERE a.run_id = r.id) AS ends FROM pawl.runs r) s
        WHERE hot + ends <> 1 LIMIT 5""").fetchall()
    assert bad == []
    with open(log) as file:
        file.seek(before)
        assert [line for line in file if "ERROR:" in line and "has ended already" not in line] == []
