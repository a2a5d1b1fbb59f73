# SPDX-License-Identifier: Apache-2.0
"""The nets of replicas on PostgreSQL: drift is put aside once, what two who wrote at once left over is settled, and what is old goes, by
one replica at a time and without a line in the server's log."""
import uuid

import pytest

import pg
from harness import wait_until
from replicas import Cluster

BUNDLE = """
pools: {builds: {slots: 1}}
tasks:
  plain: {exec: ["true"], triggers: {e: {every: 24h}}}
  limited: {exec: ["true"], max_active: 1}
  built: {exec: ["true"], pool: builds}
"""
HOT = "run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, since_at_ms"
DAY = 86400000


@pytest.fixture
def cluster(tmp_path):
    server = pg.Server(15).start()
    cluster = Cluster(server.database(), tmp_path)
    cluster.apply(BUNDLE)
    cluster.since = server.log_mark()
    yield cluster
    cluster.close()
    server.close()


def ask(cluster, task="plain", n=1):
    return [cluster.one("SELECT pawl.enqueue(%s)", task) for _ in range(n)]


def move(cluster, run, there, more="", values=""):
    """A waiting run goes from ready to `there`."""
    cluster.db.rows(f"WITH d AS (DELETE FROM pawl.ready WHERE run_id = %s RETURNING *)"
                    f" INSERT INTO pawl.{there} ({HOT}{more}) SELECT {HOT}{values} FROM d", run)


def lease(cluster, run):
    move(cluster, run, "leased", ", lease_version, session_id, token_digest, acquired_at_ms, expires_at_ms",
         f", 1, '{uuid.uuid4()}', '', pawl.now_ms(), pawl.now_ms() + 60000")


def end(cluster, run):
    cluster.db.rows("INSERT INTO pawl.attempts (run_id, attempt, state, last, lease_version, finished_at_ms)"
                    " VALUES (%s, 1, 'succeeded', true, 1, pawl.now_ms())", run)


def test_drift_is_put_aside_once_whoever_sees_it(cluster):
    cluster.cli("pause", "plain")
    missing, ended, twice, nowhere, well = ask(cluster, n=5)
    cluster.db.rows("DELETE FROM pawl.runs WHERE id = %s", missing)
    lease(cluster, ended)
    end(cluster, ended)
    cluster.db.rows(f"INSERT INTO pawl.parked ({HOT}, reason) SELECT {HOT}, 'paused' FROM pawl.ready WHERE run_id = %s", twice)
    cluster.db.rows("DELETE FROM pawl.ready WHERE run_id = %s", nowhere)
    for name in ("r0", "r1", "r2"):
        cluster.up(name, "--slots", "2", wait=False)
    count = "SELECT count(*) FROM pawl.parked WHERE reason = 'manual'"
    wait_until(lambda: cluster.one(count) >= 3 and cluster.one("SELECT count(*) FROM pawl.replicas WHERE state = 'ready'") == 3)
    why = {row["run_id"]: row["detail"] for row in cluster.db.rows("SELECT run_id, detail FROM pawl.parked WHERE reason = 'manual'")}
    assert why == {missing: "its run is missing", ended: "its run has ended", nowhere: "it stands in no hot table"}
    told = cluster.db.rows("SELECT subject FROM pawl.events WHERE kind = 'run.drift' ORDER BY subject")
    assert [row["subject"] for row in told] == sorted([missing, ended, twice, nowhere])
    stands = "SELECT reason FROM pawl.parked WHERE run_id = %s UNION ALL SELECT 'ready' FROM pawl.ready WHERE run_id = %s"
    for run in (twice, well):
        assert cluster.db.rows(stands, run, run) == [{"reason": "paused"}]
    cluster.stop()
    cluster.assert_no_complaint(cluster.since)


def test_a_row_that_somebody_holds_is_nobodys_drift(cluster):
    (run,) = ask(cluster)
    cluster.db.rows("DELETE FROM pawl.runs WHERE id = %s", run)
    with cluster.db.connect() as mover:
        with mover.transaction():
            mover.execute("SELECT FROM pawl.ready WHERE run_id = %s FOR UPDATE", (run,))
            cluster.up("r0", "--slots", "0")
            assert cluster.one("SELECT count(*) FROM pawl.ready WHERE run_id = %s", run) == 1
    wait_until(lambda: cluster.one("SELECT reason FROM pawl.parked WHERE run_id = %s", run) == "manual")
    cluster.stop()
    cluster.assert_no_complaint(cluster.since)


