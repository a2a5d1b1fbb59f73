# SPDX-License-Identifier: Apache-2.0
"""The wall clock is set while pawl runs: nothing runs twice, and what a jump passes over follows the misfire rule."""
import pytest

from harness import holds_for, now_ms, wait_until

FILE = """
tasks:
  job:
    noop: {}
    triggers: {t: {every: 1s, overlap: allow, misfire: MISFIRE, misfire_grace: 500ms}}
"""


@pytest.fixture(autouse=True)
def faults(has_faults):
    pass


def start(box, misfire="skip"):
    box.set_clock(0)
    pawl = box.up(FILE.replace("MISFIRE", misfire), clock=True)
    box.wait_runs(2)
    return pawl


def passed(box, at_ms):
    wait_until(lambda: box.store.trigger("job/t")["next_fire_at_ms"] > at_ms, what=f"the cursor passed {at_ms}")


@pytest.mark.smoke
def test_forward(box):
    pawl = start(box)
    box.set_clock(3600_000)
    passed(box, now_ms() + 3600_000 + 1000)
    assert pawl.alive()
    box.store.assert_g1()
    box.store.assert_g2("job/t", 1000)
    skipped = [row for row in box.store.ledger("job/t", "skipped") if row["count"] > 3000]
    assert len(skipped) == 1


def test_forward_with_fire_all(box):
    start(box, "fire_all")
    box.set_clock(20_000)
    passed(box, now_ms() + 20_000 + 1000)
    box.store.assert_g1()
    box.store.assert_g2("job/t", 1000)
    assert len(box.store.nominals("job/t")) >= 20


def test_back(box):
    """An hour that comes again does not run again."""
    pawl = start(box)
    before = box.store.nominals("job/t")
    box.set_clock(-3600_000)
    holds_for(lambda: len(box.store.nominals("job/t")) <= len(before) + 2, 2.5, "no occurrence ran again")
    assert pawl.alive()
    box.set_clock(0)
    passed(box, max(before) + 1000)
    box.store.assert_g1()
    box.store.assert_g2("job/t", 1000)


def test_back_and_restart(box):
    pawl = start(box)
    before = box.store.nominals("job/t")
    pawl.kill()
    box.set_clock(-600_000)
    box.up(clock=True)
    holds_for(lambda: len(box.store.nominals("job/t")) <= len(before) + 2, 2, "no occurrence ran again")
    box.store.assert_g1()


def test_to_and_fro(box):
    pawl = start(box, "fire_once")
    for step in (5_000, -5_000, 2_500, -1_500, 0):
        box.set_clock(step)
        wait_until(lambda: pawl.alive() and box.ok("status"), what="answers")
    passed(box, now_ms() + 1000)
    box.store.assert_g1()
    box.store.assert_g2("job/t", 1000)
    box.store.assert_one_hot_row()


def test_running_work_survives_a_step(box):
    """Leases are measured on a clock that cannot be set: a running task is neither lost nor started again."""
    box.set_clock(0)
    box.up(f"tasks: {{long: {{exec: {box.beat(2500)}}}}}", clock=True)
    run = box.start_run("long")
    wait_until(box.beats, what="it runs")
    box.set_clock(7200_000)
    wait_until(lambda: any(beat.kind == "E" for beat in box.beats()), what="it ends by itself")
    row = box.wait_state(run, "succeeded", "failed")
    assert row["state"] == "succeeded" and row["attempts"] == 1, row
    assert box.assert_never_more(1) == 1
