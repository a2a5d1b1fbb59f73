# SPDX-License-Identifier: Apache-2.0
"""Replicas beside each other on real PostgreSQL servers: once, accounted, fenced, through kills, stops, cuts and restarts."""
import random
import signal
import time
import urllib.request

import psycopg
import pytest

import pg
from harness import holds_for, now_ms, wait_until
from replicas import Scissors, every_second

pytest_plugins = "replicas"


def test_one_due_instant_is_one_run(cluster):
    since = cluster.db.server.log_mark()
    cluster.apply("tasks: {t: {noop: {}, triggers: {once: {at: 2899-01-01T00:00:00Z, misfire: fire_once}}}}")
    for i in range(4):
        cluster.up(f"r{i}", "--slots", "0")
    cluster.arm(cluster.now() + 1000)
    wait_until(lambda: cluster.one("SELECT count(*) FROM pawl.runs") == 1, what="the run")
    holds_for(lambda: cluster.one("SELECT count(*) FROM pawl.runs") == 1, 1)
    assert cluster.db.rows("SELECT attempt, lease_version FROM pawl.ready") == [{"attempt": 1, "lease_version": 0}]
    assert [row["kind"] for row in cluster.db.rows("SELECT kind FROM pawl.events ORDER BY seq")] == ["run.created", "run.queued"]
    cluster.stop()
    cluster.assert_no_complaint(since)


def test_two_tasks_with_a_trigger_of_one_name(cluster):
    cluster.apply("tasks:\n" + "".join(f"  {t}: {{noop: {{}}, triggers: {{nightly: {{every: 1h, overlap: allow}}}}}}\n" for t in ("a", "b")))
    cluster.up("r0")
    cluster.arm(cluster.now() + 500)
    wait_until(lambda: cluster.one("SELECT count(*) FROM pawl.attempts WHERE last") == 2, what="two runs")
    cluster.stop()


@pytest.mark.parametrize("isolation", ["read-committed", "serializable"])
def test_kills_at_random(cluster, isolation):
    """About 10,000 occurrences over four replicas, of which one is killed about every second."""
    cluster.apply(every_second(400))
    how = ("--claim-lease", "2s", "--lease", "3s", "--admission-isolation", isolation)
    for i in range(4):
        cluster.up(f"r{i}", *how)
    end = time.monotonic() + (24 if isolation == "read-committed" else 8)
    while time.monotonic() < end:
        time.sleep(random.uniform(0.3, 1.2))
        name = f"r{random.randrange(4)}"
        cluster.kill(name)
        cluster.up(name, *how, wait=False)
    wait_until(lambda: cluster.one("SELECT max(pawl.now_ms() - due_at_ms) FROM pawl.trigger_schedules") < 1500, 30, "the replicas have caught up")
    cluster.stop()
    cluster.assert_sound()
    assert not cluster.one("SELECT count(*) FROM pawl.attempts WHERE state <> 'succeeded'")


def test_connections_cut_at_random(cluster):
    scissors = Scissors(cluster.db.server.port, 0.02)
    cluster.url = cluster.db.url(port=scissors.address[1])
    cluster.apply(every_second(60))
    for i in range(3):
        cluster.up(f"r{i}", "--claim-lease", "2s", "--lease", "3s")
    scissors.cutting = True
    time.sleep(12)
    scissors.cutting = False
    wait_until(lambda: cluster.one("SELECT max(pawl.now_ms() - due_at_ms) FROM pawl.trigger_schedules") < 1500, 40, "the replicas have caught up")
    ended = {name: (process.poll(), cluster.log(name)[-2000:]) for name, process in cluster.processes.items() if process.poll() is not None}
    assert not ended, f"a lost connection never ends a replica: {ended}"
    cluster.stop()
    scissors.close()
    assert scissors.cuts > 50
    cluster.assert_sound()


