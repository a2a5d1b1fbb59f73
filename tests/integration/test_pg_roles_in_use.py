# SPDX-License-Identifier: Apache-2.0
"""G10 in use: the program as a role that has been granted one kind and nothing else. What a kind is for works, all else is denied, and the
server's log has no line about it but for what was denied."""
import pathlib
import re

import psycopg
import pytest

import harness
from sqltools import Database

KINDS = ["admin", "runtime", "viewer", "enqueue"]
BUNDLE = """
pools: {builds: {slots: 1}, other: {slots: 2}}
tasks:
  quick: {exec: ["true"]}
  slow: {exec: [sleep, "60"], max_active: 1, pool: builds}
  serial:
    exec: [sleep, "60"]
    pool: other
    triggers: {often: {every: 1s, overlap: {queue: 2}}}
  ticks:
    exec: ["true"]
    triggers: {tick: {every: 1s, overlap: allow}}
  gone: {exec: [sleep, "60"], max_active: 1}
"""


class Site:
    """One installation: the owner's schema, and the command line as any role."""

    def __init__(self, box, server):
        self.box = box
        self.folder = server.removeprefix("host=")
        self.database = Database(server)
        self.log = pathlib.Path(self.folder) / "log"
        self.mark = self.log.stat().st_size
        box.file.write_text("tasks: {}\n")
        box.ok("apply", "-f", box.file, env=self.role("owner"))  # makes the schema
        with self.database.connect("postgres") as admin, self.database.connect() as owner:
            for kind in KINDS:
                admin.execute(f"CREATE ROLE p_{kind} LOGIN")
                assert owner.execute("SELECT * FROM pawl.grant_role(%s, %s)", (kind, f"p_{kind}")).fetchall() == []

    def role(self, name):
        return {"PAWL_DATABASE_URL": f"postgresql:///sql?host={self.folder}&user={name}"}

    def ok(self, kind, *args):
        return self.box.ok(*args, env=self.role(f"p_{kind}"))

    def denied(self, kind, *args):
        said = self.box.refused(*args, env=self.role(f"p_{kind}"), code=77)
        assert "permission denied" in said or "denied" in said, said

    def one(self, sql, *values):
        with self.database.connect() as owner:
            return owner.execute(sql, values).fetchone()[0]

    def errors(self):
        """What the server had to say since the beginning."""
        text = self.log.read_bytes()[self.mark:].decode(errors="replace")
        return [line for line in text.splitlines() if re.search(r"\b(ERROR|FATAL|PANIC|WARNING):", line)]


@pytest.fixture
def site(box, server):
    return Site(box, server)


def waiting(site, task, table="ready"):
    return site.one(f"SELECT count(*) FROM pawl.{table} h JOIN pawl.tasks t ON t.id = h.task_id WHERE t.name = %s", task)


