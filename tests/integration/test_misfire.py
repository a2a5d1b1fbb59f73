# SPDX-License-Identifier: Apache-2.0
"""pawl was down, or asleep, while something was due."""
import pytest

from harness import now_ms, to_ms, wait_until

FILE = """
tasks:
  job:
    noop: {{}}
    triggers: {{t: {{every: 1s, overlap: allow, misfire_grace: 500ms, {rule}}}}}
"""


def settled(box, name, from_ms, until_ms):
    """(nominal times of runs, ledger rows) of an absence."""
    runs = [at for at in box.store.nominals(name) if from_ms < at <= until_ms]
    rows = [row for row in box.store.ledger(name) if row["to_at_ms"] > from_ms and row["from_at_ms"] <= until_ms]
    return runs, rows


def absence(box, rule, seconds=8):
    """Runs the file, kills pawl, lets it be down in the eyes of a clock that is set forward, starts it again. Returns the bounds."""
    box.set_clock(0)
    pawl = box.up(FILE.format(rule=rule), clock=True)
    box.wait_runs(2)
    pawl.kill()
    down_from = now_ms()
    box.set_clock(seconds * 1000)
    box.up(clock=True)
    back = down_from + seconds * 1000
    wait_until(lambda: box.store.trigger("job/t")["next_fire_at_ms"] > back + 1000, what="the cursor passed the absence")
    return down_from, back


@pytest.fixture(autouse=True)
def faults(has_faults):
    pass


@pytest.mark.smoke
def test_skip(box):
    down_from, back = absence(box, "misfire: skip")
    runs, rows = settled(box, "job/t", down_from, back - 700)
    assert len(runs) <= 1, "nothing that was missed is made up"
    assert {row["outcome"] for row in rows} == {"skipped"} and len(rows) == 1, rows
    assert rows[0]["count"] >= 6
    box.store.assert_g1()
    box.store.assert_g2("job/t", 1000)


def test_fire_once(box):
    down_from, back = absence(box, "misfire: fire_once")
    runs, rows = settled(box, "job/t", down_from, back - 700)
    assert {row["outcome"] for row in rows} == {"coalesced"} and len(rows) == 1, rows
    assert rows[0]["count"] >= 5 and len(runs) <= 2
    box.store.assert_g1()
    box.store.assert_g2("job/t", 1000)


def test_fire_all(box):
    down_from, back = absence(box, "misfire: fire_all")
    runs, rows = settled(box, "job/t", down_from, back)
    assert not rows, "each missed occurrence became a run"
    assert len(runs) >= 7 and runs == list(range(runs[0], runs[-1] + 1, 1000))
    box.store.assert_g1()
    box.store.assert_g2("job/t", 1000)


def test_fire_all_up_to_the_limit(box):
    down_from, back = absence(box, "misfire: fire_all, misfire_limit: 3", seconds=10)
    runs, rows = settled(box, "job/t", down_from, back - 700)
    assert {row["outcome"] for row in rows} == {"over_limit"}, rows
    assert 3 <= len(runs) <= 4
    assert sum(row["count"] for row in rows) >= 5
    box.store.assert_g2("job/t", 1000)


def test_a_long_absence_is_one_row(box):
    """A day of a trigger that fires every second: one ledger row, not 86,400, and pawl is back at once."""
    down_from, back = absence(box, "misfire: fire_once", seconds=86400)
    rows = [row for row in box.store.ledger("job/t") if row["outcome"] == "coalesced" and row["count"] > 1000]
    assert len(rows) == 1 and 86300 <= rows[0]["count"] <= 86401
    assert len(box.store.nominals("job/t")) < 60
    box.store.assert_g1()


def test_explain_says_what_became_of_it(box):
    absence(box, "misfire: skip")
    text = box.ok("explain", "job/t").out
    assert "skipped" in text
    assert box.json("explain", "job/t")


def dispatch_F8(box):
    """The nominal time of what is made up is the time that was missed, never one to come."""
    absence(box, "misfire: fire_once")
    for row in box.runs("--task", "job"):
        if row["started_at"]:
            assert to_ms(row["nominal_at"]) <= to_ms(row["started_at"])
