# SPDX-License-Identifier: Apache-2.0
"""Real PostgreSQL servers for the tests.

A Server is one postmaster with a data folder of its own, on a loopback port and a unix socket. Data folders are copied from a template that
initdb made once for each major, so a server is up within a quarter of a second. Servers run as an unprivileged user when the tests run as
root, die with the process that started them, and keep their log in a file. What waits has a deadline.

Majors: 15 is Debian's; 16 and later are in build-servers/ (tools/servers.sh). PAWL_PG_MAJORS says on which the suite runs ("15,18").
A major that can't be started fails the test that asks for it; it is never skipped.

A Database is an empty database with one plain role that owns it: what a user of pawl has. Tests that do no harm to a server share one
(fixture `pg`); those that do have their own (fixture `own_server`).
"""
import contextlib
import fcntl
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.parse

import psycopg
import psycopg.conninfo
import psycopg.rows

from harness import ROOT, wait_until

DEBIAN_BIN = pathlib.Path("/usr/lib/postgresql/15/bin")
SERVERS = ROOT / "build-servers"
MAJORS = [int(major) for major in os.environ.get("PAWL_PG_MAJORS", "15,18").split(",")]
SMOKE_MAJORS = [16, 17]
CLUSTER_USER = "postgres"
START_S = 30
# Fast, small, and with every instant of the log told. fsync is off unless a test asks for it: nothing here survives a power failure anyway.
SETTINGS = {
    "fsync": "off", "full_page_writes": "off", "shared_buffers": "32MB", "max_connections": "100", "max_wal_senders": "8",
    "wal_level": "replica", "hot_standby": "on", "wal_keep_size": "256MB", "max_wal_size": "1GB", "jit": "off",
    "listen_addresses": "127.0.0.1", "log_line_prefix": "%m [%p] %a|%u|%d|%e ", "log_min_messages": "warning", "lc_messages": "C",
    "timezone": "UTC", "log_timezone": "UTC", "autovacuum_naptime": "10s"}
LOG_LINE = re.compile(r"^\S+ \S+ \S+ \[(?P<pid>\d+)\] (?P<app>[^|]*)\|(?P<user>[^|]*)\|(?P<db>[^|]*)\|(?P<state>\w{5}) (?P<text>.*)$")


