# SPDX-License-Identifier: Apache-2.0
"""What the tests of the PostgreSQL dialect share: its files, a server, and a database that they have made."""
import importlib.util
import os
import subprocess
import tempfile

import psycopg
import pytest

from harness import ROOT

SQL = ROOT / "sql"
BIN = os.environ.get("PAWL_PG_BIN", "/usr/lib/postgresql/15/bin")  # of another major: where its initdb, pg_ctl and postgres are
HOUR, DAY = 3600 * 1000, 24 * 3600 * 1000


def statements(engine):
    """The statements of an engine by name, as the build reads them."""
    spec = importlib.util.spec_from_file_location("sql_table", ROOT / "tools/sql-table.py")
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    return table.load_statements(str(SQL / engine / "statements"), engine, table.Faults())


def migrate(db):
    for script in sorted((SQL / "postgres/migrations").glob("*.sql")):
        with db.transaction():
            db.execute(script.read_text())


class Database:
    """A database named sql, of which the plain role `owner` is the owner."""

    def __init__(self, where):
        self.where = where
        with self.connect("postgres", "postgres") as admin:
            admin.execute("DROP DATABASE IF EXISTS sql WITH (FORCE)")
            for (role,) in admin.execute("SELECT quote_ident(rolname) FROM pg_roles WHERE rolname !~ '^(pg_|postgres$)'").fetchall():
                admin.execute(f"DROP ROLE {role}")
            admin.execute("CREATE ROLE owner LOGIN")
            admin.execute("CREATE DATABASE sql OWNER owner TEMPLATE template0")

    def connect(self, user="owner", database="sql", **more):
        return psycopg.connect(f"{self.where} user={user} dbname={database}", autocommit=True, **more)


@pytest.fixture(scope="module")
def server():
    """A server for one file, on a unix socket of its own; run by an unprivileged user, as it insists on."""
    with tempfile.TemporaryDirectory(prefix="pawl-sql-") as folder:
        user = []
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
            user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        subprocess.run([*user, f"{BIN}/initdb", "-D", f"{folder}/data", "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8",
                        "--locale=C"], check=True, capture_output=True, cwd="/")
        control = [*user, f"{BIN}/pg_ctl", "-D", f"{folder}/data", "-w", "-s", "-l", f"{folder}/log", "-o",
                   f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"]
        subprocess.run([*control, "start"], check=True, cwd="/")
        yield f"host={folder}"
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, cwd="/")


@pytest.fixture
def database(server):
    made = Database(server)
    with made.connect() as owner:
        migrate(owner)
    return made


@pytest.fixture
def db(database):
    """A connection of the owner's."""
    with database.connect() as conn:
        yield conn