@pytest.mark.usefixtures("has_faults")
def test_killed_with_a_claim(cluster):
    """Others take over at the lease's end by the server's clock, not before; and what was claimed in time is on time."""
    cluster.apply("tasks: {t: {noop: {}, triggers: {once: {every: 1h, misfire: skip, misfire_grace: 1s, overlap: allow}}}}")
    dying = cluster.up("dying", "--slots", "0", "--claim-lease", "4s", env={"PAWL_FAULT": "schedule.after_claim:1"})
    cluster.arm(cluster.now() + 500)
    assert dying.wait(20) == -signal.SIGKILL
    claim = cluster.db.rows("SELECT claim_version, claim_expires_at_ms, claim_acquired_at_ms FROM pawl.trigger_schedules")[0]
    cluster.up("heir", "--slots", "0", "--claim-lease", "4s")
    wait_until(lambda: cluster.one("SELECT count(*) FROM pawl.runs") == 1, what="the run")
    created = cluster.one("SELECT at_ms FROM pawl.events WHERE kind = 'run.created'")
    assert claim["claim_expires_at_ms"] - claim["claim_acquired_at_ms"] == 4000
    assert created >= claim["claim_expires_at_ms"], "taken over while the lease stood"
    after = cluster.db.rows("SELECT claim_version, claim_token FROM pawl.trigger_schedules")[0]
    assert (after["claim_version"], after["claim_token"]) == (claim["claim_version"] + 1, None)
    assert not cluster.one("SELECT count(*) FROM pawl.ledger"), "claimed in time, so it is on time"
    cluster.processes.pop("dying")
    cluster.stop()


@pytest.mark.usefixtures("has_faults")
@pytest.mark.parametrize("point", ["schedule.after_claim", "admit.after_begin", "admit.before_commit"])
def test_stopped_beyond_its_lease(cluster, point):
    """Whoever is stopped with a claim and wakes up too late commits nothing."""
    cluster.apply("tasks: {t: {noop: {}, triggers: {once: {every: 1h, misfire: fire_once, overlap: allow}}}}")
    sleeper = cluster.up("sleeper", "--slots", "0", "--claim-lease", "2s", env={"PAWL_FAULT": f"{point}:1:stop"})
    at = cluster.now() + 500
    cluster.arm(at)
    wait_until(lambda: " T" in open(f"/proc/{sleeper.pid}/stat").read().rpartition(")")[2][:3], what="it is stopped")
    cluster.up("other", "--slots", "0", "--claim-lease", "2s")
    wait_until(lambda: cluster.one("SELECT count(*) FROM pawl.runs") == 1, 30, "the other's run")
    before = cluster.db.rows("SELECT kind, at_ms FROM pawl.events ORDER BY seq")
    sleeper.send_signal(signal.SIGCONT)
    holds_for(lambda: cluster.db.rows("SELECT kind, at_ms FROM pawl.events ORDER BY seq") == before, 2, "what was committed")
    assert cluster.one("SELECT count(*) FROM pawl.ledger") == 0
    cluster.stop()


@pytest.mark.usefixtures("has_faults")
def test_clocks_of_the_nodes_do_not_count(cluster, tmp_path):
    for name, offset in (("ahead", 3600000), ("behind", -3600000)):
        (tmp_path / name).write_text(str(offset))
    cluster.apply(every_second(20))
    began = cluster.now()
    for name in ("ahead", "behind"):
        cluster.up(name, "--claim-lease", "2s", env={"PAWL_FAULT_CLOCK": str(tmp_path / name)})
    wait_until(lambda: cluster.one("SELECT count(*) FROM pawl.runs") >= 60, what="three seconds of runs")
    cluster.stop()
    cluster.assert_sound()
    ended = cluster.now()
    assert not cluster.one("SELECT count(*) FROM pawl.runs WHERE nominal_at_ms NOT BETWEEN %s AND %s", began - 1000, ended)
    late = cluster.one("SELECT max(e.at_ms - r.nominal_at_ms) FROM pawl.runs r JOIN pawl.events e ON e.subject = r.id AND e.kind = 'run.created'")
    assert late < 5000, f"admitted {late} ms after its time"