# ---- the run's folder, the unprivileged user, the binaries ----
def unprivileged():
    """Whom servers run as: (uid, gid), or None when the tests are not root themselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    raise AssertionError("no unprivileged user to run a server as")


def give_away(path):
    if unprivileged():
        os.chown(path, *unprivileged())


def as_server_user(argv, dies_with_us=True):
    """The command line that runs argv as the unprivileged user and, mostly, ends it at once when we end."""
    user = unprivileged()
    prefix = ["setpriv", *(["--pdeathsig", "QUIT"] if dies_with_us else [])]
    if user:
        prefix += [f"--reuid={user[0]}", f"--regid={user[1]}", "--clear-groups"]
    return [*prefix, *map(str, argv)] if len(prefix) > 1 else list(map(str, argv))


def run_folder():
    """One folder for all workers of this test run; conftest.py removes it. Short, since socket names are."""
    name = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"pid{os.getpid()}")[:12]
    folder = pathlib.Path(tempfile.gettempdir()) / f"pawl-pg-{name}"
    folder.mkdir(mode=0o755, exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(name):
    with open(run_folder() / f"{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def bin_folder(major):
    if major == 15:
        assert DEBIAN_BIN.exists(), "PostgreSQL 15 is missing: tools/deps.sh install test"
        return DEBIAN_BIN
    here = SERVERS / f"pg{major}"
    assert here.exists(), f"PostgreSQL {major} is missing: tools/servers.sh {SERVERS.name}"
    reachable = subprocess.run(as_server_user(["test", "-x", here / "bin/postgres"]), check=False).returncode == 0
    if reachable:
        return here / "bin"
    copy = run_folder() / f"pg{major}"  # the source folder is under somebody's private home
    with locked(f"pg{major}"):
        if not copy.exists():
            mine = copy.with_suffix(".new")
            shutil.copytree(here.resolve(), mine, symlinks=True)
            os.rename(mine, copy)
    return copy / "bin"


def template(major):
    """The data folder of a fresh cluster, made once for each run."""
    folder = run_folder() / f"template-{major}"
    with locked(f"template-{major}"):
        if not folder.exists():
            mine = folder.with_suffix(".new")
            mine.mkdir(mode=0o700)
            give_away(mine)
            argv = [bin_folder(major) / "initdb", "-D", mine, "-U", CLUSTER_USER, "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"]
            done = subprocess.run(as_server_user(argv), capture_output=True, text=True, check=False, cwd="/")
            assert done.returncode == 0, f"initdb of {major}: {done.stdout}{done.stderr}"
            os.rename(mine, folder)
    return folder


def free_port():
    """A loopback port outside the range that outgoing connections are given, ours until the run's folder goes: a server that is down
    finds its port free when it comes back."""
    for port in random.sample(range(20000, 32000), 200):
        try:
            os.close(os.open(run_folder() / f"port-{port}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    raise AssertionError("no free port")


def remove_run_folder():
    shutil.rmtree(run_folder(), ignore_errors=True)


class Server:
    """One postmaster. Made stopped; start() waits until it answers."""

    serial = 0

    def __init__(self, major, data_from=None, env=None, **settings):
        Server.serial += 1
        self.major = major
        self.dir = run_folder() / f"{major}-{os.getpid()}-{Server.serial}"
        self.dir.mkdir(mode=0o755)
        give_away(self.dir)
        self.data = self.dir / "data"
        self.log_path = self.dir / "log"
        self.port = free_port()
        self.settings = {**SETTINGS, "port": str(self.port), "unix_socket_directories": str(self.dir), **settings}
        self.env = {"PATH": os.environ["PATH"], "LANG": "C", **(env or {})}
        self.process = None
        subprocess.run(["cp", "-a", "--reflink=auto", data_from or template(major), self.data], check=True)
        if not data_from:
            with open(self.data / "postgresql.conf", "a") as file:
                file.write("include 'pawl.conf'\n")
        self._write_settings()

    # ---- settings ----
    def _write_settings(self):
        path = self.data / "pawl.conf"
        path.write_text("".join(f"{name} = '{value}'\n" for name, value in self.settings.items()))
        give_away(path)

    def configure(self, **settings):
        """Sets, and reloads when it runs; a setting that needs a restart needs restart()."""
        self.settings.update(settings)
        self._write_settings()
        if self.alive():
            with self.connect() as db:
                db.execute("SELECT pg_reload_conf()")
                for name, value in settings.items():
                    # The reload reaches a backend between two of its statements.
                    wait_until(lambda name=name, value=value: db.execute(
                        "SELECT pending_restart OR error IS NULL FROM pg_settings s LEFT JOIN pg_file_settings f USING (name)"
                        " WHERE s.name = %s AND f.setting = %s", (name, value)).fetchone(), what=f"{name} = {value} is read")
        return self

    # ---- its life ----
    def start(self, wait=True):
        assert not self.alive(), "it runs"
        with open(self.log_path, "a") as log:
            self.process = subprocess.Popen(as_server_user([bin_folder(self.major) / "postgres", "-D", self.data]), env=self.env, cwd="/",
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self):
        wait_until(lambda: self.answers() or not self.alive(), START_S, lambda: f"no answer of {self.major}:\n{self.log()}")
        assert self.alive(), f"PostgreSQL {self.major} ended with {self.process.returncode}:\n{self.log()}"
        return self

    def answers(self):
        with contextlib.suppress(psycopg.OperationalError):
            with self.connect(connect_timeout=2):
                return True
        return False

    def alive(self):
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self):
        return self.process.pid

    def stop(self, mode="fast", wait=True):
        """smart waits for clients, fast rolls back and says so (57P01), immediate drops everything as a crash does."""
        if self.alive():
            os.kill(self.pid, {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}[mode])
        return self.wait_down() if wait else self

    def wait_down(self):
        wait_until(lambda: not self.alive(), START_S, lambda: f"it does not end:\n{self.log()}")
        self._wait_for_backends()
        return self

    def kill9(self):
        """kill -9 of the postmaster alone; its children notice and end, and only then can another one start."""
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait(START_S)
        self._wait_for_backends()
        return self

    def kill9_all(self):
        """kill -9 of every process of the server at once, so that nothing of it acts any more."""
        pids = [self.pid, *self._backends()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.process.wait(START_S)
        self._wait_for_backends()
        return self

    def _backends(self):
        """Living processes whose working folder is this server's data folder."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(entry / "cwd") == str(self.data) and int(entry.name) != self.pid:
                    found.append(int(entry.name))
        return found

    def _wait_for_backends(self):
        wait_until(lambda: not self._backends(), START_S, "backends outlive their postmaster")

    def restart(self, mode="fast"):
        self.stop(mode)
        return self.start()

    def freeze(self):
        """Stops every process of it, as a host that hangs: connections stay, nothing answers."""
        for pid in [self.pid, *self._backends()]:
            os.kill(pid, signal.SIGSTOP)
        return self

    def thaw(self):
        for pid in [*self._backends(), self.pid]:
            os.kill(pid, signal.SIGCONT)
        return self

    def promote(self):
        assert self.sql("SELECT pg_promote(true, 30)") == [(True,)]
        wait_until(lambda: self.sql("SELECT pg_is_in_recovery()") == [(False,)], START_S, "it is promoted")
        return self

    def close(self):
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                if self.alive():
                    self.thaw()
            self.stop("immediate")
        shutil.rmtree(self.dir, ignore_errors=True)

    # ---- talking to it ----
    def connect(self, db="postgres", user=CLUSTER_USER, autocommit=True, host=None, **more):
        """A psycopg connection through the unix socket, or by `host`. Close it, or use it in a `with`."""
        return psycopg.connect(host=host or str(self.dir), port=self.port, dbname=db, user=user, autocommit=autocommit,
                               **{"application_name": "test", "connect_timeout": 10, **more})

    def sql(self, text, *values, db="postgres", **more):
        """One statement as the superuser; its rows as tuples, or None where it has none."""
        with self.connect(db, **more) as conn:
            done = conn.execute(text, values or None)
            return done.fetchall() if done.description else None

    def url(self, db="postgres", user=CLUSTER_USER, port=None, host="127.0.0.1", **options):
        query = urllib.parse.urlencode(options)
        return f"postgresql://{user}@{host}:{port or self.port}/{db}{'?' + query if query else ''}"

    def database(self, name=None, **options):
        return Database(self, name, **options)

    def terminate(self, where="true", db="postgres"):
        """pg_terminate_backend for the client backends that meet the condition on pg_stat_activity; how many there were."""
        return self.sql("SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity"
                        f" WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND ({where})", db=db)[0][0]

    # ---- its log ----
    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def log_mark(self):
        """For log_lines(since=…)."""
        return self.log_path.stat().st_size if self.log_path.exists() else 0

    def log_lines(self, since=0, app=None, db=None):
        """The log's lines of clients, as matches with pid, app, user, db, state (SQLSTATE) and text; `app` is what application_name
        begins with. Lines of one's own are wanted only in tests that make them: a healthy day has none."""
        text = self.log_path.read_bytes()[since:].decode(errors="replace")
        found = [match for match in map(LOG_LINE.match, text.splitlines()) if match]
        return [m for m in found if (app is None or m["app"].startswith(app)) and (db is None or m["db"] == db)]


