# SPDX-License-Identifier: Apache-2.0
"""History in ranges of run ids on PostgreSQL: made ahead beside whoever writes, dropped whole and oldest first, never with an open run."""
import concurrent.futures
import datetime
import uuid

import psycopg
import psycopg.errors
import pytest

from sqltools import DAY, HOUR

HISTORY = {"runs": "id", "attempts": "run_id", "events": "subject", "output": "run_id"}
SOMEBODY = uuid.UUID(int=7)


def now(db):
    return db.execute("SELECT pawl.now_ms()").fetchone()[0]


def id_of(at_ms, n=0):
    return uuid.UUID(int=(at_ms << 80) | (7 << 76) | (2 << 62) | n)


def ranges(db, parent="runs"):
    return db.execute(
        "SELECT from_ms, to_ms FROM pawl.partitions() WHERE parent = %s AND from_ms IS NOT NULL ORDER BY 1", (parent,)).fetchall()


def make_range(db, start, end):
    """An old range, as a store has it that was made long ago."""
    suffix = f"{datetime.datetime.fromtimestamp(start / 1000, datetime.timezone.utc):%Y%m%dt%H}"
    for parent in HISTORY:
        db.execute(f"CREATE TABLE pawl.{parent}_{suffix} (LIKE pawl.{parent} INCLUDING ALL)")
        low, high = (uuid.UUID(int=at_ms << 80) for at_ms in (start, end))
        db.execute(f"ALTER TABLE pawl.{parent} ATTACH PARTITION pawl.{parent}_{suffix} FOR VALUES FROM ('{low}') TO ('{high}')")
    return suffix


def add_run(db, run, finished_at_ms=None):
    """A run with an event and a piece of output; without an end it waits in ready."""
    db.execute("INSERT INTO pawl.runs (id, project_id, task_id, task_revision, origin, queued_at_ms, priority)"
               " VALUES (%s, %s, %s, 1, 'manual', 0, 0)", (run, SOMEBODY, SOMEBODY))
    db.execute("INSERT INTO pawl.events (subject, at_ms, kind) VALUES (%s, 0, 'run.created')", (run,))
    db.execute("INSERT INTO pawl.output (run_id, attempt, seq, at_ms, stream, bytes) VALUES (%s, 1, 0, 0, 1, 'x')", (run,))
    if finished_at_ms is None:
        db.execute("INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, since_at_ms)"
                   " VALUES (%s, 1, %s, %s, 1, 0, false, 0)", (run, SOMEBODY, SOMEBODY))
    else:
        db.execute("INSERT INTO pawl.attempts (run_id, attempt, state, last, lease_version, finished_at_ms)"
                   " VALUES (%s, 1, 'succeeded', true, 1, %s)", (run, finished_at_ms))


def count(db):
    return [db.execute(f"SELECT count(*) FROM pawl.{parent}").fetchone()[0] for parent in HISTORY]


def drop(db, before_ms):
    return db.execute("SELECT * FROM pawl.drop_partitions(%s)", (before_ms,)).fetchall()


def ensure(db, *values):
    return db.execute(f"SELECT pawl.ensure_partitions({', '.join(map(str, values))})").fetchone()[0]


def horizon(db):
    found = db.execute("SELECT value::bigint FROM pawl.meta WHERE key = 'horizon_ms'").fetchone()
    return found and found[0]


def test_ranges_are_made_ahead_in_all_four_tables(db):
    first = ranges(db)
    assert first[0][0] <= now(db) < first[0][1] and first[-1][1] >= now(db) + 3 * DAY
    assert ensure(db) == first[-1][1] and ranges(db) == first
    assert ensure(db, 10 * DAY, 6 * HOUR) >= now(db) + 10 * DAY
    made = ranges(db)
    assert all(ranges(db, parent) == made for parent in HISTORY)
    assert all(a[1] == b[0] for a, b in zip(made, made[1:])) and made[-1][1] - made[-1][0] == 6 * HOUR
    for run in (id_of(now(db)), id_of(made[-1][1] - 1), id_of(first[0][0] - 1)):
        add_run(db, run)
    with pytest.raises(psycopg.errors.CheckViolation):
        add_run(db, id_of(made[-1][1]))  # beyond the last range: refused, and not hidden in the default
    assert db.execute("SELECT count(*) FROM pawl.runs_default").fetchone()[0] == 1


def test_attaching_looks_through_no_row_of_the_default(db):
    said = []
    db.add_notice_handler(lambda notice: said.append(notice.message_primary))
    db.execute("SET client_min_messages = debug1")
    ensure(db, 5 * DAY)
    db.execute("RESET client_min_messages")
    for parent in HISTORY:
        assert f'updated partition constraint for default partition "{parent}_default" is implied by existing constraints' in said
    assert not [text for text in said if text.startswith("verifying") and "default" in text]


