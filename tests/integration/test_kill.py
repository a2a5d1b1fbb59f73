# SPDX-License-Identifier: Apache-2.0
"""kill -9 at each fault point of the sources, 200 times in all.

After the restart: at most one run for an occurrence (G1), every occurrence accounted for (G2), never two living processes of one run or of a task
whose runs must not overlap, each unfinished run in exactly one place, and a clean bill from `pawl doctor`.
"""
import collections
import re

import pytest

from harness import ROOT, wait_until

KILLS = 200
FILE = """
pools: {{two: {{slots: 2}}}}
tasks:
  serial:
    exec: {serial}
    retry: {{attempts: 3, backoff: 50ms, max_backoff: 100ms}}
    triggers: {{t: {{every: 1s, overlap: {{queue: 2}}, misfire: fire_all, misfire_grace: 300ms}}}}
  pooled:
    exec: {pooled}
    pool: two
    retry: {{attempts: 3, backoff: 50ms, max_backoff: 100ms}}
    triggers: {{t: {{every: 1s, offset: 300ms, overlap: allow, misfire: fire_once, misfire_grace: 300ms}}}}
  light:
    noop: {{}}
    retry: {{attempts: 3, backoff: 50ms, max_backoff: 100ms}}
    triggers: {{t: {{every: 1s, offset: 600ms, overlap: allow, misfire: skip, misfire_grace: 300ms}}}}
  words:
    shell: 'echo from attempt $PAWL_ATTEMPT; exit 1'
    retry: {{attempts: 2, backoff: 50ms}}
    triggers: {{t: {{every: 2s}}}}
"""


def fault_points():
    points = set()
    for path in (ROOT / "src").rglob("*.c"):
        points |= set(re.findall(r'PAWL_FAULT\("([\w.]+)"\)', path.read_text()))
    return sorted(points)


POINTS = fault_points()
ROUNDS = max(1, -(-KILLS // max(len(POINTS), 1)))


def check(box):
    box.store.assert_g1()
    box.store.assert_one_hot_row()
    for task in ("serial", "pooled", "light"):
        if box.store.ledger(f"{task}/t") or box.store.nominals(f"{task}/t"):
            box.store.assert_g2(f"{task}/t", 1000)
    box.assert_never_more(1, key=lambda beat: beat.run)
    box.assert_never_more(1, "serial")
    box.assert_never_more(2, "pooled")


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def dispatch_C9(box, has_faults, point):
    text = FILE.format(serial=box.beat(120, trace="serial"), pooled=box.beat(150, trace="pooled"))
    killed = 0
    # Early passages and later ones, so that a kill meets different states.
    # What a start passes once only (a publication, a recovery) is met at its first passage, with something new to publish each time.
    often = not point.startswith(("publish.", "recover.", "output."))
    for n in range(1, ROUNDS + 1):
        box.file.write_text(text + f"  extra{n}: {{noop: {{}}}}\n")
        pawl = box.spawn("-f", box.file, fault=f"{point}:{1 + n % 4 if often else 1}")
        try:
            wait_until(lambda: not pawl.alive(), 5 if often or point.startswith("output.") else 2)
        except AssertionError:
            pawl.kill()  # this point is passed too seldom; a plain crash then
        else:
            pawl.wait()
            if pawl.process.returncode == -9:
                killed += 1
        wait_until(lambda: not box.strays(), 8, lambda: f"work outlives pawl: {box.strays()}")
    last = box.up()
    runs = collections.Counter(row["task"] for row in box.runs())
    wait_until(lambda: collections.Counter(row["task"] for row in box.runs())["light"] > runs["light"], what="it goes on")
    check(box)
    assert box.cli("doctor").code == 0, box.cli("doctor").out
    assert last.stop() == 0
    check(box)
    assert killed, f"{point} was never passed"
    print(f"{killed} kills at {point}")


def test_every_transaction_is_a_fault_point():
    """The list above is not empty by accident."""
    assert {"admit.before_commit", "admit.after_commit", "start.before_commit", "finish.before_commit", "finish.after_commit"} <= set(POINTS)


def test_a_verb_is_killed_between_commit_and_answer(box, has_faults):
    """What a verb did before it was killed is done as a whole or not at all."""
    box.up("tasks: {a: {noop: {}}}")
    for point in ("db.before_commit", "db.after_commit"):
        before = len(box.runs())
        done = box.cli("run", "a", env={"PAWL_FAULT": f"{point}:1"})
        assert done.code == -9
        # It died before it could ring; the next one that asks wakes the scheduler for both.
        box.wait_state(box.start_run("a"), "succeeded")
        wait_until(lambda: not box.runs("--state", "queued"))
        assert len(box.runs()) == before + 1 + (point == "db.after_commit")
    box.store.assert_one_hot_row()
    other = box.write("more.yaml", "tasks: {b: {noop: {}}, c: {noop: {}}}")
    for point in ("publish.before_commit", "publish.after_commit"):
        box.cli("apply", "-f", other, env={"PAWL_FAULT": f"{point}:1"})
        assert {row["task"] for row in box.json("list")} in ({"a"}, {"a", "b", "c"})


def test_hard_kills_at_any_time(box):
    """No fault point: killed at whatever moment it is, several times in a row."""
    box.file.write_text(FILE.format(serial=box.beat(120, trace="serial"), pooled=box.beat(150, trace="pooled")))
    for n in range(6):
        pawl = box.up()
        wait_until(lambda: len(box.beats("serial")) + len(box.beats("pooled")) > 20 * (n + 1) + n * 7)
        pawl.kill()
    box.up()
    count = len(box.runs("--task", "light"))
    wait_until(lambda: len(box.runs("--task", "light")) > count)
    check(box)
    assert box.cli("doctor").code == 0