class Database:
    """An empty database and the plain role that owns it, both of one name."""

    serial = 0

    def __init__(self, server, name=None):
        Database.serial += 1
        self.server = server
        self.name = name or f"t{os.getpid()}_{Database.serial}"
        self.user = self.name
        with server.connect() as conn:
            conn.execute(f'CREATE ROLE "{self.user}" LOGIN')
            conn.execute(f'CREATE DATABASE "{self.name}" OWNER "{self.user}" TEMPLATE template0')

    def url(self, user=None, **more):
        return self.server.url(self.name, user or self.user, **more)

    def connect(self, user=CLUSTER_USER, **more):
        return self.server.connect(self.name, user, **more)

    def rows(self, text, *values):
        """Rows as dicts, read by the superuser."""
        with self.connect(row_factory=psycopg.rows.dict_row) as conn:
            done = conn.execute(text, values or None)
            return done.fetchall() if done.description else []

    def one(self, text, *values):
        rows = self.rows(text, *values)
        return next(iter(rows[0].values())) if rows else None

    def script(self, text):
        """Statements divided by ';', as psql would run a file; each on its own."""
        with self.connect() as conn:
            conn.execute(text)
        return self

    def drop(self):
        with self.server.connect() as conn:
            conn.execute(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')
            conn.execute(f'DROP ROLE IF EXISTS "{self.user}"')


class Pool:
    """The servers that the tests of one worker share, one for each major, started when first asked for."""

    def __init__(self):
        self.servers = {}

    def server(self, major):
        if major in self.servers and not self.servers[major].alive():
            self.servers.pop(major).close()
        if major not in self.servers:
            self.servers[major] = Server(major).start()
        return self.servers[major]

    def close(self):
        for server in self.servers.values():
            server.close()
