# SPDX-License-Identifier: Apache-2.0
"""Several replicas of `pawl up` on one PostgreSQL database, and what must be true of what they leave behind."""
import json
import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time

import pytest

import pg
from harness import PAWL, wait_until

SECONDLY = "misfire: fire_all, misfire_limit: 1000, overlap: allow"
NOW = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"


class Cluster:
    """`database`: pg.Database. `url`: how the replicas reach it, when not directly."""

    def __init__(self, database, folder, url=None):
        self.db, self.dir = database, folder
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "PAWL_DATABASE_URL": database.url()}
        self.url = url or database.url()
        self.processes = {}

    # ---- acting ----
    def cli(self, *args, check=True, env=None):
        done = subprocess.run([PAWL, *map(str, args)], env={**self.env, **(env or {})}, capture_output=True, text=True, timeout=60, cwd=self.dir)
        assert not check or done.returncode == 0, f"pawl {args}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def apply(self, yaml):
        path = self.dir / "pawl.yaml"
        path.write_text(yaml)
        self.cli("apply", "-f", path)

    def up(self, name, *args, env=None, url=None, wait=True):
        log = open(self.dir / f"{name}.log", "a")
        self.processes[name] = subprocess.Popen([PAWL, "up", "--replica", name, "--listen", "none", "--log", "json", *map(str, args)], stderr=log,
                                                env={**self.env, "PAWL_DATABASE_URL": url or self.url, **(env or {})}, cwd=self.dir)
        log.close()
        if wait:
            wait_until(lambda: '"event":"ready"' in self.log(name), what=lambda: f"{name} is up:\n{self.log(name)}")
        return self.processes[name]

    def kill(self, name):
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def stop(self):
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGTERM)
        for name, process in self.processes.items():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise AssertionError(f"{name} does not stop:\n{self.log(name)[-3000:]}") from None
        self.processes = {}

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()

    # ---- reading ----
    def log(self, name):
        return (self.dir / f"{name}.log").read_text()

    def events(self, name, event):
        return [line for line in map(json.loads, self.log(name).splitlines()) if line["event"] == event]

    def one(self, text, *values):
        return self.db.one(text, *values)

    def now(self):
        return self.one(NOW)

    def arm(self, at_ms):
        """All triggers fall due at one instant."""
        self.db.script(f"UPDATE pawl.trigger_schedules SET next_fire_at_ms = {at_ms}, due_at_ms = {at_ms}, state_version = state_version + 1 WHERE armed")

    # ---- what must be true ----
    def assert_sound_once(self):
        """G1: no occurrence has two runs. No drift: each run has one hot row or an end, and its beginning is told once."""
        twice = self.db.rows("SELECT trigger_id, nominal_at_ms FROM pawl.runs WHERE origin = 'schedule' GROUP BY 1, 2 HAVING count(*) > 1")
        assert not twice, f"G1: {twice}"
        drift = self.db.rows("""
            SELECT r.id FROM pawl.runs r
            WHERE (SELECT count(*) FROM pawl.ready h WHERE h.run_id = r.id) + (SELECT count(*) FROM pawl.parked h WHERE h.run_id = r.id)
              + (SELECT count(*) FROM pawl.leased h WHERE h.run_id = r.id) + (SELECT count(*) FROM pawl.attempts a WHERE a.run_id = r.id AND a.last) <> 1""")
        assert not drift, f"drift: {drift}"
        created = self.db.rows("SELECT r.id FROM pawl.runs r LEFT JOIN pawl.events e ON e.subject = r.id AND e.kind IN ('run.created', 'run.queued')"
                               " GROUP BY r.id HAVING count(e.*) <> 2")
        assert not created, f"events: {created}"

    def assert_sound(self):
        """The same, and G2 for triggers of one second: every occurrence from the first on is a run or stands in the ledger."""
        self.assert_sound_once()
        missing = self.db.rows("""
            SELECT s.trigger_id, (s.last_scheduled_at_ms - m.first) / 1000 + 1 - m.n - coalesce(l.n, 0) AS missing
            FROM pawl.trigger_schedules s
            JOIN (SELECT trigger_id, min(nominal_at_ms) AS first, count(*) AS n FROM pawl.runs GROUP BY 1) m USING (trigger_id)
            LEFT JOIN (SELECT trigger_id, sum(count) AS n FROM pawl.ledger GROUP BY 1) l USING (trigger_id)
            WHERE (s.last_scheduled_at_ms - m.first) / 1000 + 1 <> m.n + coalesce(l.n, 0)""")
        assert not missing, f"G2: {missing}"

    def assert_no_complaint(self, since=0):
        """R8: the server's log has no line of ours."""
        lines = [m.group(0) for m in self.db.server.log_lines(since, app="pawl", db=self.db.name)]
        assert not lines, "\n".join(lines[:20])


class Scissors:
    """A proxy to the server that cuts connections at random while `cutting`: before or after what it forwards, with a reset, or by
    delivering a client's bytes seconds after the client is gone."""

    def __init__(self, port, chance):
        self.port, self.chance, self.cutting, self.cuts = port, chance, False, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.port))
        except OSError:
            client.close()
            return
        for here, there in ((client, server), (server, client)):
            threading.Thread(target=self._pump, args=(here, there, here is client), daemon=True).start()

    def _pump(self, here, there, from_client):
        try:
            while data := here.recv(65536):
                if self.cutting and random.random() < self.chance:
                    self.cuts += 1
                    way = random.random()
                    if way < 0.4:
                        there.sendall(data)
                    elif way < 0.5 and from_client:
                        here.close()
                        time.sleep(random.uniform(0, 3))
                        there.sendall(data)
                        time.sleep(0.5)
                    break
                there.sendall(data)
        except OSError:
            pass
        finally:
            for end in (here, there):
                try:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()

    def close(self):
        self.listener.close()


def every_second(n):
    return "tasks:\n" + "".join(f"  t{i}: {{noop: {{}}, triggers: {{e: {{every: 1s, offset: {i * 7 % 1000}ms, {SECONDLY}}}}}}}\n" for i in range(n))


@pytest.fixture(scope="session")
def pg_pool():
    pool = pg.Pool()
    yield pool
    pool.close()


@pytest.fixture(params=pg.MAJORS, ids=lambda major: f"pg{major}")
def cluster(request, pg_pool, tmp_path):
    database = pg_pool.server(request.param).database()
    cluster = Cluster(database, tmp_path)
    yield cluster
    cluster.close()
    database.drop()


@pytest.fixture(params=pg.MAJORS, ids=lambda major: f"pg{major}")
def alone(request, tmp_path):
    """A cluster on a server that the test may maltreat."""
    server = pg.Server(request.param).start()
    cluster = Cluster(server.database(), tmp_path)
    yield cluster
    cluster.close()
    server.close()
