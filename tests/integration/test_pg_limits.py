# SPDX-License-Identifier: Apache-2.0
"""G3 and R8 under everything at once: two replicas hand out under pools, limits and overlap rules, while runs are asked for and cancelled,
tasks are paused and resumed, pools are resized, and one replica is killed. What may never be is looked for ten times a second."""
import concurrent.futures
import random
import threading
import time

import psycopg
import pytest

import pg
from harness import wait_until
from replicas import Cluster

SECONDS = 14
BUNDLE = """
pools: {one: {slots: 1}, two: {slots: 2}, three: {slots: 3}}
tasks:
  skips: {exec: [sleep, "0.3"], pool: one, triggers: {e: {every: 1s, overlap: skip}}}
  queues:
    exec: [sleep, "0.4"]
    pool: two
    triggers: {e: {every: 1s, overlap: {queue: 3}}, f: {every: 1s, offset: 500ms, overlap: {queue: 3}}}
  replaces: {exec: [sleep, "1.5"], pool: two, triggers: {e: {every: 1s, overlap: replace}}}
  limited: {exec: [sleep, "0.2"], pool: three, max_active: 2, triggers: {e: {every: 1s, overlap: allow, task_revision: 1}}}
  single: {exec: ["false"], pool: one, max_active: 1, retry: {attempts: 2, backoff: 200ms}}
  wide: {exec: [sleep, "0.1"], pool: three, slots: 2}
  plain: {exec: ["true"], pool: three}
"""
# The trigger of `limited` stays with its first revision: one limit, runs in two pools.
FIRST = BUNDLE.replace('"0.2"], pool: three', '"0.2"], pool: two').replace(", task_revision: 1", "")
TASKS = ["skips", "queues", "replaces", "limited", "single", "wide", "plain"]

# A pool that was made smaller holds what it held; what counts is what it was given since. One statement, so one snapshot.
NEVER = """
SELECT 'pool ' || p.name AS what, sum(l.slots) AS has, coalesce(p.slots_override, p.slots) AS may
FROM pawl.pools p JOIN pawl.leased l ON l.pool_id = p.id
GROUP BY p.id HAVING sum(l.slots) > coalesce(p.slots_override, p.slots) AND max(l.acquired_at_ms) > p.updated_at_ms
UNION ALL SELECT 'limit of ' || t.name, count(*), t.max_active
FROM pawl.tasks t JOIN pawl.leased l ON l.task_id = t.id WHERE t.max_active > 0 GROUP BY t.id HAVING count(*) > t.max_active
UNION ALL SELECT 'overlap of ' || t.name, count(*), 1
FROM pawl.tasks t JOIN pawl.leased l ON l.task_id = t.id AND l.trigger_born WHERE t.serial GROUP BY t.id HAVING count(*) > 1
UNION ALL SELECT 'run ' || h.run_id, count(*), 1
FROM (SELECT run_id FROM pawl.ready UNION ALL SELECT run_id FROM pawl.parked UNION ALL SELECT run_id FROM pawl.leased
  UNION ALL SELECT run_id FROM pawl.attempts WHERE last) h GROUP BY h.run_id HAVING count(*) > 1"""
HOT = """
SELECT t.name, h.place, h.reason, count(*), min(h.run_id::text) AS run
FROM (SELECT task_id, run_id, 'ready' AS place, NULL AS reason FROM pawl.ready
  UNION ALL SELECT task_id, run_id, 'parked', reason FROM pawl.parked
  UNION ALL SELECT task_id, run_id, 'leased', NULL FROM pawl.leased) h
JOIN pawl.tasks t ON t.id = h.task_id GROUP BY 1, 2, 3"""


@pytest.fixture
def cluster(tmp_path):
    server = pg.Server(15, deadlock_timeout="50ms").start()
    cluster = Cluster(server.database(), tmp_path)
    yield cluster
    cluster.close()
    server.close()


def asks(cluster, over):
    with cluster.db.connect() as db:
        while not over.is_set():
            for _ in range(random.randint(1, 8)):
                db.execute("SELECT pawl.enqueue(%s)", (random.choice(TASKS),))
            time.sleep(random.uniform(0.05, 0.3))


def cancels(cluster, over):
    """Runs that wait, run, or are just moved; one that has ended meanwhile is an error of the caller's, and not of a pawl."""
    with cluster.db.connect() as db:
        while not over.is_set():
            hot = db.execute("SELECT run_id FROM pawl.ready UNION ALL SELECT run_id FROM pawl.leased"
                             " UNION ALL SELECT run_id FROM pawl.parked").fetchall()
            for (run,) in random.sample(hot, min(3, len(hot))):
                try:
                    db.execute("SELECT pawl.cancel(%s)", (run,))
                except psycopg.Error as error:
                    assert error.sqlstate == "PW409", error
            time.sleep(random.uniform(0.1, 0.4))


