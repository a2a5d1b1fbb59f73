# SPDX-License-Identifier: Apache-2.0
"""apply, diff, validate, list, show, pause, resume, delete, explain, doctor, status."""
import json
import pathlib

import pytest

from harness import holds_for, now_ms, to_text, wait_until

ONE = "tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}}"


def test_validate(box):
    good = box.write("good.yaml", ONE)
    assert box.cli("validate", "-f", good).code == 0
    bad = box.write("bad.yaml", "tasks:\n  a:\n    noop: {}\n    timeot: 5s\n")
    err = box.refused("validate", "-f", bad)
    assert "bad.yaml:4" in err and "timeot" in err and "timeout" in err
    box.refused("validate", "-f", box.dir / "gone.yaml")


def test_diff_and_apply(box):
    box.file.write_text(ONE)
    box.up()
    assert box.cli("diff", "-f", box.file).code == 0
    box.file.write_text("tasks: {a: {noop: {}, timeout: 5s, triggers: {t: {every: 1s, overlap: allow}}}, b: {noop: {}}}")
    done = box.cli("diff", "-f", box.file)
    assert done.code == 1 and "timeout" in done.out and "b" in done.out
    assert {row["task"] for row in box.json("list")} == {"a"}, "diff changes nothing"
    box.ok("apply", "-f", box.file)
    assert {row["task"] for row in box.json("list")} == {"a", "b"}
    assert box.cli("diff", "-f", box.file).code == 0
    box.file.write_text("tasks: {b: {noop: {}}}")
    box.ok("apply", "-f", box.file)
    assert {row["task"] for row in box.json("list")} == {"a", "b"}, "without --prune nothing is removed"
    box.ok("apply", "--prune", "-f", box.file)
    assert {row["task"] for row in box.json("list")} == {"b"}
    assert box.runs("--task", "a") is not None, "history stays"


def test_an_equal_file_writes_nothing(box):
    box.up(ONE)
    before = box.store.rows("SELECT revision, updated_at_ms FROM tasks")
    box.ok("apply", "-f", box.file)
    assert box.store.rows("SELECT revision, updated_at_ms FROM tasks") == before
    assert box.store.one("SELECT count(*) FROM task_revisions") == 1


def test_files_own_their_tasks(box):
    box.up(ONE)
    other = box.write("other.yaml", "tasks: {z: {noop: {}}}")
    box.ok("apply", "--prune", "-f", other)
    assert {row["task"] for row in box.json("list")} == {"a", "z"}
    stolen = box.write("stolen.yaml", "tasks: {a: {noop: {}, timeout: 1s}}")
    err = box.refused("apply", "-f", stolen, code=1)
    assert str(box.file) in err


def test_pause_and_resume_a_trigger(box):
    box.up(ONE)
    box.wait_runs(1)
    box.ok("pause", "a/t", "--reason", "quarter end")
    count = len(box.runs())
    holds_for(lambda: len(box.runs()) <= count + 1, 2.2, "a paused trigger does not fire")
    for verb in ("list", "status"):
        assert "paused" in box.ok(verb).out
    assert "quarter end" in box.ok("explain", "a/t").out
    box.ok("resume", "a/t")
    box.wait_runs(count + 2)
    paused = box.store.ledger("a/t", "paused")
    assert len(paused) == 1 and paused[0]["count"] >= 2
    box.store.assert_g2("a/t", 1000)


def test_resume_with_catch_up(box):
    box.up("tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: allow, misfire: fire_all, misfire_grace: 200ms}}}}")
    box.wait_runs(1)
    box.ok("pause", "a/t")
    wait_until(lambda: now_ms() > box.store.trigger("a/t")["next_fire_at_ms"] + 3000)
    box.ok("resume", "a/t", "--catch-up")
    wait_until(lambda: len(box.store.nominals("a/t")) >= 5)
    assert not box.store.ledger("a/t", "paused")
    box.store.assert_g1()
    box.store.assert_g2("a/t", 1000)


def test_a_paused_task_starts_nothing(box):
    box.up("tasks: {a: {noop: {}}}")
    box.ok("pause", "a")
    run = box.start_run("a")
    holds_for(lambda: box.show_run(run)["state"] == "queued", 0.7)
    assert "paused" in box.ok("explain", run).out
    box.ok("resume", "a")
    box.wait_state(run, "succeeded")


def test_pause_until(box):
    pawl = box.up(ONE)
    box.ok("pause", "a/t", "--until", to_text(now_ms() + 2500))
    count = len(box.runs())
    box.wait_runs(count + 2, deadline_s=15)
    assert pawl.alive()
    box.store.assert_g2("a/t", 1000)


