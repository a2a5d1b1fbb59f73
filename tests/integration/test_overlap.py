# SPDX-License-Identifier: Apache-2.0
"""A trigger is due while a run of its task is unfinished; and max_active, which counts every run."""
import pytest

from harness import holds_for, wait_until


def lives(box):
    return [beat for beat in box.beats() if beat.kind == "S"]


def up(box, rule, ms=2500, more=""):
    return box.up(f"""
tasks:
  job:
    exec: {box.beat(ms)}
    {more}
    triggers: {{t: {{every: 1s, {rule}}}}}
""")


@pytest.mark.smoke
def test_skip_is_the_default(box):
    up(box, "misfire: fire_once")
    wait_until(lambda: len(lives(box)) >= 3, 30)
    box.assert_never_more(1)
    overlap = box.store.ledger("job/t", "overlap")
    assert sum(row["count"] for row in overlap) >= 2
    box.store.assert_g2("job/t", 1000)


def test_allow(box):
    up(box, "overlap: allow")
    wait_until(lambda: len(lives(box)) >= 4)
    with pytest.raises(AssertionError):
        box.assert_never_more(1)
    assert not box.store.ledger("job/t", "overlap")
    box.store.assert_g2("job/t", 1000)


def test_queue(box):
    up(box, "overlap: {queue: 2}", ms=3000)
    wait_until(lambda: box.store.ledger("job/t", "overlap"), what="the queue is full")
    wait_until(lambda: len(lives(box)) >= 3, 30)
    box.assert_never_more(1)
    states = [row["state"] for row in box.runs("--task", "job")]
    assert states.count("queued") <= 2 and states.count("running") <= 1, states
    box.store.assert_g2("job/t", 1000)
    waiting = next((row for row in box.runs("--state", "queued")), None)
    if waiting:
        assert box.ok("explain", waiting["run_id"]).out.strip()


def test_replace(box):
    up(box, "overlap: replace", ms=60000)
    wait_until(lambda: len(lives(box)) >= 4)
    box.assert_never_more(1)
    cancelled = [row for row in box.runs("--task", "job") if row["state"] == "cancelled"]
    assert len(cancelled) >= 2 and all(row["reason"] for row in cancelled)
    box.store.assert_g2("job/t", 1000)


def test_replace_ends_what_does_not_listen(box):
    box.up(f"""
tasks:
  job:
    exec: {box.beat(60000, "deaf")}
    kill_after: 300ms
    triggers: {{t: {{every: 2s, overlap: replace}}}}
""")
    wait_until(lambda: len(lives(box)) >= 3, 30)
    box.assert_never_more(1)


def test_manual_runs_wait_and_are_never_dropped(box):
    """Overlap rules are about runs born of triggers; a run that somebody asks for is not refused."""
    up(box, "overlap: skip", ms=600, more="max_active: 1")
    asked = [box.start_run("job") for _ in range(3)]
    for run in asked:
        assert box.wait_state(run, "succeeded", deadline_s=40)["state"] == "succeeded"
    box.assert_never_more(1)


@pytest.mark.smoke
def test_max_active(box):
    box.up(f"tasks: {{job: {{exec: {box.beat(250)}, max_active: 2}}}}")
    for _ in range(8):
        box.start_run("job")
    box.wait_runs(8)
    assert box.assert_never_more(2) == 8
    box.store.assert_one_hot_row()


def test_retry_wait_is_busy(box):
    box.up("""
tasks:
  job:
    shell: exit 1
    retry: {attempts: 2, backoff: 30s}
    triggers: {t: {every: 1s}}
""")
    wait_until(lambda: [row for row in box.runs() if row["state"] == "retry_wait"])
    wait_until(lambda: box.store.ledger("job/t", "overlap"))
    assert len(box.runs("--task", "job")) == 1
    box.store.assert_g2("job/t", 1000)


def test_two_triggers_of_one_task(box):
    """One serial rule makes the task serial, whichever trigger is due."""
    box.up(f"""
tasks:
  job:
    exec: {box.beat(300)}
    triggers:
      a: {{every: 1s, overlap: {{queue: 3}}}}
      b: {{every: 1s, offset: 100ms, overlap: {{queue: 3}}}}
""")
    wait_until(lambda: len(lives(box)) >= 6, 30)
    box.assert_never_more(1)
    for name in ("job/a", "job/b"):
        box.store.assert_g2(name, 1000)


def test_a_queue_goes_on_after_a_crash(box):
    pawl = up(box, "overlap: {queue: 1}", ms=1500)
    wait_until(lambda: len(lives(box)) >= 2, 30)
    pawl.kill()
    before = len(lives(box))
    box.up()
    wait_until(lambda: len(lives(box)) >= before + 2, 30)
    box.assert_never_more(1)
    box.store.assert_g1()
    box.store.assert_g2("job/t", 1000)
    holds_for(lambda: sum(row["state"] == "running" for row in box.runs()) <= 1, 0.5)