def test_attaching_goes_on_beside_writers_and_waits_for_nobody_long(database, db):
    with database.connect() as writer, writer.transaction(force_rollback=True):
        add_run(writer, id_of(now(db)), finished_at_ms=1)
        assert ensure(db, 6 * DAY) >= now(db) + 6 * DAY
    before = ranges(db)
    with database.connect() as reader, reader.transaction():
        reader.execute("SELECT count(*) FROM pawl.runs")  # every partition, the default too
        assert ensure(db, 9 * DAY) == before[-1][1]  # not to be had now, and no error
        assert ranges(db) == before
    assert ensure(db, 9 * DAY) >= now(db) + 9 * DAY


def test_replicas_that_begin_at_once_make_each_range_once(database, db):
    connections = [database.connect() for _ in range(6)]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for _ in range(3):
            ahead = ranges(db)[-1][1] - now(db) + 3 * DAY - HOUR
            answers = set(pool.map(lambda conn, ahead=ahead: ensure(conn, ahead), connections))
            assert answers == {ranges(db)[-1][1]}
    made = ranges(db)
    assert all(ranges(db, parent) == made for parent in HISTORY) and all(a[1] == b[0] for a, b in zip(made, made[1:]))


def test_there_are_at_most_60_partitions_a_table(db):
    assert ensure(db, 366 * DAY, HOUR) < now(db) + 366 * DAY
    assert len(ranges(db)) == 59
    assert ensure(db, 366 * DAY, HOUR) == ranges(db)[-1][1]
    assert ranges(db)[-1][1] > now(db) + 300 * DAY


def test_old_ranges_are_dropped_oldest_first_and_never_past_an_unfinished_run(database, db):
    start = ranges(db)[0][0]
    names = [make_range(db, start - day * DAY, start - (day - 1) * DAY) for day in (5, 4, 3, 2)]
    add_run(db, id_of(start - 5 * DAY + 1), finished_at_ms=1)
    add_run(db, id_of(start - 4 * DAY - 1), finished_at_ms=1)
    add_run(db, id_of(start - 3 * DAY), finished_at_ms=1)
    waiting = id_of(start - 3 * DAY + 5)
    assert drop(db, start - 4 * DAY - 1) == []  # the oldest ends a millisecond later
    with database.connect() as other, other.transaction():
        add_run(other, waiting)  # not committed yet
        assert drop(db, now(db) - HOUR) == [(names[0], False, "its tables are in use")]
    assert drop(db, now(db) - HOUR) == [(names[0], True, None), (names[1], True, None), (names[2], False, "1 runs in it are unfinished")]
    assert horizon(db) == start - 3 * DAY
    assert count(db) == [2, 1, 2, 2]
    db.execute("WITH d AS (DELETE FROM pawl.ready RETURNING run_id)"
               " INSERT INTO pawl.attempts (run_id, attempt, state, last, lease_version, finished_at_ms)"
               " SELECT run_id, 1, 'failed', true, 1, 1 FROM d")
    assert drop(db, now(db) - HOUR) == [(names[2], True, None), (names[3], True, None)]
    assert count(db) == [0, 0, 0, 0] and horizon(db) == start - DAY
    assert ranges(db)[0][0] == start


def test_finished_runs_of_the_default_go_in_bites_of_1000(db):
    start = ranges(db)[0][0]
    for n in range(1500):
        add_run(db, id_of(start - 3 * DAY + n), finished_at_ms=start - 2 * DAY)
    add_run(db, id_of(start - 4 * DAY))  # unfinished: stays
    add_run(db, id_of(start - 5 * DAY), finished_at_ms=start - 1)  # made up for lately: stays
    add_run(db, id_of(start - HOUR), finished_at_ms=start - 1)  # young
    assert drop(db, start - DAY) == [("default", True, "1000 finished runs")] and count(db) == [503, 502, 503, 503]
    assert horizon(db) == start - 3 * DAY + 1000
    assert drop(db, start - DAY) == [("default", True, "500 finished runs")] and count(db) == [3, 2, 3, 3]
    assert drop(db, start - DAY) == [] and horizon(db) == start - 3 * DAY + 1500


def test_what_the_functions_refuse(db):
    for text in (f"drop_partitions({now(db) - HOUR + 5000})", "drop_partitions(NULL)", "drop_partitions(-1)",
                 f"ensure_partitions({367 * DAY})", f"ensure_partitions(0, {HOUR + 1})", "ensure_partitions(NULL)",
                 f"ensure_partitions(0, {32 * DAY})"):
        with pytest.raises(psycopg.Error) as refused:
            db.execute(f"SELECT pawl.{text}")
        assert refused.value.sqlstate == "PW400", text
    with db.transaction():
        db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        with pytest.raises(psycopg.Error, match="use READ COMMITTED"), db.transaction():
            drop(db, 0)


def test_with_a_foreign_key_between_them_a_partition_could_not_be_dropped(db):
    """Why history has none: the wrong shape, shown wrong."""
    start = ranges(db)[0][0]
    make_range(db, start - 2 * DAY, start - DAY)
    with pytest.raises(psycopg.errors.DependentObjectsStillExist), db.transaction():
        db.execute("ALTER TABLE pawl.attempts ADD FOREIGN KEY (run_id) REFERENCES pawl.runs (id)")
        drop(db, now(db) - HOUR)
    assert [dropped for _, dropped, _ in drop(db, now(db) - HOUR)] == [True]
