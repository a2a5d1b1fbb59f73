# SPDX-License-Identifier: Apache-2.0
"""The first thing a user does: a file, `pawl up`, and the history."""
import re

import pytest

from harness import now_ms, to_ms, wait_until

RUN_KEYS = ["run_id", "project", "task", "trigger", "origin", "nominal_at", "state", "attempts", "queued_at", "started_at", "finished_at",
            "exit_code", "reason"]
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.mark.smoke
def test_runs_to_the_second(box):
    box.up("""
tasks:
  tick:
    shell: 'echo "$PAWL_NOMINAL_TIME"'
    triggers: {sec: {cron: "* * * * * *", seconds: true, overlap: allow}}
  idle: {noop: {}, triggers: {two: {every: 2s, overlap: allow}}}
""")
    box.wait_runs(3, "--task", "tick")
    box.wait_runs(2, "--task", "idle")
    for row in box.runs():
        if row["state"] != "succeeded":
            continue
        nominal = to_ms(row["nominal_at"])
        assert nominal % (1000 if row["task"] == "tick" else 2000) == 0
        assert 0 <= to_ms(row["started_at"]) - nominal < 1000, row
    box.store.assert_g1()
    box.store.assert_g2("tick/sec", 1000)
    box.store.assert_g2("idle/two", 2000)
    box.store.assert_one_hot_row()


@pytest.mark.smoke
def test_shape_of_history(box):
    box.up("""
tasks:
  good: {noop: {}, triggers: {often: {every: 1s}}}
  bad: {shell: "exit 3"}
""")
    run = box.start_run("bad")
    row = box.wait_state(run, "failed")
    assert list(row)[:len(RUN_KEYS)] == RUN_KEYS or set(RUN_KEYS) <= set(row)
    assert (row["project"], row["task"], row["trigger"], row["origin"]) == ("default", "bad", None, "manual")
    assert (row["state"], row["attempts"], row["exit_code"], row["nominal_at"]) == ("failed", 1, 3, None)
    assert row["reason"]
    scheduled = box.wait_runs(1, "--task", "good")[-1]
    assert scheduled["origin"] == "schedule" and scheduled["trigger"] in ("often", "good/often")
    for key in ("nominal_at", "queued_at", "started_at", "finished_at"):
        assert INSTANT.fullmatch(scheduled[key]), f"{key}: {scheduled[key]}"
    assert to_ms(scheduled["queued_at"]) <= to_ms(scheduled["started_at"]) <= to_ms(scheduled["finished_at"])


def test_filters_of_history(box):
    box.up("""
tasks:
  a: {noop: {}, triggers: {x: {every: 1s, overlap: allow}, y: {every: 1s, offset: 500ms, overlap: allow}}}
  b: {shell: "exit 1"}
""")
    box.wait_runs(2, "--task", "a")
    failed = box.start_run("b")
    box.wait_state(failed, "failed")
    assert {row["task"] for row in box.runs("--task", "a")} == {"a"}
    for name in ("x", "y"):
        rows = box.runs("--trigger", f"a/{name}")
        assert rows and {row["trigger"].rsplit("/", 1)[-1] for row in rows} == {name}
    assert [row["run_id"] for row in box.runs("--state", "failed")] == [failed]
    assert [row["run_id"] for row in box.runs("--origin", "manual")] == [failed]
    assert len(box.json("runs", "--limit", "1")) == 1
    since = box.runs("--task", "a")[0]["queued_at"]
    assert all(to_ms(row["queued_at"]) >= to_ms(since) for row in box.runs("--since", since))
    assert box.runs("--since", "0s") == [] or box.runs("--since", "1h")
    newest = [row["run_id"] for row in box.runs()]
    assert newest == sorted(newest, reverse=True), "newest first"
    box.refused("runs", "--state", "sleeping", code=2)
    box.refused("runs", "--task", "nobody", code=1)


