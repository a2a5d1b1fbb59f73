# SPDX-License-Identifier: Apache-2.0
"""Pools: slots are never exceeded, and what is blocked hides nothing. The rows of the dispatch table that concern one node carry their names."""
import pytest

from harness import holds_for, wait_until


def starts(box, trace="trace"):
    return [beat for beat in box.beats(trace) if beat.kind == "S"]


def pool(box, name):
    return next(row for row in box.json("pools") if row["pool"] == name)


def running(box, task):
    return sum(row["state"] == "running" for row in box.runs("--task", task))


@pytest.mark.smoke
def test_slots_are_never_exceeded(box):
    box.up(f"""
pools: {{p: {{slots: 3}}}}
tasks:
  a: {{exec: {box.beat(150)}, pool: p, triggers: {{t: {{every: 1s, overlap: allow}}}}}}
  b: {{exec: {box.beat(150)}, pool: p}}
""")
    for _ in range(15):
        box.start_run("b")
    box.wait_runs(15, "--task", "b")
    assert box.assert_never_more(3) >= 15


@pytest.mark.smoke
def dispatch_A1(box):
    """A pool is shrunk below its use: nobody is ended, and nothing starts until use has fallen below the new size."""
    box.up(f"pools: {{p: {{slots: 3}}}}\ntasks: {{job: {{exec: {box.beat(2500)}, pool: p}}}}")
    for _ in range(13):
        box.start_run("job")
    wait_until(lambda: len(starts(box)) == 3)
    box.ok("pools", "resize", "p", "1")
    wait_until(lambda: pool(box, "p")["slots"] == 1)
    wait_until(lambda: len(starts(box)) >= 5, 40)
    order = sorted(box.beats(), key=lambda beat: beat.at_ms)
    ended = {beat.pid: beat.at_ms for beat in order if beat.kind == "E"}
    begun = [beat for beat in order if beat.kind == "S"]
    for beat in begun[3:]:
        alive = [b for b in begun if b.at_ms <= beat.at_ms and b.pid != beat.pid and ended.get(b.pid, 1 << 62) > beat.at_ms]
        assert not alive, f"a start at {beat.at_ms} beside {len(alive)}"
    assert len([beat for beat in order if beat.kind == "E"]) >= 4, "those that ran were not ended"


def dispatch_A2(box):
    """Five runs of weight 3 in a pool of 6: exactly two at a time."""
    box.up(f"pools: {{p: {{slots: 6}}}}\ntasks: {{job: {{exec: {box.beat(400)}, pool: p, slots: 3}}}}")
    for _ in range(5):
        box.start_run("job")
    wait_until(lambda: running(box, "job") == 2)
    box.wait_runs(5)
    assert box.assert_never_more(2) == 5


def dispatch_A3(box):
    """Weights 12, 12 and 16 in a pool of 24: two waves and no failure."""
    box.up(f"""
pools: {{p: {{slots: 24}}}}
tasks:
  a: {{exec: {box.beat(500)}, pool: p, slots: 12}}
  b: {{exec: {box.beat(500)}, pool: p, slots: 12}}
  c: {{exec: {box.beat(500)}, pool: p, slots: 16}}
""")
    for task in ("a", "b", "c"):
        box.start_run(task)
    rows = box.wait_runs(3)
    assert {row["state"] for row in rows} == {"succeeded"} and {row["attempts"] for row in rows} == {1}
    assert box.assert_never_more(2) == 3


def dispatch_A9(box):
    """A pool goes away from the file while its runs are running and waiting, and comes back: the survivors still count."""
    text = "pools: {{p: {{slots: 2}}}}\ntasks: {{job: {{exec: {0}, pool: p}}}}"
    box.up(text.format(box.beat(2500)))
    for _ in range(5):
        box.start_run("job")
    wait_until(lambda: running(box, "job") == 2)
    gone = box.write("pawl.yaml", f"tasks: {{job: {{exec: {box.beat(2500)}, max_active: 2}}}}")
    box.cli("apply", "--prune", "-f", gone)
    box.file.write_text(text.format(box.beat(2500)))
    box.ok("apply", "--prune", "-f", box.file)
    assert pool(box, "p")["used"] == 2, "the survivors are counted"
    box.wait_runs(5, deadline_s=40)
    assert box.assert_never_more(2) == 5
    box.store.assert_one_hot_row()


