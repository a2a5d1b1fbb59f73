# SPDX-License-Identifier: Apache-2.0
"""Start, stop, reload, crash, freeze: the life of `pawl up`."""
import os
import signal
import socket
import subprocess
import time

import pytest

from harness import PAWL, holds_for, now_ms, wait_until

JOB = "tasks: {{job: {{exec: {0}}}}}"


@pytest.mark.smoke
def test_term_drains(box):
    """TERM: nothing new starts, what runs may end, then pawl goes with 0."""
    pawl = box.up(JOB.format(box.beat(1500)))
    run = box.start_run("job")
    wait_until(box.beats)
    pawl.signal(signal.SIGTERM)
    later = box.start_run("job")
    assert pawl.wait() == 0
    assert box.show_run(run)["state"] == "succeeded"
    assert box.show_run(later)["state"] == "queued"
    assert not box.strays()


def test_drain_is_bounded(box):
    pawl = box.up(JOB.format(box.beat(60000)), "--drain", "1s")
    run = box.start_run("job")
    wait_until(box.beats)
    began = time.monotonic()
    assert pawl.stop() == 0
    assert 0.8 < time.monotonic() - began < 15
    row = box.show_run(run)
    assert row["state"] == "failed" and "drain" in row["reason"], row
    assert not box.strays()


def test_a_second_term_forces(box):
    pawl = box.up(JOB.format(box.beat(60000, "deaf")))
    box.start_run("job")
    wait_until(box.beats)
    pawl.signal(signal.SIGTERM)
    holds_for(pawl.alive, 0.5, "it drains")
    began = time.monotonic()
    pawl.signal(signal.SIGTERM)
    pawl.wait()
    assert time.monotonic() - began < 15
    assert not box.strays()


def test_interrupt_is_term(box):
    pawl = box.up(JOB.format(box.beat(100)))
    pawl.signal(signal.SIGINT)
    assert pawl.wait() == 0


@pytest.mark.smoke
def test_hup_reads_the_file_again(box):
    """…without waiting for what runs."""
    pawl = box.up(JOB.format(box.beat(60000)))
    run = box.start_run("job")
    wait_until(box.beats)
    box.file.write_text(JOB.format(box.beat(60000))[:-1] + ", new: {noop: {}, triggers: {t: {every: 1s}}}}")
    pawl.signal(signal.SIGHUP)
    box.wait_runs(1, "--task", "new")
    assert box.show_run(run)["state"] == "running"


def test_hup_with_a_bad_file_changes_nothing(box):
    pawl = box.up("tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}}")
    box.wait_runs(1)
    lines = len(pawl.lines)
    box.file.write_text("tasks: {a: {nop: {}}}")
    pawl.signal(signal.SIGHUP)
    wait_until(lambda: "nop" in "\n".join(pawl.lines[lines:]), what="the log says why")
    count = len(box.runs())
    box.wait_runs(count + 1)
    assert pawl.alive()


def test_two_on_one_store(box):
    first = box.up("tasks: {a: {noop: {}}}")
    second = box.spawn("-f", box.file)
    assert second.wait() == 75
    assert str(first.pid) in second.log
    first.kill()
    box.up()


def dispatch_E4(box):
    """pawl is stopped for longer than a lease and goes on: its work was ended in time, nothing ran beside it, and each run ends once."""
    pawl = box.up(f"tasks: {{job: {{exec: {box.beat(30000)}, retry: {{attempts: 2, backoff: 100ms}}}}}}", "--lease", "3s")
    run = box.start_run("job")
    wait_until(box.beats)
    pawl.freeze()
    frozen = time.monotonic()
    wait_until(lambda: not box.strays(), 12, "the runner ends the work at the lease's end although pawl is stopped")
    assert time.monotonic() - frozen < 6
    pawl.thaw()
    wait_until(lambda: len({beat.attempt for beat in box.beats()}) == 2, what="it notices, and the retry rule decides")
    assert pawl.alive()
    box.ok("cancel", run)
    box.wait_state(run, "cancelled", "failed")
    assert box.assert_never_more(1) == 2
    box.store.assert_one_hot_row()


