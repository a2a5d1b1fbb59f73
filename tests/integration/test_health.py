# SPDX-License-Identifier: Apache-2.0
"""What the health door says, in each phase of a process's life; the numbers; systemd's watchdog."""
import contextlib
import json
import re
import socket
import sqlite3
import time

import pytest

from harness import PATIENCE, ROOT, holds_for, wait_until
from http_door import Metrics, address_of, ask, problem, ready

BUSY = "tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}}"
DOOR = ("--listen", "127.0.0.1:0")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.smoke
def test_ready_when_it_works(box):
    door = address_of(box.up(BUSY, *DOOR))
    status, checks, _ = wait_until(lambda: (found := ready(door))[0] == 200 and found)
    assert list(checks) == ["phase", "store", "clock", "engine", "worker"]
    assert all(check["text"] for check in checks.values())
    assert json.loads(ask(door, "/readyz").body) == {"ready": True}


def test_the_door_opens_first(box, has_faults):
    """Before the store: alive, and not ready because it starts."""
    port = free_port()
    box.file.write_text(BUSY)
    box.spawn("-f", box.file, "--listen", f"127.0.0.1:{port}", fault="up.before_store:1:sleep=2500")
    door = f"127.0.0.1:{port}"

    def asked():
        with contextlib.suppress(ConnectionRefusedError):
            return ready(door)
    status, checks, detail = wait_until(asked)
    assert status == 503 and detail.startswith("phase: starting"), detail
    assert not checks["store"]["ok"] and not box.store_path.exists()
    assert ask(door, "/livez").status == 200
    assert ask(door, "/metrics").status == 200
    wait_until(lambda: ready(door)[0] == 200)


def test_a_drain_is_said(box):
    pawl = box.up("tasks: {a: {shell: 'sleep 3'}}", *DOOR)
    door = address_of(pawl)
    wait_until(lambda: ready(door)[0] == 200)
    box.wait_state(box.start_run("a"), "running")
    pawl.signal(15)
    status, checks, detail = wait_until(lambda: (found := ready(door))[0] == 503 and found)
    assert "draining" in detail and not checks["phase"]["ok"]
    assert ask(door, "/livez").status == 200
    assert "pawl_running" in ask(door, "/metrics").body.decode()
    assert pawl.wait() == 0
    with pytest.raises(ConnectionRefusedError):
        ask(door, "/livez")


