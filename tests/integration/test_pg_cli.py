# SPDX-License-Identifier: Apache-2.0
"""What whoever keeps the database does with pawl: the schema, roles, replicas, status and doctor, on a real server."""
import concurrent.futures
import hashlib
import json

import pytest

from harness import ROOT, wait_until
from sqltools import Database

SCRIPTS = sorted((ROOT / "sql/postgres/migrations").glob("*.sql"))
NEXT = len(SCRIPTS) + 1


class Pg:
    """An empty database of a plain owner, and pawl on it."""

    def __init__(self, server, box):
        self.database, self.box = Database(server), box
        self.folder = server.removeprefix("host=")
        self.url = self.url_of("owner")
        box.env["PAWL_DATABASE_URL"] = self.url

    def url_of(self, user):
        return f"postgresql://{user}@/sql?host={self.folder}"

    def owner(self, sql, *values):
        with self.database.connect() as owner:
            done = owner.execute(sql, values)
            return done.fetchall() if done.description else []

    def root(self, sql, *values):
        with self.database.connect("postgres") as root:
            done = root.execute(sql, values)
            return done.fetchall() if done.description else []

    def as_role(self, role):
        return {"PAWL_DATABASE_URL": self.url_of(role)}

    def up(self, *args):
        return self.box.spawn("--listen", "none", *args).wait_ready()


@pytest.fixture
def pg(server, box):
    return Pg(server, box)


@pytest.fixture
def ready_pg(pg):
    pg.box.ok("db", "migrate")
    return pg


# ---- the schema ----
def test_ten_migrate_at_once_and_one_does(pg):
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        done = list(pool.map(lambda _: pg.box.json("db", "migrate"), range(10)))
    assert sorted(row["ran"] for row in done) == [0] * 9 + [len(SCRIPTS)]
    assert [number for number, in pg.owner("SELECT number FROM pawl.migrations ORDER BY 1")] == list(range(1, NEXT))
    assert pg.box.json("db", "migrate") == {"ran": 0}


def test_status_and_plan_before_and_after(pg):
    done = pg.box.cli("db", "status")
    assert done.code == 1 and "`pawl db migrate` brings it up to date" in done.out
    assert [row["state"] for row in json.loads(pg.box.cli("db", "status", "--json").out)["scripts"]] == ["pending"] * len(SCRIPTS)
    assert [row["name"] for row in pg.box.json("db", "plan")] == [path.stem[5:] for path in SCRIPTS]
    assert pg.box.ok("db", "plan", "--sql").out == "".join(path.read_text() for path in SCRIPTS)
    assert not pg.root("SELECT 1 FROM pg_namespace WHERE nspname = 'pawl'"), "to look changes nothing"
    pg.box.ok("db", "migrate")
    assert pg.box.json("db", "status")["usable"] is True
    assert pg.box.json("db", "plan") == []
    assert pg.box.ok("db", "plan", "--sql").out == ""


def test_drift_is_named_and_nothing_runs(ready_pg):
    ready_pg.owner("UPDATE pawl.migrations SET digest = repeat('0', 64) WHERE number = 2")
    done = ready_pg.box.cli("db", "status")
    mine = hashlib.sha256(SCRIPTS[1].read_bytes()).hexdigest()
    assert done.code == 78
    assert "0002_roles" in done.out and "000000000000" in done.out and mine[:12] in done.out
    for verb in ("migrate", "plan"):
        assert "status" in ready_pg.box.refused("db", verb, code=78)
    assert "0002_roles" in ready_pg.box.refused("db", "migrate", code=78)


# ---- old and new programs side by side ----
def tomorrow(pg, serves):
    """What `pawl db migrate` of the next release does: a column more."""
    with pg.database.connect() as owner, owner.transaction():
        owner.execute("ALTER TABLE pawl.tasks ADD COLUMN note text")
        owner.execute("INSERT INTO pawl.migrations (number, name, digest, applied_at_ms) VALUES (%s, 'note', repeat('a', 64), pawl.now_ms())",
                      [NEXT])
        if serves:
            owner.execute("INSERT INTO pawl.meta (key, value) VALUES (%s, %s)", [f"schema.{NEXT}.serves", str(serves)])


def test_an_additive_newer_script_stops_nobody(ready_pg):
    box = ready_pg.box
    running = ready_pg.up("--replica", "old")
    box.write("t.yaml", "tasks: {a: {shell: 'true'}}")
    box.ok("apply", "-f", "t.yaml")
    tomorrow(ready_pg, NEXT - 1)
    assert box.json("run", "a", "--wait")["state"] == "succeeded"
    another = ready_pg.up("--replica", "old-too")  # and one that starts after the migration
    assert box.json("run", "a", "--wait")["state"] == "succeeded"
    box.ok("apply", "-f", "t.yaml")
    status = box.json("db", "status")
    assert status["usable"] and status["scripts"][-1]["state"] == "newer"
    assert box.json("db", "migrate") == {"ran": 0}
    for pawl in (running, another):
        assert pawl.stop() == 0


