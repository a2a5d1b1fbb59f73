# SPDX-License-Identifier: Apache-2.0
"""The health door on PostgreSQL: a server that is away, gone, and back."""
import contextlib
import socket

import pytest

from harness import wait_until
from http_door import Metrics, address_of, ask, ready
from sqltools import Database

BUSY = "tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}}"


@pytest.fixture
def shared(box, server):
    """A box whose store is an empty database."""
    made = Database(server)
    box.env["PAWL_DATABASE_URL"] = f"postgresql://owner@/sql?host={server.partition('=')[2]}"
    return made


def up(box, *args):
    return box.spawn(*args).wait_ready()


def test_a_server_that_goes_and_comes(box, shared):
    """Not ready while it is away, alive all the time, and ready by itself when it is back; breaks and errors are counted."""
    door = address_of(up(box, "--listen", "127.0.0.1:0"))
    box.file.write_text(BUSY)
    box.ok("apply", "-f", box.file)
    wait_until(lambda: ready(door)[0] == 200 and Metrics(door).value("runs_ended_total", 'state="succeeded"') >= 2)
    metrics = Metrics(door)
    assert metrics.count("start_delay_seconds") <= metrics.value("admissions_total")
    assert metrics.value("database_reconnects_total") == 0 and abs(metrics.value("clock_distance_seconds")) < 1
    with shared.connect("postgres", "postgres") as admin:
        admin.execute("ALTER DATABASE sql WITH ALLOW_CONNECTIONS false")
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'sql'")
        status, checks, detail = wait_until(lambda: (found := ready(door))[0] == 503 and found)
        assert not checks["store"]["ok"] and checks["engine"]["ok"] and checks["worker"]["ok"] and "store:" in detail
        assert ask(door, "/livez").status == 200
        metrics = Metrics(door)
        assert metrics.value("database_errors_total", 'class="unavailable"') >= 1
        admin.execute("ALTER DATABASE sql WITH ALLOW_CONNECTIONS true")
    wait_until(lambda: ready(door)[0] == 200)
    wait_until(lambda: Metrics(door).value("database_reconnects_total") >= 1)
    n = Metrics(door).value("admissions_total")
    wait_until(lambda: Metrics(door).value("admissions_total") > n)


def test_a_start_that_waits_is_seen(box):
    """There is no server yet: alive, not ready, and the reason is given."""
    box.env["PAWL_DATABASE_URL"] = f"postgresql://owner@/sql?host={box.dir}"
    with socket.create_server(("127.0.0.1", 0)) as server:
        door = f"127.0.0.1:{server.getsockname()[1]}"
    pawl = box.spawn("--listen", door)

    def waits():
        with contextlib.suppress(ConnectionRefusedError):
            found = ready(door)
            return "waiting for the store" in found[1]["phase"]["text"] and found
    status, checks, detail = wait_until(waits)
    assert status == 503 and str(box.dir) in detail and not checks["store"]["ok"]
    assert ask(door, "/livez").status == 200 and ask(door, "/metrics").status == 200
    assert pawl.stop() in (0, 69)


def test_a_default_port_that_is_taken_keeps_nobody_from_running(box, shared):
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # somebody else has it: as good
            stack.enter_context(socket.create_server(("127.0.0.1", 7295)))
        pawl = up(box)
        assert "127.0.0.1:7295 is taken" in pawl.wait_event("listen.failed")["reason"]
        assert not pawl.events("listen")