def dispatch_A11(box):
    """A run wider than its pool is shown as unsatisfiable, and starts once the pool is wide enough."""
    box.up(f"pools: {{p: {{slots: 2}}}}\ntasks: {{wide: {{exec: {box.beat(100)}, pool: p, slots: 4}}, small: {{noop: {{}}, pool: p}}}}")
    run = box.start_run("wide")
    wait_until(lambda: "unsatisfiable" in box.ok("explain", run).out, what="explain says so")
    small = box.start_run("small")
    assert box.wait_state(small, "succeeded")["state"] == "succeeded", "it does not hide the others"
    box.ok("pools", "resize", "p", "4")
    box.wait_state(run, "succeeded")


def dispatch_A14(box):
    """Waiting for a slot is not charged to the timeout, and a retry keeps its place in the queue's order."""
    box.up(f"""
pools: {{p: {{slots: 1}}}}
tasks:
  first: {{exec: {box.beat(1500)}, pool: p}}
  second: {{exec: {box.beat(100)}, pool: p, timeout: 1s}}
""")
    box.start_run("first")
    run = box.start_run("second")
    assert box.wait_state(run, "succeeded", "timed_out")["state"] == "succeeded"


def dispatch_B1(box):
    """A full pool with thousands waiting at high priority does not delay another pool."""
    box.up(f"""
pools: {{full: {{slots: 1}}, free: {{slots: 10}}}}
tasks:
  blocked: {{exec: {box.beat(30000)}, pool: full, priority: 1000}}
  idle: {{noop: {{}}, pool: free}}
""")
    box.start_run("blocked")
    box.ok("run", "blocked", "--count", "10000") if "--count" in box.ok("run", "--help").out else [box.start_run("blocked") for _ in range(200)]
    run = box.start_run("idle")
    box.wait_state(run, "succeeded", deadline_s=5)


def dispatch_B2(box):
    """Hundreds of waiting runs of a task with a limit do not delay another task of the same pool."""
    box.up(f"tasks: {{capped: {{exec: {box.beat(30000)}, max_active: 2}}, other: {{noop: {{}}}}}}", "--slots", "8")
    for _ in range(150):
        box.start_run("capped")
    wait_until(lambda: running(box, "capped") == 2)
    run = box.start_run("other")
    box.wait_state(run, "succeeded", deadline_s=5)
    assert running(box, "capped") == 2


def dispatch_B3(box):
    """A pool that churns at a higher priority leaves another pool's slots to the others: they are all used within one pass."""
    box.up(f"""
pools: {{a: {{slots: 20}}, b: {{slots: 8}}}}
tasks:
  churn: {{exec: {box.beat(50)}, pool: a, priority: 2, triggers: {{t: {{every: 1s, overlap: allow}}}}}}
  calm: {{exec: {box.beat(4000, trace="calm")}, pool: b, priority: 1}}
""")
    for _ in range(60):
        box.start_run("churn")
    for _ in range(20):
        box.start_run("calm")
    wait_until(lambda: running(box, "calm") == 8, 10)
    assert box.assert_never_more(8, "calm") >= 8


@pytest.mark.slow
def dispatch_B5(box):
    """Narrow runs without end and a wide one: slots are reserved for it after a bound (30 s), and none is idle before that."""
    box.up(f"""
pools: {{p: {{slots: 2}}}}
tasks:
  narrow: {{exec: {box.beat(1500, trace="narrow")}, pool: p, triggers: {{a: {{every: 1s, overlap: allow}}, b: {{every: 1s, offset: 500ms, overlap: allow}}}}}}
  wide: {{exec: {box.beat(100, trace="wide")}, pool: p, slots: 2}}
""")
    wait_until(lambda: running(box, "narrow") == 2)
    run = box.start_run("wide")
    box.wait_state(run, "succeeded", deadline_s=45)
    box.assert_never_more(2, "narrow")
    wide = box.beats("wide")
    inside = [beat for beat in box.beats("narrow") if wide[0].at_ms < beat.at_ms < wide[-1].at_ms]
    assert not inside, "it had both slots"
    assert len(starts(box, "narrow")) >= 20, "the others went on meanwhile"


def dispatch_B7(box):
    """One slot: the order of starts is the order of priorities, at every queue between the store and the process."""
    box.up(f"""
pools: {{p: {{slots: 1}}}}
tasks:
  gate: {{exec: {box.beat(2000, trace="gate")}, pool: p, priority: 1000}}
  p1: {{exec: {box.beat(20)}, pool: p, priority: 1}}
  p5: {{exec: {box.beat(20)}, pool: p, priority: 5}}
  p10: {{exec: {box.beat(20)}, pool: p, priority: 10}}
""")
    box.start_run("gate")
    wait_until(lambda: starts(box, "gate"))
    ids = {box.start_run(task): task for task in ("p1", "p5", "p10")}
    box.wait_runs(4)
    assert [ids[beat.run] for beat in starts(box)] == ["p10", "p5", "p1"]


