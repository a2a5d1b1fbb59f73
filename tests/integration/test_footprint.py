# SPDX-License-Identifier: Apache-2.0
"""What pawl takes when it does little."""
import time

from harness import SANITIZED, wait_until

import pytest

IDLE = "tasks: {a: {noop: {}, triggers: {t: {cron: '0 4 1 1 *'}}}}"


def test_only_what_is_used_is_mapped(box):
    """A single node on SQLite loads neither a PostgreSQL client nor HTTP nor TLS."""
    pawl = box.up("tasks: {a: {shell: 'true'}}")
    box.wait_state(box.start_run("a"), "succeeded")
    maps = pawl.maps()
    for library in ("libpq", "libcurl", "libevent", "libssl", "libcrypto"):
        assert library not in maps


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's runtime has wake-ups and memory of its own")
def test_idle_is_idle(box):
    """Nothing is due: it sleeps. Counted over several seconds after the start has settled."""
    pawl = box.up(IDLE)
    wait_until(lambda: settled(pawl), 30)
    switches, cpu, since = pawl.switches(), pawl.cpu_s(), time.monotonic()
    while time.monotonic() < since + 6:
        time.sleep(0.5)
    assert pawl.switches() - switches <= 6, "wake-ups in six seconds"
    assert pawl.cpu_s() - cpu <= 0.03


def settled(pawl):
    before = pawl.switches()
    time.sleep(1)
    return pawl.switches() - before <= 1


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's runtime has memory of its own")
def test_memory_of_a_thousand_triggers(box):
    lines = ["tasks:"] + [f"  t{i}: {{noop: {{}}, triggers: {{d: {{cron: '{i % 60} {i % 24} * * *'}}}}}}" for i in range(1000)]
    pawl = box.up("\n".join(lines))
    wait_until(lambda: settled(pawl), 30)
    assert pawl.rss_kib() <= 12 * 1024, f"{pawl.rss_kib()} KiB"


def test_wakes_exactly_when_due(box):
    """Between due instants it sleeps, also when the next one is far away and a nearer one is published."""
    pawl = box.up(IDLE)
    wait_until(lambda: settled(pawl) or SANITIZED, 30)
    box.file.write_text(IDLE[:-1] + ", b: {noop: {}, triggers: {t: {every: 1s}}}}")
    box.ok("apply", "-f", box.file)
    box.wait_runs(2, "--task", "b", deadline_s=6)
