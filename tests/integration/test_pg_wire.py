# SPDX-License-Identifier: Apache-2.0
"""The connection is cut at every message of claim and admission, both directions: in the end there is exactly one run, and nothing is lost.

PAWL_CUTS=all cuts at every message; otherwise at every seventh (the slow ways: every 23rd), beginning at a random one."""
import os
import random

import pytest

from harness import wait_until
from wire import Plan, Wire

pytest_plugins = "replicas"

CLAIM = b"SET claim_owner = $2"


@pytest.fixture
def cut(cluster):
    wire = Wire(cluster.db.server.port)
    cluster.url = cluster.db.url(port=wire.port)
    cluster.apply("tasks: {t: {noop: {}, triggers: {e: {every: 1h, misfire: fire_once, misfire_grace: 30s, overlap: allow}}}}")
    yield cluster, wire
    wire.close()


def occurrence(cluster, wire, plan):
    """Lets one occurrence fall due under a plan; waits until it is settled; its runs."""
    wire.plan = plan
    at = cluster.now() + 150
    cluster.db.script(f"UPDATE pawl.trigger_schedules SET next_fire_at_ms = {at}, due_at_ms = {at}, state_version = state_version + 1")
    settled = "SELECT count(*) FROM pawl.trigger_schedules WHERE last_scheduled_at_ms >= %s AND claim_token IS NULL"
    wait_until(lambda: cluster.one(settled, at) == 1, 25, lambda: f"{at} is settled, cut at {plan.at} {plan.how}, {plan.seen[-3:]}:\n"
               f"{cluster.db.rows('SELECT * FROM pawl.trigger_schedules')}\n{cluster.db.rows('SELECT pid, state, wait_event, query FROM pg_stat_activity WHERE datname = current_database()')}"
               f"\n{cluster.log('r0')[-1500:]}")
    return cluster.db.rows("SELECT id, nominal_at_ms FROM pawl.runs WHERE nominal_at_ms = %s", at)


@pytest.mark.parametrize("how", ["after", "before", "silent", "late", "ghost"])
def test_cut_at_each_message(cut, how):
    cluster, wire = cut
    cluster.up("r0", "--slots", "0", "--claim-lease", "2s")
    clean = Plan(CLAIM)
    assert len(occurrence(cluster, wire, clean)) == 1
    wait_until(lambda: clean.seen.count("BZ") >= 2, what="the exchange")
    length = len(clean.seen)
    assert length > 40, clean.seen
    steps = range(length) if os.environ.get("PAWL_CUTS") == "all" else range(random.randrange(7), length, 7 if how in ("after", "before", "ghost") else 23)
    for at in steps:
        if how in ("late", "ghost") and clean.seen[at][0] == "B":
            continue
        runs = occurrence(cluster, wire, Plan(CLAIM, at, how))
        assert len(runs) == 1, f"cut {how} message {at} ({clean.seen[at]}): {runs}"
    wire.plan = None
    assert cluster.processes["r0"].poll() is None
    assert not cluster.one("SELECT count(*) FROM pawl.ledger"), "what was claimed in time is on time"
    cluster.stop()
    cluster.assert_sound_once()


@pytest.mark.parametrize("how", ["after", "ghost"])
def test_what_was_claimed_is_given_back(cut, how):
    """A connection that is lost in the middle of an admission leaves a claim; nobody waits for its end."""
    cluster, wire = cut
    cluster.up("r0", "--slots", "0", "--claim-lease", "60s")
    clean = Plan(CLAIM)
    occurrence(cluster, wire, clean)
    claimed = clean.seen.index("BZ")
    assert len(occurrence(cluster, wire, Plan(CLAIM, clean.seen.index("FE", claimed), how))) == 1
    cluster.stop()