def rules(cluster, over):
    while not over.is_set():
        task = random.choice(TASKS)
        cluster.cli("pause", task, "--until", random.choice(["1s", "1h"]))
        cluster.cli("pools", "resize", random.choice(["one", "two", "three"]), random.choice("01234"))
        time.sleep(random.uniform(0, 0.5))
        cluster.cli("resume", task)
        if random.random() < 0.3:
            cluster.cli("cancel", random.choice(["plain", "wide", "queues"]))


def test_limits_hold_at_every_instant(cluster):
    since = cluster.db.server.log_mark()
    cluster.apply(FIRST)
    cluster.apply(BUNDLE)
    options = ("--slots", "12", "--lease", "3s")
    for name in ("r0", "r1"):
        cluster.up(name, *options)
    over, samples = threading.Event(), 0
    with concurrent.futures.ThreadPoolExecutor(5) as threads, cluster.db.connect() as db:
        workers = [threads.submit(work, cluster, over) for work in (asks, cancels, cancels, rules)]
        end, kill_at = time.monotonic() + SECONDS, time.monotonic() + SECONDS / 3
        try:
            while time.monotonic() < end:
                found = db.execute(NEVER).fetchall()
                assert found == [], found
                assert not [worker for worker in workers if worker.done()], [worker.exception() for worker in workers if worker.done()]
                samples += 1
                if kill_at and time.monotonic() > kill_at:
                    kill_at = None
                    cluster.kill("r0")
                    cluster.up("r2", *options, wait=False)
                time.sleep(0.1)
        finally:
            over.set()
        for worker in workers:
            worker.result()
    assert samples > SECONDS * 3

    for task in TASKS:  # no more occurrences; nothing holds back what waits
        cluster.cli("resume", task)
    for trigger in ("skips/e", "queues/e", "queues/f", "replaces/e", "limited/e"):
        cluster.cli("pause", trigger)
    for pool in ("one", "two", "three"):
        cluster.cli("pools", "reset", pool)
    left = []
    wait_until(lambda: [left.clear(), left.extend(cluster.db.rows(HOT)), not left][-1] or cluster.db.rows(NEVER), 30, lambda: f"{left}")
    assert cluster.db.rows(NEVER) == []
    assert cluster.one("SELECT count(*) FROM pawl.runs") > 50
    unfinished = "SELECT count(*) FROM pawl.runs r WHERE NOT EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = r.id AND a.last)"
    assert cluster.one(unfinished) == 0
    assert cluster.one("SELECT count(*) FROM pawl.events WHERE kind = 'run.drift'") == 0
    twice = "SELECT trigger_id, nominal_at_ms FROM pawl.runs WHERE origin = 'schedule' GROUP BY 1, 2 HAVING count(*) > 1"
    assert cluster.db.rows(twice) == []
    assert cluster.db.rows("SELECT run_id FROM pawl.attempts WHERE last GROUP BY run_id HAVING count(*) > 1") == []
    cluster.one("SELECT pawl.sweep_cancels(1000)")
    assert cluster.one("SELECT count(*) FROM pawl.cancels") == 0
    cluster.stop()
    said = [m.group(0) for m in cluster.db.server.log_lines(since, app="pawl", db=cluster.db.name) if m["state"] != "08006"]
    assert said == []  # but for the connections of the one that was killed


def test_a_task_whose_gate_is_held_waits_and_hides_nobody(cluster):
    """One limit over all pools: whoever hands out holds the task's gate from before he counts until he has committed."""
    since = cluster.db.server.log_mark()
    cluster.apply(BUNDLE)
    for trigger in ("skips/e", "queues/e", "queues/f", "replaces/e", "limited/e"):
        cluster.cli("pause", trigger)
    cluster.up("r0", "--slots", "4")
    ended = ("SELECT count(*) FROM pawl.attempts a JOIN pawl.runs r ON r.id = a.run_id JOIN pawl.tasks t ON t.id = r.task_id"
             " WHERE t.name = %s")
    with cluster.db.connect() as other, other.transaction():
        other.execute("SELECT FROM pawl.task_gates g JOIN pawl.tasks t ON t.id = g.task_id WHERE t.name = 'limited' FOR NO KEY UPDATE OF g")
        for task in ("limited", "plain", "plain"):
            cluster.one("SELECT pawl.enqueue(%s)", task)
        wait_until(lambda: cluster.one(ended, "plain") == 2)
        assert cluster.one("SELECT count(*) FROM pawl.ready h JOIN pawl.tasks t ON t.id = h.task_id WHERE t.name = 'limited'") == 1
    wait_until(lambda: cluster.one(ended, "limited") == 1)
    cluster.stop()
    cluster.assert_no_complaint(since)
