# SPDX-License-Identifier: Apache-2.0
"""How work is run: time-outs, signals, retries, cancel, the environment, and what is left when it ends."""
import os
import pathlib
import pwd

import pytest

from harness import holds_for, to_ms, wait_until


@pytest.mark.smoke
def test_timeout(box):
    box.up(f"tasks: {{job: {{exec: {box.beat(60000)}, timeout: 500ms}}}}")
    row = box.wait_state(box.start_run("job"), "timed_out")
    took = to_ms(row["finished_at"]) - to_ms(row["started_at"])
    assert 450 <= took < 5000, took
    assert not box.strays()


def test_kill_after(box):
    """TERM is ignored, so KILL follows after the grace."""
    box.up(f"tasks: {{job: {{exec: {box.beat(60000, 'deaf')}, timeout: 300ms, kill_after: 700ms}}}}")
    row = box.wait_state(box.start_run("job"), "timed_out")
    assert 950 <= to_ms(row["finished_at"]) - to_ms(row["started_at"]) < 6000
    assert not box.strays()


def test_descendants_end_too(box):
    """A child in a session of its own does not escape."""
    box.up(f"tasks: {{job: {{exec: {box.beat(60000, 'fork')}, timeout: 400ms}}}}")
    box.wait_state(box.start_run("job"), "timed_out")
    last = len(box.beats())
    assert any(beat.kind == "C" for beat in box.beats())
    assert not box.strays()
    holds_for(lambda: len(box.beats()) == last, 0.3, "nothing beats any more")


def test_a_background_child_does_not_keep_the_run_open(box):
    box.up(f"tasks: {{job: {{exec: {box.beat(100, 'fork')}}}}}")
    row = box.wait_state(box.start_run("job"), "succeeded", deadline_s=15)
    assert row["exit_code"] == 0
    wait_until(lambda: not box.strays(), what="what it left behind is ended")


@pytest.mark.smoke
def test_retry(box):
    box.up("""
tasks:
  third: {shell: 'test "$PAWL_ATTEMPT" = 3', retry: {attempts: 5, backoff: 100ms}}
  never: {shell: "exit 9", retry: {attempts: 3, backoff: 100ms, max_backoff: 150ms}}
  once: {shell: "exit 9", retry: {attempts: 3, backoff: 100ms, when: [timed_out]}}
""")
    third = box.wait_state(box.start_run("third"), "succeeded", "failed")
    assert (third["state"], third["attempts"]) == ("succeeded", 3)
    never = box.wait_state(box.start_run("never"), "succeeded", "failed")
    assert (never["state"], never["attempts"], never["exit_code"]) == ("failed", 3, 9)
    once = box.wait_state(box.start_run("once"), "failed")
    assert once["attempts"] == 1
    attempts = box.store.rows("SELECT attempt, started_at_ms, finished_at_ms FROM attempts WHERE hex(run_id) = ? ORDER BY attempt",
                              never["run_id"].replace("-", "").upper())
    gaps = [b["started_at_ms"] - a["finished_at_ms"] for a, b in zip(attempts, attempts[1:])]
    assert len(gaps) == 2 and gaps[0] >= 75 and gaps[1] >= 115, gaps


def test_exit_75_is_not_now(box):
    flag = box.dir / "flag"
    box.up(f"""
tasks:
  later: {{shell: 'test -e {flag} || exit 75', retry: {{later: true, backoff: 200ms, max_backoff: 300ms}}}}
  plain: {{shell: 'exit 75'}}
""")
    run = box.start_run("later")
    wait_until(lambda: box.show_run(run)["state"] == "retry_wait")
    flag.touch()
    assert box.wait_state(run, "succeeded", "failed")["state"] == "succeeded"
    plain = box.wait_state(box.start_run("plain"), "failed")
    assert plain["exit_code"] == 75


def test_cancel(box):
    box.up(f"pools: {{p: {{slots: 1}}}}\ntasks: {{job: {{exec: {box.beat(60000)}, pool: p}}}}")
    runs, waits = box.start_run("job"), box.start_run("job")
    wait_until(box.beats)
    box.ok("cancel", waits)
    row = box.wait_state(waits, "cancelled")
    assert row["started_at"] is None
    box.ok("cancel", runs)
    row = box.wait_state(runs, "cancelled", deadline_s=10)
    assert row["started_at"] and not box.strays()
    assert box.cli("cancel", runs).code == 1, "it has ended"
    assert box.cli("cancel", "00000000").code == 1


def test_cancel_by_short_id_and_by_task(box):
    box.up(f"tasks: {{job: {{exec: {box.beat(60000)}}}}}")
    first, second, third = (box.start_run("job") for _ in range(3))
    box.ok("cancel", first[-8:])
    box.wait_state(first, "cancelled")
    box.ok("cancel", "job")
    for run in (second, third):
        box.wait_state(run, "cancelled")


def test_retry_of_a_finished_run(box):
    flag = box.dir / "flag"
    box.up(f"tasks: {{job: {{shell: 'cat; test -e {flag}'}}}}")
    first = box.start_run("job", "--input", "hello")
    box.wait_state(first, "failed")
    flag.touch()
    again = box.json("retry", first)["run_id"]
    row = box.wait_state(again, "succeeded")
    assert row["origin"] == "retry" and again != first
    assert "hello" in box.ok("logs", again).out
    assert box.show_run(first)["state"] == "failed", "history stays as it was"


