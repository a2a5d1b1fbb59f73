# SPDX-License-Identifier: Apache-2.0
"""A pooler between, and a standby that takes over."""
import shutil
import signal
import subprocess

import pytest

import pg
from harness import holds_for, wait_until
from replicas import Cluster, every_second

pytest_plugins = "replicas"


class Pooler:
    """PgBouncer in transaction mode in front of a server, with few server connections."""

    def __init__(self, server, user, folder, size=6):
        self.port, self.folder = pg.free_port(), folder / "pooler"
        self.folder.mkdir()
        (self.folder / "users").write_text(f'"{user}" ""\n')
        (self.folder / "ini").write_text(f"""[databases]
* = host=127.0.0.1 port={server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
auth_type = trust
auth_file = {self.folder}/users
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 200
unix_socket_dir =
logfile = {self.folder}/log
ignore_startup_parameters = extra_float_digits
""")
        pg.give_away(self.folder)
        for path in self.folder.iterdir():
            pg.give_away(path)
        folder.chmod(0o755)
        for parent in folder.parents:
            if parent.owner() == "root" and str(parent).startswith("/tmp/"):
                parent.chmod(0o755)
        self.process = subprocess.Popen(pg.as_server_user([shutil.which("pgbouncer") or "/usr/sbin/pgbouncer", self.folder / "ini"]),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


def test_through_a_pooler(cluster, tmp_path):
    """Nothing that pawl relies on outlives a transaction: unnamed statements, settings of the transaction, no session locks."""
    pooler = Pooler(cluster.db.server, cluster.db.user, tmp_path)
    try:
        cluster.apply(every_second(40))
        cluster.url = cluster.db.url(port=pooler.port)
        since = cluster.db.server.log_mark()
        for i in range(3):
            cluster.up(f"r{i}", "--claim-lease", "2s", "--lease", "3s")
        wait_until(lambda: cluster.one("SELECT count(*) FROM pawl.attempts WHERE last") >= 300, 30, "runs through the pooler")
        cluster.kill("r0")
        done = cluster.cli("run", "t0", "--wait", env={"PAWL_DATABASE_URL": cluster.url})
        assert done.returncode == 0
        wait_until(lambda: cluster.one("SELECT max(pawl.now_ms() - due_at_ms) FROM pawl.trigger_schedules") < 1500, 30, "caught up")
        cluster.stop()
        cluster.assert_sound()
        lines = [m.group(0) for m in cluster.db.server.log_lines(since, db=cluster.db.name) if "ERROR" in m["text"]]
        assert not lines, lines[:10]
    finally:
        pooler.close()


@pytest.fixture(params=pg.MAJORS, ids=lambda major: f"pg{major}")
def primary(request):
    server = pg.Server(request.param, fsync="on").start()
    yield server
    server.close()


def make_standby(primary):
    """A physical streaming standby: the copy is made between pg_backup_start and pg_backup_stop, which needs no tool of the server's."""
    copy = primary.dir / "copy"
    with primary.connect() as conn:
        conn.execute("SELECT pg_backup_start('standby', true)")
        subprocess.run(["cp", "-a", primary.data, copy], check=True)
        label, spaces = conn.execute("SELECT labelfile, spcmapfile FROM pg_backup_stop(false)").fetchone()
    (copy / "backup_label").write_text(label)
    if spaces:
        (copy / "tablespace_map").write_text(spaces)
    for name in ("postmaster.pid", "postmaster.opts"):
        (copy / name).unlink(missing_ok=True)
    (copy / "standby.signal").write_text("")
    for name in ("backup_label", "standby.signal"):
        pg.give_away(copy / name)
    standby = pg.Server(primary.major, data_from=copy, fsync="on", primary_conninfo=f"host=127.0.0.1 port={primary.port} user={pg.CLUSTER_USER} application_name=standby")
    return standby.start()


@pytest.mark.usefixtures("has_faults")
def test_a_claim_across_a_promotion(primary, tmp_path):
    """A claim is held on the primary, the standby has it, the primary is fenced, the standby promoted: nothing is admitted before the claim's
    end by the new server's clock, then exactly once; and an old schedule goes on."""
    cluster = Cluster(primary.database(), tmp_path)
    standby = make_standby(primary)
    try:
        cluster.apply("tasks: {t: {noop: {}, triggers: {e: {every: 1h, overlap: allow}}}}")
        dying = cluster.up("dying", "--slots", "0", "--claim-lease", "8s", env={"PAWL_FAULT": "schedule.after_claim:1"})
        cluster.arm(cluster.now() + 500)
        assert dying.wait(20) == -signal.SIGKILL
        cluster.processes.pop("dying")
        expires = cluster.one("SELECT claim_expires_at_ms FROM pawl.trigger_schedules")
        wait_until(lambda: standby.sql("SELECT claim_expires_at_ms FROM pawl.trigger_schedules", db=cluster.db.name)[0][0] == expires, 10,
                   "the standby has the claim")
        hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        url = f"postgresql://{cluster.db.user}@{hosts}/{cluster.db.name}"
        cluster.up("heir", "--slots", "0", "--claim-lease", "2s", url=url)
        primary.kill9_all()
        standby.promote()
        cluster.db.server = standby
        wait_until(lambda: cluster.one("SELECT count(*) FROM pawl.runs") == 1, 40, lambda: f"the run:\n{cluster.log('heir')[-2000:]}")
        created = cluster.one("SELECT at_ms FROM pawl.events WHERE kind = 'run.created'")
        assert created >= expires, f"admitted {expires - created} ms before the claim's end"
        holds_for(lambda: cluster.one("SELECT count(*) FROM pawl.runs") == 1, 1)
        cluster.stop()
        cluster.assert_sound()
    finally:
        cluster.close()
        standby.close()


def test_a_standby_is_waited_for(primary, tmp_path):
    """A standby is refused by name, and pawl comes up once it is promoted."""
    cluster = Cluster(primary.database(), tmp_path)
    cluster.apply(every_second(2))
    standby = make_standby(primary)
    try:
        cluster.up("r0", url=standby.url(cluster.db.name, cluster.db.user), wait=False)
        waits = wait_until(lambda: cluster.events("r0", "up.waits"), 20, "it waits")
        assert "standby" in waits[0]["reason"] or "read-only" in waits[0]["reason"], waits
        primary.kill9_all()
        standby.promote()
        cluster.db.server = standby
        wait_until(lambda: cluster.events("r0", "ready"), 30, "it is up after the promotion")
        wait_until(lambda: cluster.one("SELECT count(*) FROM pawl.runs") > 2, 20, "runs")
        cluster.stop()
        cluster.assert_sound()
    finally:
        cluster.close()
        standby.close()