def test_a_newer_script_that_does_not_serve_us_is_refused(ready_pg):
    box = ready_pg.box
    tomorrow(ready_pg, None)
    done = box.cli("db", "status")
    assert done.code == 78 and "newer pawl" in done.out and f"{NEXT:04}_note" in done.out
    assert "newer pawl" in box.refused("db", "migrate", code=78)
    assert f"has schema {NEXT} and this pawl knows schemas up to {NEXT - 1}" in box.refused("list", code=69)
    pawl = box.spawn("--listen", "none")
    wait_until(lambda: "knows schemas up to" in pawl.log, what="pawl up says that the schema is newer")
    assert pawl.alive() and not pawl.events("ready")
    # ... and when the newer release says later that it serves us, it goes on by itself
    ready_pg.owner("INSERT INTO pawl.meta (key, value) VALUES (%s, %s)", f"schema.{NEXT}.serves", str(NEXT - 1))
    pawl.wait_ready()


# ---- roles ----
KINDS = ["admin", "runtime", "ingress", "viewer", "enqueue"]


def test_kinds_are_listed(pg):
    assert [row["kind"] for row in pg.box.json("db", "grant")] == KINDS
    assert "no kind of role" in pg.box.refused("db", "grant", "boss", "x", code=2)


@pytest.mark.parametrize("kind", KINDS)
def test_grant_gives_exactly_the_kind(ready_pg, kind):
    box = ready_pg.box
    ready_pg.root(f"CREATE ROLE r_{kind} LOGIN")
    done = box.cli("db", "grant", kind, f"r_{kind}", "--check", "--json")
    assert done.code == 1 and {row["difference"] for row in json.loads(done.out)["differs"]} >= {"missing"}
    granted = box.json("db", "grant", kind, f"r_{kind}")
    assert granted["changed"] and granted["differs"] == []
    box.ok("db", "grant", kind, f"r_{kind}", "--check")
    ready_pg.owner(f"GRANT DELETE ON pawl.tasks TO r_{kind}")
    done = box.cli("db", "grant", kind, f"r_{kind}", "--check")
    assert done.code == 1 and "too much" in done.out and "DELETE" in done.out and "pawl.tasks" in done.out
    assert box.json("db", "grant", kind, f"r_{kind}")["changed"] == [
        {"object": "TABLE pawl.tasks", "privilege": "DELETE", "difference": "extra"}]


def test_a_role_that_is_missing_is_made_or_told(ready_pg):
    box = ready_pg.box
    for more in ([], ["--create"]):  # a plain owner may not make roles
        done = box.cli("db", "grant", "viewer", "gra\"fa'na", *more)
        assert done.code == 77 and not ready_pg.root("SELECT 1 FROM pg_roles WHERE rolname = 'gra\"fa''na'")
    for line in done.out.splitlines():  # whoever may runs what was printed
        ready_pg.root(line)
    box.ok("db", "grant", "viewer", "gra\"fa'na", "--check")
    box.ok("db", "grant", "enqueue", "made", "--create", env=ready_pg.as_role("postgres"))
    assert ready_pg.root("SELECT rolcanlogin FROM pg_roles WHERE rolname = 'made'") == [(False,)]


def test_only_the_owner_grants(ready_pg):
    ready_pg.root("CREATE ROLE reads LOGIN")
    ready_pg.root("CREATE ROLE other LOGIN")
    ready_pg.box.ok("db", "grant", "viewer", "reads")
    done = ready_pg.box.cli("db", "grant", "viewer", "other", env=ready_pg.as_role("reads"))
    assert done.code == 77, done.err
    assert done.out == "SELECT * FROM pawl.grant_role('viewer', 'other');\n", "for somebody who may"


# ---- replicas and status ----
def test_replicas_and_status_tell_who_lives(ready_pg):
    box = ready_pg.box
    assert box.json("replicas") == [] and box.json("status")["running"] is False
    one, two = ready_pg.up("--replica", "one"), ready_pg.up("--replica", "two")
    wait_until(lambda: {row["state"] for row in box.json("replicas")} == {"ready"}, what="both ready")
    rows = box.json("replicas")
    assert [(row["name"], row["pid"]) for row in rows] == [("one", one.pid), ("two", two.pid)]
    status = box.json("status")
    assert status["running"] and status["replicas"] == [{"name": "one", "state": "ready"}, {"name": "two", "state": "ready"}]
    assert "running, 2 replicas: one, two" in box.ok("status").out
    two.kill()
    ready_pg.owner("UPDATE pawl.replicas SET heartbeat_at_ms = pawl.now_ms() - 31000 WHERE name = 'two'")
    assert {row["name"]: row["state"] for row in box.json("replicas")} == {"one": "ready", "two": "silent"}
    assert "silent" in box.ok("replicas").out and "running, 1 replica: one" in box.ok("status").out
    assert one.stop() == 0
    assert {row["name"]: row["state"] for row in box.json("replicas")} == {"one": "ended", "two": "silent"}
    assert "not running" in box.ok("status").out