def test_freeze_over_due_instants(box):
    pawl = box.up("tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}}")
    box.wait_runs(2)
    pawl.freeze()
    since = now_ms()
    wait_until(lambda: now_ms() > since + 3500)
    pawl.thaw()
    wait_until(lambda: box.store.trigger("a/t")["next_fire_at_ms"] > since + 5000)
    box.store.assert_g1()
    box.store.assert_g2("a/t", 1000)


@pytest.mark.smoke
def dispatch_E9(box):
    """pawl is killed while a task runs: the work ends at once, the attempt is lost with its reason, and retried if the rule allows it."""
    pawl = box.up(f"""
tasks:
  again: {{exec: {box.beat(30000)}, retry: {{attempts: 2, backoff: 100ms}}}}
  once: {{exec: {box.beat(30000, trace="once")}}}
""")
    again, once = box.start_run("again"), box.start_run("once")
    wait_until(lambda: box.beats() and box.beats("once"))
    pawl.kill()
    wait_until(lambda: not box.strays(), 8, lambda: f"work outlives pawl: {box.describe_strays()}")
    box.up()
    row = box.wait_state(once, "failed")
    assert row["reason"]
    attempt = box.store.rows("SELECT * FROM attempts WHERE hex(run_id) = ?", once.replace("-", "").upper())[0]
    assert attempt["state"] == "lost" and attempt["reason"]
    wait_until(lambda: {beat.attempt for beat in box.beats()} == {1, 2})
    box.ok("cancel", again)
    box.wait_state(again, "cancelled")
    assert box.assert_never_more(1) == 2


@pytest.mark.parametrize("point", ["start.after_commit", "start.before_go", "worker.go"])
def test_killed_while_work_is_being_started(box, has_faults, point):
    """Whatever had been started by then ends at once, and not only when its lease does."""
    box.file.write_text(JOB.format(box.beat(60000)))
    for _ in range(6):
        pawl = box.spawn("-f", box.file, fault=f"{point}:1")
        wait_until(lambda: pawl.events("ready") or not pawl.alive())
        if pawl.alive():
            box.cli("run", "job")
        pawl.wait()
        wait_until(lambda: not box.strays(), 8, lambda: f"work outlives pawl: {box.describe_strays()}")