def test_a_pause_stays_over_apply_and_restart(box):
    pawl = box.up(ONE)
    box.ok("pause", "a/t")
    box.file.write_text(ONE.replace("every: 1s", "every: 2s"))
    box.ok("apply", "-f", box.file)
    pawl.stop()
    box.up()
    count = len(box.runs())
    holds_for(lambda: len(box.runs()) == count, 2.2, "still paused")


@pytest.mark.smoke
def test_delete_and_create_again_runs_nothing_twice(box):
    box.up(ONE)
    box.wait_runs(2)
    high = max(box.store.nominals("a/t"))
    box.ok("delete", "a")
    assert box.json("list") == []
    assert box.runs("--task", "a"), "history stays"
    box.ok("apply", "-f", box.file)
    wait_until(lambda: max(box.store.nominals("a/t")) > high)
    box.store.assert_g1()
    assert len({row["id"] for row in box.store.rows("SELECT id FROM triggers")}) == 1, "the trigger's id is kept"


def dispatch_E10(box):
    """A task is deleted while its runs are queued and running: slots are freed, attempts end."""
    box.up(f"pools: {{p: {{slots: 1}}}}\ntasks: {{gone: {{exec: {box.beat(60000)}, pool: p}}, other: {{noop: {{}}, pool: p}}}}")
    running, queued = box.start_run("gone"), box.start_run("gone")
    wait_until(box.beats)
    box.ok("delete", "gone")
    for run in (running, queued):
        box.wait_state(run, "cancelled")
    assert not box.strays()
    box.wait_state(box.start_run("other"), "succeeded")


def test_show(box):
    box.up("tasks: {a: {description: Counts sheep, shell: 'true', timeout: 5s, triggers: {t: {cron: '0 4 * * *', zone: Europe/Berlin}}}}")
    text = box.ok("show", "a").out
    for word in ("Counts sheep", "5s", "0 4 * * *", "Europe/Berlin"):
        assert word in text
    assert box.json("show", "a")["task"] == "a"
    box.refused("show", "b", code=1)


@pytest.mark.smoke
def test_status_says_what_matters(box):
    before = box.cli("status")
    assert before.code == 69 and "pawl up" in before.out and not box.store_path.exists()
    pawl = box.up("tasks: {bad: {shell: 'exit 5'}, soon: {noop: {}, triggers: {t: {every: 1h}}}}")
    run = box.start_run("bad")
    box.wait_state(run, "failed")
    text = box.ok("status").out
    for word in (str(pawl.pid), str(box.store_path), "bad", "soon"):
        assert word in text, f"{word} is not in:\n{text}"
    status = box.json("status")
    assert json.dumps(status).count(run) >= 1


def test_explain_a_run(box):
    box.up("pools: {p: {slots: 1}}\ntasks: {first: {shell: 'sleep 30', pool: p}, second: {noop: {}, pool: p}}")
    box.start_run("first")
    wait_until(lambda: box.run_of("first")["state"] == "running")
    run = box.start_run("second")
    text = box.ok("explain", run).out
    assert "p" in text and "1" in text and "first" in text, text
    assert box.json("explain", run)
    box.refused("explain", "a/b", code=1)


def test_doctor(box):
    box.refused("doctor", code=None)
    box.up(ONE)
    box.wait_runs(2)
    assert box.cli("doctor").code == 0
    checks = box.json("doctor")
    assert len(checks) >= 4 or len(checks.get("checks", [])) >= 4


def test_references(box):
    box.up(ONE)
    run = box.wait_runs(1)[0]["run_id"]
    assert box.json("show", "a/t")
    for text in (run, run[-8:], run.upper()):
        assert run in json.dumps(box.json("explain", text))
    box.refused("show", "a/x", code=1)
    box.refused("logs", "zzzzzzzz", code=1)


def test_tables_are_plain_without_a_terminal(box):
    box.up(ONE)
    box.wait_runs(1)
    for verb in ("list", "runs", "status", "pools", "defaults", "doctor"):
        out = box.ok(verb).out
        assert out and "\x1b" not in out


def test_run_with_input_and_later(box):
    box.up("tasks: {a: {shell: cat}}")
    run = box.start_run("a", "--input", '{"n": 1}')
    box.wait_state(run, "succeeded")
    assert '{"n": 1}' in box.ok("logs", run).out


def test_history_of_a_file_that_goes_away(box):
    """`up -f` prunes: a task that is gone from the file is removed, its unfinished runs are cancelled, its history stays."""
    pawl = box.up(f"tasks: {{a: {{exec: {box.beat(60000)}}}, b: {{noop: {{}}}}}}", "--drain", "500ms")
    run = box.start_run("a")
    wait_until(box.beats)
    box.file.write_text("tasks: {b: {noop: {}}}")
    pawl.stop()
    box.up()
    assert box.show_run(run)["state"] in ("cancelled", "failed")
    assert {row["task"] for row in box.json("list")} == {"b"}
    assert pathlib.Path(box.store_path).exists()