def dispatch_B8(box):
    """A priority out of range is refused where it is written, and a bad trigger does not stop the others."""
    for value in ("2147483648", "1001", "-1001", "high"):
        path = box.write("bad.yaml", f"tasks: {{a: {{noop: {{}}, priority: {value}}}}}")
        assert "priority" in box.refused("validate", "-f", path, code=None)
    box.up("tasks: {a: {noop: {}, triggers: {t: {every: 1s}}}}")
    box.refused("run", "a", "--priority", "2147483648", code=2)
    box.wait_runs(2)


def dispatch_B9(box):
    """A task with many queued runs and a limit of one; another task's single run starts at once."""
    box.up(f"tasks: {{x: {{exec: {box.beat(20000)}, max_active: 1}}, y: {{noop: {{}}}}}}")
    for _ in range(100):
        box.start_run("x")
    wait_until(lambda: running(box, "x") == 1)
    run = box.start_run("y")
    box.wait_state(run, "succeeded", deadline_s=5)


def dispatch_B13(box):
    """A limit that is changed while runs wait applies to those runs, and explain prints the numbers that are compared."""
    text = "tasks: {{job: {{exec: {0}, max_active: {1}}}}}"
    box.up(text.format(box.beat(1500), 1))
    runs = [box.start_run("job") for _ in range(6)]
    wait_until(lambda: running(box, "job") == 1)
    explained = box.ok("explain", runs[-1]).out
    assert "1" in explained and "max_active" in explained
    box.file.write_text(text.format(box.beat(1500), 3))
    box.ok("apply", "-f", box.file)
    wait_until(lambda: running(box, "job") == 3)
    box.wait_runs(6)
    box.assert_never_more(3)


def test_paused_and_unlimited(box):
    box.up("""
pools: {closed: {slots: 0}, open: {slots: unlimited}}
tasks: {a: {noop: {}, pool: closed}, b: {shell: "sleep 1", pool: open}}
""", "--slots", "40")
    waits = box.start_run("a")
    for _ in range(20):
        box.start_run("b")
    wait_until(lambda: running(box, "b") >= 15, what="unlimited")
    holds_for(lambda: box.show_run(waits)["state"] == "queued", 0.5)
    assert "closed" in box.ok("explain", waits).out
    box.ok("pools", "resize", "closed", "1")
    box.wait_state(waits, "succeeded")


def test_an_override_survives_apply(box):
    pawl = box.up("pools: {p: {slots: 2}}\ntasks: {a: {noop: {}, pool: p}}")
    box.ok("pools", "resize", "p", "5")
    box.file.write_text("pools: {p: {slots: 3}}\ntasks: {a: {noop: {}, pool: p}}")
    box.ok("apply", "-f", box.file)
    assert pool(box, "p")["slots"] == 5
    pawl.kill()
    box.up()
    assert pool(box, "p")["slots"] == 5


def test_the_worker_has_slots_too(box):
    box.up(f"tasks: {{job: {{exec: {box.beat(200)}}}}}", "--slots", "2")
    for _ in range(8):
        box.start_run("job")
    box.wait_runs(8)
    assert box.assert_never_more(2) == 8


def test_schedule_only(box):
    box.up("tasks: {job: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}}", "--slots", "0")
    box.wait_runs(2, states={"queued"})
    assert not box.runs("--state", "succeeded")


def test_an_unknown_pool_is_refused(box):
    path = box.write("bad.yaml", "pools: {disk: {slots: 1}}\ntasks: {a: {noop: {}, pool: disc}}")
    assert "disk" in box.refused("validate", "-f", path)


def test_start_within(box):
    """Too late to be of use: cancelled with the reason, whether a slot is free or not."""
    box.up(f"""
pools: {{p: {{slots: 1}}}}
tasks:
  holder: {{exec: {box.beat(3000)}, pool: p}}
  fresh: {{noop: {{}}, pool: p, start_within: 1s}}
""")
    box.start_run("holder")
    wait_until(lambda: starts(box))
    run = box.start_run("fresh")
    row = box.wait_state(run, "cancelled")
    assert "too_late" in row["reason"] and row["started_at"] is None