def test_exit_codes(box):
    assert box.cli("status").code == 69, "no store yet"
    box.up("tasks: {ok: {noop: {}}, three: {shell: 'exit 3'}, sig: {shell: 'kill -TERM $$'}, late: {shell: 'sleep 60', timeout: 300ms}}")
    assert box.cli("run", "ok", "--wait").code == 0
    assert box.cli("run", "three", "--wait").code == 3
    assert box.cli("run", "sig", "--wait").code == 128 + 15
    assert box.cli("run", "late", "--wait").code == 124
    assert box.cli("run", "nobody").code == 1
    assert box.cli("run").code == 2
    assert box.cli("run", "ok", "--no-such-option").code == 2
    assert box.cli("no-such-verb").code == 2
    assert "did you mean" in box.refused("statos", code=2)
    assert "did you mean" in box.refused("run", "okk", code=1) or "ok" in box.refused("run", "okk", code=1)


def test_run_starts_at_once(box):
    """The doorbell: a run that is asked for does not wait for the next look."""
    box.up("tasks: {now: {noop: {}}}")
    asked = now_ms()
    run = box.start_run("now")
    row = box.wait_state(run, "succeeded", deadline_s=5)
    assert to_ms(row["started_at"]) - asked < 5000


def test_first_line_names_the_store(box):
    pawl = box.up("tasks: {a: {noop: {}}}")
    assert str(box.store_path) in pawl.lines[0] and "PAWL_DATABASE_URL" in pawl.lines[0]
    pawl.stop()
    pawl = box.up(None, "--store", box.dir / "other.db")
    assert "other.db" in pawl.lines[0] and "--store" in pawl.lines[0]


def test_default_store(box):
    """Without a setting: $STATE_DIRECTORY, else for root /var/lib/pawl, else $XDG_STATE_HOME/pawl."""
    box.env.pop("PAWL_DATABASE_URL")
    pawl = box.up("tasks: {a: {noop: {}}}", env={"STATE_DIRECTORY": str(box.dir / "systemd")})
    assert str(box.dir / "systemd") in pawl.lines[0]
    assert pawl.stop() == 0


def test_help_and_version(box):
    assert re.match(r"pawl \d+\.\d+", box.ok("version").out)
    overview = box.ok("help").out
    for verb in ("up next status validate diff apply list show run runs logs cancel retry pause resume delete explain doctor defaults version "
                 "import").split():
        assert re.search(rf"\b{verb}\b", overview), f"help does not name {verb}"
        text = box.ok(verb, "--help").out
        assert f"pawl {verb}" in text and "xample" in text, f"pawl {verb} --help has no example"
    assert box.ok("jobs", "--help").code == 0


def test_defaults_are_printed(box):
    rows = box.json("defaults")
    text = str(rows)
    for word in ("fire_once", "UTC", "skip", "default", "25s", "10s", "30d", "7d"):
        assert word in text, f"{word} is not in pawl defaults"


def test_json_for_every_reading_verb(box):
    box.up("tasks: {a: {noop: {}, triggers: {t: {every: 1s}}}}")
    run = box.wait_runs(1)[0]["run_id"]
    for call in (["status"], ["list"], ["jobs"], ["show", "a"], ["runs"], ["show", "a/t"], ["explain", "a/t"], ["explain", run], ["doctor"], ["defaults"],
                 ["version"], ["pools"], ["next", "@daily"], ["logs", run], ["validate", "-f", box.file], ["diff", "-f", box.file]):
        done = box.cli(*call, "--json")
        assert done.code == 0, f"pawl {call}: {done.code} {done.err}"
        for line in done.out.splitlines():
            assert line, call


def test_a_stopped_pawl_can_be_asked(box):
    pawl = box.up("tasks: {a: {noop: {}, triggers: {t: {every: 1s}}}}")
    box.wait_runs(1)
    assert pawl.stop() == 0
    assert box.runs("--task", "a")
    status = box.ok("status").out
    assert "not running" in status or "stopped" in status
    run = box.start_run("a")
    assert box.show_run(run)["state"] == "queued"
    box.up()
    wait_until(lambda: box.show_run(run)["state"] == "succeeded")
