# SPDX-License-Identifier: Apache-2.0
"""Output: live, in order, binary-safe, and bounded."""
import subprocess
import time

import pytest

from harness import PAWL, to_ms, wait_until


def logs_bytes(box, *args):
    return subprocess.run([PAWL, "logs", *args], env=box.env, cwd=box.dir, capture_output=True, timeout=60)


@pytest.mark.smoke
def test_order_and_streams(box):
    box.up("tasks: {job: {shell: 'for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done'}}")
    run = box.start_run("job")
    box.wait_state(run, "succeeded")
    words = [word for word in box.ok("logs", run).out.replace("\n", " ").split() if word.isdigit()]
    assert sorted(words) == sorted("1122334455")
    assert box.ok("logs", "job").out == box.ok("logs", run[-8:]).out == box.ok("logs", run).out
    parts = [line for line in box.ok("logs", run, "--json").out.splitlines() if line]
    assert parts


def test_live(box):
    """`logs -f` shows a line while the task is still running, and ends with it."""
    box.up("tasks: {job: {shell: 'echo first; sleep 3; echo second'}}")
    run = box.start_run("job")
    follow = subprocess.Popen([PAWL, "logs", "-f", run], env=box.env, cwd=box.dir, stdout=subprocess.PIPE, text=True)
    try:
        line = follow.stdout.readline()
        seen_at = time.time() * 1000
        assert "first" in line
        rest = follow.stdout.read()
        assert "second" in rest
        assert follow.wait(20) is not None
        assert seen_at < to_ms(box.wait_state(run, "succeeded")["finished_at"]), "it was seen only at the end"
    finally:
        follow.kill()
        follow.wait()


def test_follow_a_task_that_waits(box):
    box.up("pools: {p: {slots: 1}}\ntasks: {holder: {shell: 'sleep 1', pool: p}, job: {shell: 'echo done', pool: p}}")
    box.start_run("holder")
    run = box.start_run("job")
    assert "done" in box.ok("logs", "-f", run, timeout_s=30).out


def test_binary(box):
    data = bytes(range(256)) * 4
    path = box.write("data", data)
    box.up(f"tasks: {{job: {{exec: [cat, {path}]}}}}")
    run = box.start_run("job")
    box.wait_state(run, "succeeded")
    assert data in logs_bytes(box, run).stdout


def test_truncation_is_counted(box):
    """Far more than the cap: the first and the last part stay, and what is left out is counted to the byte."""
    box.up("tasks: {job: {shell: 'echo BEGIN; i=0; while [ $i -lt 200000 ]; do echo line $i; i=$((i+1)); done; echo END'}}")
    run = box.start_run("job")
    box.wait_state(run, "succeeded", deadline_s=60)
    out = logs_bytes(box, run).stdout
    assert out.lstrip().startswith(b"BEGIN") and out.rstrip().endswith(b"END")
    assert len(out) < 300 * 1024
    attempt = box.store.rows("SELECT * FROM attempts WHERE hex(run_id) = ?", run.replace("-", "").upper())[0]
    total = len(b"BEGIN\nEND\n") + sum(len(f"line {i}\n") for i in range(200000))
    assert attempt["output_bytes"] == total
    assert str(attempt["omitted_bytes"]).encode() in out and 0 < attempt["omitted_bytes"] < total
    kept = box.store.one("SELECT sum(length(bytes)) FROM output WHERE hex(run_id) = ? AND stream < 3", run.replace("-", "").upper())
    assert kept + attempt["omitted_bytes"] == total


def test_a_writer_is_never_blocked(box):
    """A task that writes tens of megabytes ends about as soon as it would into /dev/null."""
    box.up("tasks: {job: {shell: 'head -c 60000000 /dev/zero'}}")
    row = box.wait_state(box.start_run("job"), "succeeded", deadline_s=30)
    assert to_ms(row["finished_at"]) - to_ms(row["started_at"]) < 10_000


def test_no_output(box):
    box.up("tasks: {job: {noop: {}}}")
    run = box.start_run("job")
    box.wait_state(run, "succeeded")
    assert box.cli("logs", run).code == 0
    assert box.cli("logs", "nobody").code == 1


def test_control_characters_do_not_reach_tables(box):
    box.up("tasks: {job: {shell: 'printf \"\\\\033[31mred\\\\007\\\\n\"; exit 1'}}")
    run = box.start_run("job")
    box.wait_state(run, "failed")
    for verb in (["status"], ["runs"], ["show", "job"], ["explain", run]):
        assert "\x1b" not in box.ok(*verb).out


def test_output_of_each_attempt(box):
    box.up("tasks: {job: {shell: 'echo this is attempt $PAWL_ATTEMPT; exit 1', retry: {attempts: 2, backoff: 100ms}}}")
    run = box.start_run("job")
    wait_until(lambda: box.show_run(run)["state"] == "failed")
    out = box.ok("logs", run).out
    assert out.index("attempt 1") < out.index("attempt 2")