@pytest.mark.smoke
def test_environment(box):
    box.up("""
tasks:
  job:
    shell: 'env; pwd; umask; cat'
    env: {MINE: yes, QUOTED: "a b  c"}
    env_pass: [FROM_OUTSIDE]
    umask: "027"
    input: "the text\\n"
    timeout: 1m
    triggers: {t: {every: 1s}}
""", env={"FROM_OUTSIDE": "passed", "SECRET_OF_PAWL": "x1y2"})
    run = box.wait_runs(1, "--task", "job")[0]
    out = box.ok("logs", run["run_id"]).out
    env = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
    assert env["MINE"] == "yes" and env["QUOTED"] == "a b  c" and env["FROM_OUTSIDE"] == "passed"
    assert "SECRET_OF_PAWL" not in env and "PAWL_DATABASE_URL" not in env and "XDG_STATE_HOME" not in env
    assert env["PAWL_RUN_ID"] == run["run_id"] and env["PAWL_TASK"] == "job" and env["PAWL_TRIGGER"].endswith("t") and env["PAWL_ATTEMPT"] == "1"
    assert to_ms(env["PAWL_NOMINAL_TIME"]) == to_ms(run["nominal_at"]) == int(env["PAWL_NOMINAL_MS"])
    assert env["PAWL_FENCE"] and env["PAWL_DEADLINE"]
    assert env["TRACEPARENT"].startswith("00-") and len(env["TRACEPARENT"]) == 55
    user = pwd.getpwuid(os.getuid())
    assert env["LOGNAME"] == env["USER"] == user.pw_name and env["PATH"] and env["SHELL"] and env["HOME"]
    assert "0027" in out.split() and "the text" in out


def test_a_secret_is_given_and_not_shown(box):
    secret = box.write("secret", "correct-horse-battery\n")
    box.up(f"""
tasks:
  job:
    shell: 'echo "token is $TOKEN"; printf correct-; sleep 0.3; printf horse-; printf battery; test $(printf %s "$TOKEN" | wc -c) = 21'
    env: {{TOKEN: {{from_file: {secret}}}, OTHER: {{from_env: OUTER}}}}
""", env={"OUTER": "outer-secret-value"})
    run = box.start_run("job")
    assert box.wait_state(run, "succeeded", "failed")["exit_code"] == 0
    out = box.ok("logs", run).out
    assert "***" in out and "correct-horse" not in out
    for file in [box.store_path, *box.dir.glob("store.db-*")]:
        assert secret.read_bytes().strip() not in file.read_bytes() and b"outer-secret-value" not in file.read_bytes()
    pawl = box.processes[0]
    assert "correct-horse" not in pawl.log
    for verb in (["show", "job"], ["explain", run], ["list"]):
        assert "correct-horse" not in box.ok(*verb, "--json").out


def test_a_missing_secret_fails_the_attempt(box):
    box.up(f"tasks: {{job: {{shell: 'echo ran', env: {{T: {{from_file: {box.dir}/gone}}}}}}}}")
    row = box.wait_state(box.start_run("job"), "failed")
    assert "gone" in row["reason"] or "T" in row["reason"]


def test_missing_binary(box):
    box.up("tasks: {job: {exec: [/no/such/program]}, path: {exec: [no-such-program-at-all]}, dir: {exec: [/]}}")
    for task in ("job", "path", "dir"):
        row = box.wait_state(box.start_run(task), "failed")
        assert row["reason"] and ("no" in row["reason"].lower() or "permission" in row["reason"].lower()), row


def test_gone_cwd(box):
    folder = box.dir / "work"
    folder.mkdir()
    box.up(f"tasks: {{job: {{shell: pwd, cwd: {folder}}}}}")
    run = box.start_run("job")
    box.wait_state(run, "succeeded")
    assert str(folder) in box.ok("logs", run).out
    folder.rmdir()
    row = box.wait_state(box.start_run("job"), "failed")
    assert str(folder) in row["reason"]


def test_run_waits_and_hands_on_the_code(box):
    box.up("tasks: {seven: {shell: 'echo out; echo err >&2; exit 7'}}")
    done = box.cli("run", "seven", "--wait")
    assert done.code == 7


def test_killed_by_a_signal(box):
    box.up("tasks: {job: {shell: 'kill -SEGV $$'}}")
    row = box.wait_state(box.start_run("job"), "failed")
    assert row["exit_code"] in (None, 139) and ("11" in row["reason"] or "SEGV" in row["reason"])


@pytest.mark.skipif(os.getuid() != 0, reason="only root can change the user")
def test_another_user_needs_consent(box):
    os.chmod(box.dir, 0o755)
    for parent in list(box.dir.parents)[:3]:
        if parent != pathlib.Path("/tmp"):
            os.chmod(parent, 0o755)
    text = "tasks: {job: {shell: 'id -un; echo $HOME', user: nobody, cwd: /}}"
    pawl = box.up(text)
    row = box.wait_state(box.start_run("job"), "failed")
    assert "nobody" in row["reason"] and "allow-user" in row["reason"]
    pawl.stop()
    box.up(text, "--allow-user", "nobody")
    run = box.start_run("job")
    box.wait_state(run, "succeeded", "failed")
    assert "nobody" in box.ok("logs", run).out.split()


def test_many_short_ones(box):
    """Hundreds of processes: none is lost, none is left as a zombie."""
    pawl = box.up("tasks: {job: {exec: ['true']}}", "--slots", "32")
    for _ in range(40):
        box.start_run("job")
    rows = box.wait_runs(40, deadline_s=40)
    assert {row["state"] for row in rows} == {"succeeded"}
    children = pathlib.Path(f"/proc/{pawl.pid}/task/{pawl.pid}/children").read_text().split()
    for child in children:
        assert ") Z " not in pathlib.Path(f"/proc/{child}/stat").read_text()