def test_a_client_that_froze_while_it_sent(cluster):
    """Its backend has locked the row and waits for the rest of the pipeline: no timeout of the server ends that, so the replicas do."""
    cluster.apply("tasks: {t: {noop: {}, triggers: {once: {every: 1h, misfire: fire_once, overlap: allow}}}}")
    cluster.up("r0", "--slots", "0")
    cluster.arm(cluster.now() + 4000)
    with psycopg.connect(cluster.db.url(), application_name="pawl", autocommit=True) as frozen:
        frozen.pgconn.enter_pipeline_mode()
        frozen.pgconn.send_query_params(b"BEGIN", None)
        frozen.pgconn.send_query_params(b"SELECT 1 FROM pawl.trigger_schedules FOR NO KEY UPDATE", None)
        frozen.pgconn.flush()
        wait_until(lambda: cluster.one("SELECT count(*) FROM pg_locks WHERE relation = 'pawl.trigger_schedules'::regclass AND pid = %s",
                                       frozen.pgconn.backend_pid), what="it holds the row")
        wait_until(lambda: cluster.one("SELECT count(*) FROM pawl.runs") == 1, 40, "the run")
        frozen.pgconn.finish()
    assert cluster.events("r0", "unstick.ended")
    cluster.stop()


def answer(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as got:
            return got.status
    except urllib.error.HTTPError as error:
        return error.code


def test_the_server_goes_and_comes(alone):
    """Terminated backends, kill -9 of the postmaster and an immediate stop in the middle of admissions, and a time without it."""
    server = alone.db.server
    alone.apply(every_second(50))
    port = pg.free_port()
    for i in range(2):
        alone.up(f"r{i}", "--claim-lease", "2s", "--lease", "3s", "--listen", f"127.0.0.1:{port}" if i == 0 else "none")
    wait_until(lambda: alone.one("SELECT count(*) FROM pawl.runs") > 50, what="runs")
    assert (answer(port, "/readyz"), answer(port, "/livez")) == (200, 200)
    for _ in range(5):
        server.terminate("application_name LIKE 'pawl%'")
        time.sleep(0.3)
    wait_until(lambda: answer(port, "/readyz") == 200, what="ready after its backends were ended")
    for how in ("kill9", "immediate"):
        server.kill9_all() if how == "kill9" else server.stop("immediate")
        wait_until(lambda: answer(port, "/readyz") == 503, 30, "unready without a server")
        assert answer(port, "/livez") == 200
        time.sleep(2)
        server.start()
        wait_until(lambda: answer(port, "/readyz") == 200, 30, "ready again")
        wait_until(lambda: alone.one("SELECT max(pawl.now_ms() - due_at_ms) FROM pawl.trigger_schedules") < 1500, 40, f"caught up after {how}")
    assert all(process.poll() is None for process in alone.processes.values())
    alone.stop()
    alone.assert_sound()


def test_started_before_its_server(alone):
    """It waits as long as it takes, and a signal ends the waiting."""
    server = alone.db.server
    alone.apply(every_second(1))
    server.stop()
    alone.up("early", wait=False)
    quitter = alone.up("quitter", wait=False)
    wait_until(lambda: alone.events("early", "up.waits") and alone.events("quitter", "up.waits"), what="both wait")
    quitter.send_signal(signal.SIGTERM)
    assert quitter.wait(10) == 0
    alone.processes.pop("quitter")
    server.start()
    wait_until(lambda: alone.events("early", "ready"), 30, "it comes up with its server")
    began = now_ms()
    wait_until(lambda: alone.one("SELECT count(*) FROM pawl.runs") > 0, what=f"a run since {began}")
    alone.stop()
