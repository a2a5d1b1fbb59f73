# SPDX-License-Identifier: Apache-2.0
"""Situations that broke other schedulers and that are neither about pools nor about crashes."""
import concurrent.futures
import time

from harness import now_ms, to_ms, wait_until


def dispatch_C2(box):
    """Every writer acts on runs in every state: only legal moves land, and each run ends once."""
    box.up(f"""
pools: {{p: {{slots: 1}}}}
tasks:
  running: {{exec: {box.beat(30000)}, pool: p}}
  queued: {{noop: {{}}, pool: p}}
  retrying: {{shell: exit 1, retry: {{attempts: 2, backoff: 1m}}}}
  ended: {{noop: {{}}}}
  failed: {{shell: exit 1}}
""")
    runs = {task: box.start_run(task) for task in ("running", "retrying", "ended", "failed")}
    wait_until(box.beats)
    runs["queued"] = box.start_run("queued")
    wait_until(lambda: box.show_run(runs["retrying"])["state"] == "retry_wait")
    box.wait_state(runs["ended"], "succeeded")
    box.wait_state(runs["failed"], "failed")
    for task in ("ended", "failed"):
        assert box.cli("cancel", runs[task]).code == 1
    for task in ("running", "queued", "retrying"):
        assert box.cli("retry", runs[task]).code == 1
    for task in ("queued", "retrying"):
        box.ok("cancel", runs[task])
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: box.cli("cancel", runs["running"]).code, range(8)))
    assert 0 in codes and set(codes) <= {0, 1}
    for task in ("running", "queued", "retrying"):
        box.wait_state(runs[task], "cancelled")
    assert box.show_run(runs["ended"])["state"] == "succeeded" and box.show_run(runs["failed"])["state"] == "failed"
    ends = box.store.rows("SELECT hex(run_id) AS run, count(*) AS n FROM attempts WHERE last = 1 GROUP BY run_id HAVING n <> 1")
    assert not ends
    box.store.assert_one_hot_row()


def dispatch_C12(box):
    """A retry of one finished run by several at once: each is a run of its own, none is lost, and the first stays as it was."""
    box.up("tasks: {job: {shell: exit 1}}")
    run = box.start_run("job")
    first = box.wait_state(run, "failed")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda _: box.json("retry", run)["run_id"], range(4)))
    assert len(set(again)) == 4
    for other in again:
        box.wait_state(other, "failed")
    assert box.show_run(run) == first


def dispatch_F3(box):
    """A backlog does not slow the scheduler: occurrences of another task start in time while hundreds of runs wait."""
    box.up(f"""
pools: {{p: {{slots: 1}}}}
tasks:
  backlog: {{exec: {box.beat(20000)}, pool: p}}
  clock: {{noop: {{}}, triggers: {{t: {{every: 1s, overlap: allow}}}}}}
""")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: box.start_run("backlog"), range(300)))
    since = now_ms()
    rows = wait_until(lambda: [row for row in box.runs("--task", "clock", "--state", "succeeded") if to_ms(row["nominal_at"]) > since][2:])
    late = [to_ms(row["started_at"]) - to_ms(row["nominal_at"]) for row in rows]
    assert max(late) < 500, late


def test_edit_within_a_second_of_due(box):
    """The timing is changed again and again around due instants: nothing runs twice, and each occurrence of what was in force is accounted for."""
    text = "tasks: {{a: {{noop: {{}}, triggers: {{t: {{every: {0}, overlap: {1}}}}}}}}}"
    box.up(text.format("2s", "allow"))
    box.wait_runs(1)
    for n in range(8):
        # at both sides of a due instant, and right on it
        edge = (900, 980, 0, 60)[n % 4]
        while not edge <= now_ms() % 1000 < edge + 40:
            time.sleep(0.002)
        box.file.write_text(text.format("1s" if n % 2 == 0 else "2s", "allow" if n < 4 else "{queue: 9}"))
        box.ok("apply", "-f", box.file)
    box.store.assert_g1()
    high = max(box.store.nominals("a/t"))
    wait_until(lambda: max(box.store.nominals("a/t")) >= high + 2000)
    box.store.assert_g1()
    settled = set(box.store.nominals("a/t"))
    for row in box.store.ledger("a/t"):
        settled |= set(range(row["from_at_ms"], row["to_at_ms"] + 1, 1000))
    expected = range(-(-min(settled) // 2000) * 2000, high + 1, 2000)
    assert not [at for at in expected if at not in settled], "an occurrence that both timings have is unaccounted for"


def test_a_trigger_edited_to_an_earlier_time_does_not_run_again(box):
    """An `every` that has fired for this instant is replaced by another with the same instant: it does not fire again."""
    box.up("tasks: {a: {noop: {}, triggers: {t: {every: 2s, overlap: allow}}}}")
    box.wait_runs(1)
    wait_until(lambda: now_ms() % 2000 > 1000)
    fired = box.store.nominals("a/t")
    box.file.write_text("tasks: {a: {noop: {}, triggers: {t: {every: 2s, overlap: skip}}}}")
    box.ok("apply", "-f", box.file)
    wait_until(lambda: len(box.store.nominals("a/t")) > len(fired))
    box.store.assert_g1()
    box.store.assert_g2("a/t", 2000)


def test_many_verbs_at_once(box):
    """Writers from several processes wait for each other: none is refused, nothing is lost."""
    box.up("tasks: {a: {noop: {}}}")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: box.start_run("a"), range(80)))
    assert len(set(runs)) == 80
    rows = box.wait_runs(80)
    assert {row["run_id"] for row in rows} == set(runs)


def test_jitter_moves_the_start_only(box):
    box.up("tasks: {a: {noop: {}, triggers: {t: {every: 1s, jitter: 800ms, overlap: allow}}}}")
    rows = box.wait_runs(6, deadline_s=20)
    moved = [to_ms(row["started_at"]) - to_ms(row["nominal_at"]) for row in rows]
    assert all(to_ms(row["nominal_at"]) % 1000 == 0 for row in rows)
    assert all(0 <= ms < 1800 for ms in moved) and len({ms // 50 for ms in moved}) > 1, moved
    box.store.assert_g2("a/t", 1000)


def test_window(box):
    start = (now_ms() // 1000 + 3) * 1000
    from harness import to_text
    box.up(f"tasks: {{a: {{noop: {{}}, triggers: {{t: {{every: 1s, overlap: allow, from: '{to_text(start)}', until: '{to_text(start + 3000)}'}}}}}}}}")
    wait_until(lambda: now_ms() > start + 4000)
    assert box.store.nominals("a/t") == [start, start + 1000, start + 2000]
    assert "exhausted" in box.ok("list").out


def test_once(box):
    from harness import to_text
    at = (now_ms() // 1000 + 2) * 1000
    box.up(f"tasks: {{a: {{noop: {{}}, triggers: {{t: {{at: '{to_text(at)}'}}}}}}}}")
    rows = box.wait_runs(1)
    assert to_ms(rows[0]["nominal_at"]) == at
    assert "exhausted" in box.ok("list").out
    box.processes[0].stop()
    box.up()
    assert len(box.runs()) == 1