def test_each_verb_as_the_role_that_it_is_for(site):
    box = site.box
    box.file.write_text(BUNDLE)
    site.ok("admin", "apply", "-f", box.file)
    up = box.spawn(env=site.role("p_runtime")).wait_ready()

    # people who publish and edit, while a replica hands out
    slow = [site.ok("enqueue", "run", "slow").out.strip() for _ in range(3)]
    harness.wait_until(lambda: waiting(site, "slow", "leased") == 1 and waiting(site, "slow", "parked") + waiting(site, "slow") == 2)
    harness.wait_until(lambda: waiting(site, "serial", "leased") == 1 and waiting(site, "serial", "parked") >= 1)
    site.ok("admin", "pause", "slow", "--reason", "look", "--until", "1h")
    box.file.write_text(BUNDLE.replace("max_active: 1, pool: builds", "max_active: 2, pool: other"))
    site.ok("admin", "apply", "-f", box.file)  # to another pool and less limited: what waits goes along
    harness.wait_until(lambda: waiting(site, "slow", "parked") == 2)  # parked again: it is paused
    assert site.one("SELECT count(*) FROM pawl.parked k JOIN pawl.pools p ON p.id = k.pool_id WHERE p.name = 'builds'") == 0
    site.ok("admin", "resume", "slow")
    site.ok("admin", "pools", "resize", "other", "3")
    harness.wait_until(lambda: waiting(site, "slow", "leased") == 2)
    site.ok("admin", "delete", "serial/often", "--yes")
    assert site.one("SELECT serial FROM pawl.tasks WHERE name = 'serial'") is False
    site.ok("admin", "delete", "serial", "--yes")  # its runs are cancelled
    harness.wait_until(lambda: sum(waiting(site, "serial", table) for table in ("ready", "parked", "leased")) == 0)

    # occurrences that pass while a trigger is paused stand in the ledger, and a second pause makes that row longer
    for _ in range(2):
        site.ok("admin", "pause", "ticks/tick")
        cursor = site.one("SELECT s.next_fire_at_ms FROM pawl.trigger_schedules s JOIN pawl.triggers g ON g.id = s.trigger_id"
                          " WHERE g.name = 'tick'")
        harness.wait_until(lambda: site.one("SELECT pawl.now_ms()") > cursor + 100)
        site.ok("admin", "resume", "ticks/tick")
    assert site.one("SELECT count(*) FROM pawl.ledger WHERE outcome = 'paused'") >= 1

    # a pause that ends by itself, of a task and of a trigger, is ended by the replica
    site.ok("admin", "pause", "ticks", "--until", "1s")
    site.ok("admin", "pause", "quick", "--until", "1s")
    quick = site.ok("enqueue", "run", "quick").out.strip()
    harness.wait_until(lambda: site.one("SELECT count(*) FROM pawl.tasks WHERE paused_at_ms IS NOT NULL") == 0)
    site.ok("admin", "pause", "ticks/tick", "--until", "1s")
    harness.wait_until(lambda: site.one("SELECT count(*) FROM pawl.trigger_schedules WHERE paused_at_ms IS NOT NULL") == 0)

    # whoever may ask for runs
    harness.wait_until(lambda: site.one("SELECT count(*) FROM pawl.attempts WHERE run_id = %s AND last", quick) == 1)
    for kind in ("enqueue", "admin", "runtime"):
        again = site.ok(kind, "retry", quick).out.strip()
        site.ok(kind, "cancel", site.ok(kind, "run", "slow").out.strip())
        harness.wait_until(lambda: site.one("SELECT count(*) FROM pawl.attempts WHERE run_id = %s AND last", again) == 1)
    site.ok("admin", "cancel", "slow")
    harness.wait_until(lambda: site.one("SELECT count(*) FROM pawl.attempts WHERE run_id = ANY (%s::uuid[]) AND last", slow) == 3)

    # whoever reads
    for args in (["list"], ["pools"], ["show", "slow"], ["show", slow[0]], ["runs"], ["logs", slow[0]], ["explain", slow[0]],
                 ["explain", "ticks"], ["status"], ["next", "ticks"]):
        site.ok("viewer", *args)
    said = box.cli("doctor", env=site.role("p_viewer"))
    assert [line for line in said.out.splitlines() if line.startswith("BAD")][1:] == [], said  # the first: this server runs without fsync
    assert "accounted" in said.out and said.err == ""
    assert up.stop() == 0
    assert not [line for line in up.events() if line.get("event", "").endswith("failed")], up.log
    assert site.errors() == [], "\n".join(site.errors())


def test_what_a_role_is_not_for_is_denied(site):
    box = site.box
    box.file.write_text(BUNDLE)
    for kind in ("runtime", "viewer", "enqueue"):
        site.denied(kind, "apply", "-f", box.file)
    site.ok("admin", "apply", "-f", box.file)
    for kind in ("runtime", "viewer", "enqueue"):
        site.denied(kind, "pause", "quick")
        site.denied(kind, "delete", "quick", "--yes")
        site.denied(kind, "pools", "resize", "builds", "5")
    site.denied("viewer", "run", "quick")
    site.denied("enqueue", "list")


def test_the_acts_check_what_they_are_asked(site):
    """The owner's functions do their one thing only where it is due."""
    box = site.box
    box.file.write_text(BUNDLE)
    site.ok("admin", "apply", "-f", box.file)
    ids = {name: site.one("SELECT id FROM pawl.tasks WHERE name = %s", name) for name in ("quick", "slow")}
    site.ok("admin", "pause", "quick", "--until", "1h")
    with site.database.connect("p_runtime") as runtime, site.database.connect("p_admin") as admin:
        assert runtime.execute("SELECT pawl.end_pause(%s)", (ids["quick"],)).fetchone() == (False,)
        assert runtime.execute("SELECT pawl.unpause_runs(%s)", (ids["quick"],)).fetchone() == (0,)
        for conn, text in ((runtime, "move_runs(%(task)s, %(task)s)"), (admin, "end_pause(%(task)s)"), (admin, "sweep_cancels(1)"),
                           (admin, "end_waiting(%(task)s, 'x')"), (runtime, "end_waiting(%(task)s, 'x')")):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(f"SELECT pawl.{text}", {"task": ids["quick"]})
        with pytest.raises(psycopg.Error) as refused:  # no pool of that project
            admin.execute("SELECT pawl.move_runs(%s, %s)", (ids["quick"], ids["slow"]))
        assert refused.value.sqlstate == "PW404"