def test_intents_that_a_move_or_an_end_crossed_are_settled(cluster):
    waits, ended, held, runs = ask(cluster, n=4)
    lease(cluster, runs)
    cluster.db.rows("DELETE FROM pawl.ready WHERE run_id = %s", ended)
    end(cluster, ended)
    move(cluster, waits, "parked", ", reason", ", 'paused'")
    for run in (waits, ended, held, runs):
        cluster.db.rows("INSERT INTO pawl.cancels (run_id, requested_at_ms, reason) VALUES (%s, 0, 'enough')", run)
    with cluster.db.connect() as user:
        with user.transaction():
            user.execute("SELECT FROM pawl.ready WHERE run_id = %s FOR UPDATE", (held,))
            assert cluster.one("SELECT pawl.sweep_cancels(10)") == 2
    assert cluster.one("SELECT array_agg(run_id ORDER BY run_id) FROM pawl.cancels") == sorted([held, runs])
    assert cluster.one("SELECT pawl.sweep_cancels(10)") == 1
    for run in (waits, held):
        assert cluster.db.rows("SELECT state, last, reason FROM pawl.attempts WHERE run_id = %s", run) == [
            {"state": "cancelled", "last": True, "reason": "enough"}]
    assert cluster.one("SELECT run_id FROM pawl.cancels") == runs  # its worker will stop it


def test_what_would_wait_for_ever_moves(cluster):
    """A pool deleted beside an enqueue, a pause or a limit that ended as a pass was parking."""
    (plain,), (limited,), (built,) = ask(cluster), ask(cluster, "limited"), ask(cluster, "built")
    move(cluster, plain, "parked", ", reason", ", 'paused'")
    move(cluster, limited, "parked", ", reason", ", 'limit'")
    cluster.db.script("UPDATE pawl.pools SET state = 'deleted' WHERE name = 'builds'")
    for name in ("r0", "r1"):
        cluster.up(name, "--slots", "2")
    ended = "SELECT count(*) FROM pawl.attempts WHERE run_id = %s AND last"
    wait_until(lambda: cluster.one(ended, plain) == 1 and cluster.one(ended, limited) == 1)
    wait_until(lambda: cluster.one("SELECT reason FROM pawl.parked WHERE run_id = %s", built) == "unsatisfiable")
    assert "Pool builds was deleted" in cluster.cli("explain", built).stdout
    cluster.apply(BUNDLE)  # a pool of that name again
    wait_until(lambda: cluster.one(ended, built) == 1)
    cluster.stop()
    cluster.assert_no_complaint(cluster.since)


def test_what_is_old_goes(cluster):
    (run,) = ask(cluster)
    trigger = cluster.one("SELECT id FROM pawl.triggers")
    old = cluster.now() - 3 * DAY
    with cluster.db.connect() as db:
        for n in range(300):
            db.execute("INSERT INTO pawl.ledger VALUES (%s, %s, %s, 'skipped', 1, true, NULL, %s)", (trigger, n, n, old + n))
            db.execute("INSERT INTO pawl.facts (subject, at_ms, kind) VALUES (%s, %s, 'trigger.paused')", (trigger, old + n))
        db.execute("INSERT INTO pawl.ledger VALUES (%s, 900, 900, 'skipped', 1, true, NULL, pawl.now_ms())", (trigger,))
        db.execute("INSERT INTO pawl.output (run_id, attempt, seq, at_ms, stream, bytes) VALUES (%s, 1, 1, 0, 1, 'x')", (run,))
        db.execute("INSERT INTO pawl.output_until VALUES (%s, %s)", (run, old))
        db.execute("INSERT INTO pawl.workers VALUES (gen_random_uuid(), 'w', 1, 1, '', 1, '', %s, %s, %s)", (old, old, old))
    for name in ("r0", "r1"):
        cluster.up(name, "--slots", "0", "--history", "2d")
    left = """SELECT (SELECT count(*) FROM pawl.ledger) AS ledger, (SELECT count(*) FROM pawl.output) AS output,
      (SELECT count(*) FROM pawl.output_until) AS until, (SELECT count(*) FROM pawl.workers WHERE name = 'w') AS workers,
      (SELECT count(*) FROM pawl.facts WHERE kind = 'trigger.paused') AS facts"""
    gone = {"ledger": 1, "output": 0, "until": 0, "workers": 0, "facts": 1}  # the newest fact of a trigger stays
    wait_until(lambda: cluster.db.rows(left) == [gone], what=lambda: f"{cluster.db.rows(left)}")
    assert cluster.one("SELECT count(*) FROM pawl.runs WHERE id = %s", run) == 1
    cluster.stop()
    cluster.assert_no_complaint(cluster.since)
