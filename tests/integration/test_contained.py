# SPDX-License-Identifier: Apache-2.0
"""One bad row, one end that cannot be recorded, one moment of shortage never stops the others (G11)."""
import contextlib
import os
import signal
import sqlite3
import subprocess

import pytest

from harness import PAWL, now_ms, wait_until


def damage(box, sql, *values):
    with contextlib.closing(sqlite3.connect(box.store_path, timeout=20)) as db:
        db.create_function("pawl_now_ms", 0, lambda: 0)
        db.execute(sql, values)
        db.commit()


def still_works(box):
    run = box.start_run("good")
    box.wait_state(run, "succeeded")


GOOD = "  good: {noop: {}}\n"


def test_frozen_between_grant_and_start(box, has_faults):
    """The lease ends before the start was recorded: the attempt waits again, and nobody else notices."""
    pawl = box.up(f"tasks:\n  job: {{exec: {box.beat(50)}}}\n{GOOD}", "--lease", "3s", fault="worker.spawn:1:stop")
    asking = subprocess.Popen([PAWL, "run", "job", "--quiet"], env=box.env, cwd=box.dir, stdout=subprocess.DEVNULL)
    wait_until(lambda: open(f"/proc/{pawl.pid}/stat").read().rsplit(") ", 1)[1].startswith("T"))
    asking.wait(20)
    wait_until(lambda: box.store.rows("SELECT 1 FROM leased WHERE expires_at_ms < ?", now_ms()))
    os.kill(pawl.pid, signal.SIGCONT)
    box.wait_runs(1, "--task", "job", "--state", "succeeded")
    still_works(box)
    assert pawl.stop() == 0


def test_a_second_term_while_much_starts(box):
    for pause in (0.0, 0.02, 0.08):
        pawl = box.up("tasks:\n" + "".join(f"  t{i}: {{exec: [sleep, '5']}}\n" for i in range(30)), "--slots", "30")
        asking = [subprocess.Popen([PAWL, "run", f"t{i}", "--quiet"], env=box.env, cwd=box.dir, stdout=subprocess.DEVNULL) for i in range(30)]
        with contextlib.suppress(subprocess.TimeoutExpired):
            asking[0].wait(pause)
        pawl.signal(signal.SIGTERM)
        pawl.signal(signal.SIGTERM)
        assert pawl.wait(15) == 0
        for one in asking:
            one.wait(20)
        assert not box.strays()
        box.store.assert_one_hot_row()


@pytest.mark.parametrize("what", ["spec", "no run", "ended"])
def test_a_damaged_row(box, what):
    pawl = box.up("tasks:\n  bad: {noop: {}, pool: shut}\n" + GOOD + "pools: {shut: {slots: 0}}\n")
    run = box.start_run("bad")
    row = bytes.fromhex(run.replace("-", ""))
    if what == "spec":
        damage(box, "UPDATE task_revisions SET spec = '{' WHERE task_id = (SELECT id FROM tasks WHERE name = 'bad')")
    elif what == "no run":
        damage(box, "DELETE FROM runs WHERE id = ?", row)
    else:
        damage(box, "INSERT INTO attempts (run_id, attempt, state, last, lease_version, finished_at_ms) VALUES (?, 1, 'failed', 1, 0, 1)", row)
    box.ok("pools", "resize", "shut", "unlimited")
    still_works(box)
    wait_until(lambda: not box.store.rows("SELECT 1 FROM ready UNION ALL SELECT 1 FROM leased"))
    assert pawl.alive()


def test_a_pause_ends_over_a_damaged_trigger(box):
    box.up("tasks:\n  bad: {noop: {}, triggers: {t: {every: 1s}}}\n  fine: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}\n")
    box.ok("pause", "bad/t", "--until", "3s")
    damage(box, "UPDATE trigger_revisions SET spec = '{' WHERE trigger_id = (SELECT g.id FROM triggers g JOIN tasks t ON t.id = g.task_id WHERE t.name = 'bad')")
    wait_until(lambda: box.store.rows("SELECT 1 FROM trigger_schedules WHERE pause_until_at_ms < ?", now_ms()))
    before = len(box.runs("--task", "fine"))
    box.wait_runs(before + 2, "--task", "fine")


def test_the_store_is_gone_at_the_stop(box):
    """What cannot be recorded any more does not keep pawl from ending."""
    pawl = box.up(f"tasks: {{job: {{exec: {box.beat(60000)}}}}}", "--drain", "1s")
    box.start_run("job")
    wait_until(box.beats)
    os.unlink(box.store_path)
    pawl.signal(signal.SIGTERM)
    pawl.wait(25)
    assert not box.strays()


def test_few_descriptors_make_runs_wait(box):
    pawl = box.up("tasks: {job: {exec: [sleep, '0.3']}}", prefix=("prlimit", "--nofile=48:48"))
    runs = [box.start_run("job") for _ in range(20)]
    for run in runs:
        box.wait_state(run, "succeeded")
    assert pawl.alive()