@pytest.mark.parametrize("pause_us", [0, 50, 200, 1000])
def test_killed_right_after_work_was_started(box, pause_us):
    """At the first sign of life of the work: the runner may still be about to report the start."""
    trace = box.dir / "trace"
    trace.touch()
    for _ in range(8):
        pawl = box.up(JOB.format(box.beat(60000)))
        before = trace.stat().st_size
        asking = subprocess.Popen([PAWL, "run", "job", "--quiet"], env=box.env, cwd=box.dir, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while trace.stat().st_size == before and time.monotonic() < until:
            pass
        time.sleep(pause_us / 1e6)
        pawl.kill()
        asking.wait(20)
        wait_until(lambda: not box.strays(), 8, lambda: f"work outlives pawl: {box.describe_strays()}")


def dispatch_E6(box):
    """pawl is killed while runs stand in every state that is no end: each leaves it after a restart."""
    box_pawl = box.up(f"""
pools: {{p: {{slots: 1}}}}
tasks:
  running: {{exec: {box.beat(30000)}, pool: p}}
  queued: {{noop: {{}}, pool: p}}
  retrying: {{shell: 'test "$PAWL_ATTEMPT" = 2', retry: {{attempts: 2, backoff: 2s}}}}
  limited: {{exec: {box.beat(2000, trace="limited")}, max_active: 1}}
""")
    runs = {task: box.start_run(task) for task in ("running", "retrying", "limited")}
    wait_until(lambda: box.beats() and box.beats("limited"))
    runs["queued"] = box.start_run("queued")
    runs["second"] = box.start_run("limited")
    wait_until(lambda: box.show_run(runs["retrying"])["state"] == "retry_wait")
    box_pawl.kill()
    box.up()
    for task, run in runs.items():
        box.wait_state(run, "succeeded", "failed")
    ends = {task: box.show_run(run)["state"] for task, run in runs.items()}
    assert ends == {"running": "failed", "queued": "succeeded", "retrying": "succeeded", "limited": "failed", "second": "succeeded"}, ends
    box.store.assert_one_hot_row()


def test_a_runner_is_killed(box):
    """Somebody kills the runner itself: its work ends too, and the attempt is recorded."""
    box.up(JOB.format(box.beat(30000, "fork")))
    run = box.start_run("job")
    wait_until(box.beats)
    pid = box.store.one("SELECT pid FROM leased")
    os.kill(pid, signal.SIGKILL)
    row = box.wait_state(run, "failed", "succeeded")
    assert row["state"] == "failed" and row["reason"]
    wait_until(lambda: not box.strays())


def test_the_first_process_of_a_container(box):
    """As PID 1 it reaps what is left to it, and TERM still stops it."""
    if os.getuid() != 0 or subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True).returncode != 0:
        pytest.skip("needs a pid namespace of its own, which is not to be had here")
    box.file.write_text("tasks: {job: {shell: '(setsid sleep 0.2 &) ; exit 0', triggers: {t: {every: 1s}}}}")
    pawl = box.spawn("-f", box.file, prefix=["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]).wait_ready()
    box.wait_runs(3)
    first = int(subprocess.run(["pgrep", "-P", str(pawl.pid)], capture_output=True, text=True).stdout.split()[0])
    holds_for(lambda: subprocess.run(["ps", "--ppid", str(first), "-o", "stat="], capture_output=True, text=True).stdout.count("Z") <= 1, 0.5)
    os.kill(first, signal.SIGTERM)
    wait_until(lambda: not os.path.exists(f"/proc/{first}"), what="it ends")


def test_notify(box):
    """systemd is told READY=1, and STOPPING=1."""
    path = str(box.dir / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(path)
        listener.settimeout(20)
        box.file.write_text("tasks: {a: {noop: {}}}")
        pawl = box.spawn("-f", box.file, env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"})
        told = ""
        while "READY=1" not in told or "WATCHDOG=1" not in told:
            told += listener.recv(4096).decode() + "\n"
        pawl.signal(signal.SIGTERM)
        while "STOPPING=1" not in told:
            told += listener.recv(4096).decode() + "\n"
        pawl.wait()


def test_settings_are_checked_first(box):
    box.file.write_text("tasks: {a: {noop: {}}}")
    for args, code in ((["--slots", "many"], 2), (["--lease", "1s"], 2), (["--drain", "soon"], 2), (["--zone", "Mars/Olympus"], 2)):
        done = box.cli("up", "-f", box.file, *args)
        assert done.code == code and not box.store_path.exists(), (args, done)
    assert box.cli("up", "-f", box.file, env={"PAWL_SLOTS": "many"}).code == 78


def test_postgres_is_not_there_yet(box):
    box.file.write_text("tasks: {a: {noop: {}}}")
    done = box.cli("up", "-f", box.file, "--database", "postgresql://127.0.0.1/x")
    assert done.code == 78 and "apply" in done.err or "PostgreSQL" in done.err


def test_up_answers_while_the_output_is_closed(box):
    """A pipe that nobody reads any more ends a verb in silence."""
    box.up("tasks: {a: {noop: {}}}")
    done = subprocess.run(["sh", "-c", f"'{PAWL}' help | head -n 1"], env=box.env, capture_output=True, text=True)
    assert done.returncode == 0 and "roken pipe" not in done.stderr