def test_a_store_of_its_own_has_no_replicas_and_no_roles(box):
    box.up("tasks: {a: {shell: 'true'}}")
    assert box.json("replicas") == []
    assert "belongs to one pawl alone" in box.ok("replicas").err
    assert box.json("db", "status")["usable"] is True
    assert "has no roles" in box.refused("db", "grant", "viewer", "x", code=78)


def test_no_password_is_shown_before_there_is_a_schema(pg):
    done = pg.box.cli("status", env={"PAWL_DATABASE_URL": f"postgresql://owner:s3cret@/sql?host={pg.folder}"})
    assert done.code == 69 and "no pawl schema" in done.err and "s3cret" not in done.out + done.err


def test_no_password_is_shown(ready_pg):
    env = {"PAWL_DATABASE_URL": f"postgresql://owner:s3cret@/sql?host={ready_pg.folder}"}
    for verb in (["status"], ["db", "status"], ["db", "plan"], ["doctor"], ["replicas"]):
        done = ready_pg.box.cli(*verb, "--json", env=env)
        assert "s3cret" not in done.out + done.err, verb


# ---- doctor ----
def checks(done):
    return {row["name"]: row for row in json.loads(done.out)["checks"]}


@pytest.fixture
def sound_pg(ready_pg):
    """The tests' servers run with fsync off; what doctor says of it is one test's business."""
    ready_pg.owner("SELECT pawl.ensure_partitions()")
    return ready_pg


def test_doctor_speaks_of_the_server(sound_pg):
    box = sound_pg.box
    found = checks(box.cli("doctor", "--json"))
    assert [name for name, row in found.items() if not row["ok"]] == ["durability"], found  # that server has fsync off
    assert found["durability"]["text"] == "fsync off, full_page_writes on"
    assert found["failover"]["text"].startswith("no standby") and found["pooler"]["text"] == "none seen"
    assert "journal" not in found and "integrity" not in found, "those are SQLite's"
    assert {"schema", "vacuum", "held", "connections", "ranges", "replicas", "one-run", "accounted", "node clock"} <= set(found)
    sound_pg.root("ALTER DATABASE sql CONNECTION LIMIT 3")
    assert not checks(box.cli("doctor", "--json"))["connections"]["ok"]


def test_doctor_on_a_sick_server(sound_pg):
    box = sound_pg.box
    sound_pg.owner("ALTER TABLE pawl.ready SET (autovacuum_enabled = off)")
    sound_pg.owner("INSERT INTO pawl.replicas (id, name, version, host, pid, state, started_at_ms, heartbeat_at_ms)"
                   " VALUES (gen_random_uuid(), 'gone', '0', 'far', 1, 'ready', 1, pawl.now_ms() - 60000)")
    with sound_pg.database.connect() as idle:
        idle.execute("BEGIN")
        idle.execute("SELECT count(*) FROM pawl.tasks")
        wait_until(lambda: not checks(box.cli("doctor", "--json"))["held"]["ok"], 45, what="an old idle transaction is named")
        done = box.cli("doctor", "--json")
        found = checks(done)
    assert done.code == 1
    assert "is idle in a transaction" in found["held"]["text"]
    assert "ready" in found["vacuum"]["text"] and not found["vacuum"]["ok"]
    assert "gone on far" in found["replicas"]["text"] and not found["replicas"]["ok"]
    assert checks(box.cli("doctor", "--json"))["held"]["ok"]


def test_doctor_compares_roles(sound_pg):
    box = sound_pg.box
    sound_pg.root("CREATE ROLE reads LOGIN")
    assert not checks(box.cli("doctor", "--role", "viewer=reads", "--json"))["role"]["ok"]
    box.ok("db", "grant", "viewer", "reads")
    assert checks(box.cli("doctor", "--role", "viewer=reads", "--json"))["role"]["ok"]
    assert checks(box.cli("doctor", "--json", env=sound_pg.as_role("reads")))["schema"]["ok"], "a viewer may look"
    assert "KIND=ROLE" in box.refused("doctor", "--role", "viewer", code=2)