def test_a_store_that_fails_is_said_and_heals(box):
    """The check repeats why the last look failed; who is alive stays alive; the numbers are still given."""
    pawl = box.up(BUSY, *DOOR)
    door = address_of(pawl)
    wait_until(lambda: ready(door)[0] == 200)
    lock = sqlite3.connect(box.store_path, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    status, checks, detail = wait_until(lambda: (found := ready(door))[0] == 503 and found, 30)
    assert not checks["store"]["ok"] and "store:" in detail
    answer = ask(door, "/readyz")
    assert answer.status == 503 and "store:" in problem(answer)["detail"] and "checks" not in problem(answer)
    assert ask(door, "/livez").status == 200
    metrics = Metrics(door)
    assert sum(metrics.families["pawl_database_errors_total"][1].values()) >= 1
    lock.execute("ROLLBACK")
    lock.close()
    wait_until(lambda: ready(door)[0] == 200, 30)


@pytest.mark.parametrize("fault, thread, stuck, well", [
    ("schedule.after_claim:3:sleep=4000", "engine", "engine", "worker"), ("start.before_go:2:sleep=4000", "link", "worker", "engine")])
def test_a_stuck_thread_is_not_alive(box, has_faults, fault, thread, stuck, well):
    pawl = box.spawn("-f", box.write("pawl.yaml", BUSY.replace("noop: {}", "shell: 'true'")), *DOOR, fault=fault,
                     env={"PAWL_FAULT_PATIENCE": str(int(500 * PATIENCE))})
    pawl.wait_ready()
    door = address_of(pawl)
    answer = wait_until(lambda: (found := ask(door, "/livez")).status == 503 and found)
    assert f"the {thread} is stuck" in problem(answer)["detail"]
    status, checks, _ = ready(door)
    assert status == 503 and not checks[stuck]["ok"] and checks[well]["ok"]
    wait_until(lambda: ask(door, "/livez").status == 200)


# ---- numbers ----

SERIES = {
    "replica_info", "admission_delay_seconds", "start_delay_seconds", "admissions_total", "raced_total", "already_run_total", "quarantines_total",
    "ledger_total", "quarantined", "claims_held", "claim_oldest_age_seconds", "backlog", "parked", "running", "oldest_due_age_seconds",
    "runs_ended_total", "leases_renewed_total", "leases_lost_total", "worker_slots", "worker_slots_free", "database_errors_total",
    "database_reconnects_total", "drift_found_total", "clock_state", "clock_distance_seconds", "measured_age_seconds",
    "process_start_time_seconds", "process_resident_memory_bytes"}


@pytest.mark.smoke
def test_every_series_is_there_and_explained(box):
    door = address_of(box.up(BUSY, *DOOR, "--name", 'a "b" \\ c'))
    metrics = Metrics(door)
    assert {name.removeprefix("pawl_") for name in metrics.families} == SERIES
    assert metrics.value("replica_info", next(iter(metrics.families["pawl_replica_info"][1]))) == 1
    assert 'name="a \\"b\\" \\\\ c"' in next(iter(metrics.families["pawl_replica_info"][1]))
    assert abs(metrics.value("process_start_time_seconds") - time.time()) < 60
    assert 2**20 < metrics.value("process_resident_memory_bytes") < 2**30
    page = (ROOT / "docs/guide/health.md").read_text()
    for name in metrics.families:
        assert f"`{name}`" in page, name


def test_numbers_are_right(box):
    """A known workload, and what it must come to."""
    pawl = box.up("""tasks:
  often: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}
  fails: {shell: 'exit 3'}
  long: {shell: 'sleep 60', max_active: 1}
""", *DOOR, "--slots", "5")
    door = address_of(pawl)
    box.wait_state(box.start_run("fails"), "failed")
    box.wait_state(box.start_run("long"), "running")
    waiting = box.start_run("long")
    box.wait_runs(3, "--task", "often")
    box.ok("pause", "often")
    wait_until(lambda: not [row for row in box.runs("--task", "often") if row["state"] not in ("succeeded",)])
    n = len(box.runs("--task", "often"))
    metrics = wait_until(lambda: (m := Metrics(door)).value("runs_ended_total", 'state="succeeded"') == n and m.value("parked", 'reason="limit"') == 1 and m)
    assert metrics.value("admissions_total") == n
    assert metrics.count("admission_delay_seconds") == metrics.count("start_delay_seconds") == n
    assert 0 <= metrics.sum("admission_delay_seconds") < n * 5 * PATIENCE
    assert metrics.sum("admission_delay_seconds") <= metrics.sum("start_delay_seconds") + 0.001 * n
    assert metrics.value("runs_ended_total", 'state="failed"') == 1
    assert metrics.value("running") == 1 and metrics.value("backlog") == 0
    assert metrics.value("worker_slots") == 5 and metrics.value("worker_slots_free") == 4
    assert metrics.value("measured_age_seconds") < 5
    assert metrics.value("drift_found_total") == metrics.value("raced_total") == metrics.value("quarantined") == 0
    box.ok("cancel", waiting)
    wait_until(lambda: Metrics(door).value("parked", 'reason="limit"') == 0)


def test_gauges_are_fresh(box):
    """The store is asked when the numbers are, and the answer is not an earlier one."""
    door = address_of(box.up("tasks: {a: {shell: 'true'}}", *DOOR, "--slots", "0"))
    for n in range(1, 4):
        box.start_run("a")
        time.sleep(1.1)
        assert Metrics(door).value("backlog") == n


def test_occurrences_that_did_not_run_are_counted(box):
    """Down for some seconds: fire_once coalesces, and the delay of what is made up is seen."""
    yaml = "tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: allow, misfire: fire_once, misfire_grace: 1ms}}}}"
    pawl = box.up(yaml)
    box.wait_runs(1)
    pawl.stop()
    time.sleep(4.5)
    pawl = box.up(None, *DOOR)
    door = address_of(pawl)
    wait_until(lambda: Metrics(door).value("admissions_total") >= 2)
    box.ok("pause", "a")
    time.sleep(1.2)
    metrics = Metrics(door)
    coalesced = sum(row["count"] for row in box.store.ledger("a/t", "coalesced"))
    assert coalesced >= 2 and metrics.value("ledger_total", 'outcome="coalesced"') == coalesced


def test_a_renewed_lease_is_counted(box):
    door = address_of(box.up("tasks: {a: {shell: 'sleep 3'}}", *DOOR, "--lease", "3s"))
    box.wait_state(box.start_run("a"), "succeeded")
    metrics = Metrics(door)
    assert metrics.value("leases_renewed_total") >= 2 and metrics.value("leases_lost_total") == 0


# ---- systemd ----

class Notified:
    """What is sent to NOTIFY_SOCKET, with the instants."""

    def __init__(self, folder):
        self.path = str(folder / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.setblocking(False)
        self.seen = []

    def take(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                self.seen.append((time.monotonic(), self.socket.recv(200).decode()))
        return [text for _, text in self.seen]

    def newest_s(self):
        """How long ago the last sign of life was."""
        self.take()
        return time.monotonic() - max(at for at, text in self.seen if text == "WATCHDOG=1")


def test_the_watchdog_hears_nothing_of_a_stuck_engine(box, has_faults):
    notified = Notified(box.dir)
    pawl = box.spawn("-f", box.write("pawl.yaml", BUSY), fault="schedule.after_claim:4:sleep=5000",
                     env={"NOTIFY_SOCKET": notified.path, "WATCHDOG_USEC": "400000", "PAWL_FAULT_PATIENCE": str(int(500 * PATIENCE))})
    wait_until(lambda: notified.take().count("WATCHDOG=1") >= 3)
    wait_until(lambda: notified.take() and pawl.events("watchdog"))
    assert "the engine is stuck" in pawl.events("watchdog")[0]["message"]
    holds_for(lambda: notified.newest_s() > 0.1, 1.5, "silence")
    wait_until(lambda: notified.newest_s() < 0.3, what="signs of life once it goes on")
    assert len(pawl.events("watchdog")) == 1


def test_the_unit_has_a_watchdog():
    unit = (ROOT / "packaging/pawl.service").read_text()
    assert re.search(r"^WatchdogSec=\d+$", unit, re.MULTILINE) and "Type=notify" in unit


def test_a_busy_door_leaves_work_on_time(box):
    """Asked all the time, it delays no start."""
    door = address_of(box.up(BUSY, *DOOR))
    end = time.monotonic() + 4
    while time.monotonic() < end:
        ask(door, "/metrics")
        ask(door, "/readyz?verbose")
    metrics = Metrics(door)
    assert metrics.count("start_delay_seconds") >= 3
    assert metrics.sum("start_delay_seconds") / metrics.count("start_delay_seconds") < 0.25 * PATIENCE
