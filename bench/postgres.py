# SPDX-License-Identifier: Apache-2.0
"""The figures of the PostgreSQL profile, on a server of its own with fsync on."""
import contextlib
import importlib.util
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile
import time

import psycopg

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = os.environ.get("PAWL_PG_BIN", "/usr/lib/postgresql/15/bin")
TASKS = 50
AT = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"


def statements():
    spec = importlib.util.spec_from_file_location("sql_table", ROOT / "tools/sql-table.py")
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    return table.load_statements(str(ROOT / "sql/postgres/statements"), "postgres", table.Faults())


class Server:
    def __init__(self, folder):
        self.folder = tempfile.mkdtemp(prefix="pg-", dir=folder)
        self.user = []
        if os.geteuid() == 0:
            os.chown(self.folder, 65534, 65534)
            self.user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        subprocess.run([*self.user, f"{BIN}/initdb", "-D", f"{self.folder}/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"],
                       check=True, capture_output=True, cwd="/")
        settings = {"listen_addresses": "", "unix_socket_directories": self.folder, "shared_buffers": "512MB", "max_wal_size": "4GB",
                    "max_connections": "200"}
        self.control = [*self.user, f"{BIN}/pg_ctl", "-D", f"{self.folder}/data", "-w", "-s", "-l", f"{self.folder}/log", "-o",
                        " ".join(f"-c {name}={value}" for name, value in settings.items())]
        subprocess.run([*self.control, "start"], check=True, cwd="/")

    def stop(self):
        subprocess.run([*self.control, "-m", "immediate", "stop"], check=True, cwd="/")

    def connect(self, database="postgres"):
        return psycopg.connect(f"host={self.folder} user=postgres dbname={database}", autocommit=True)

    def url(self, database):
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def log(self):
        return pathlib.Path(f"{self.folder}/log").read_text()


class Installation:
    """A database with pawl's schema and `n` noop triggers of an hour, and replicas on it."""

    def __init__(self, bench, server, name, n):
        self.bench, self.server, self.name = bench, server, name
        with server.connect() as admin:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(bench.dir), "LANG": "C.UTF-8", "PAWL_DATABASE_URL": server.url(name)}
        per_task = -(-n // TASKS)
        triggers = [", ".join(f"e{i}: {{every: 1h, overlap: allow}}" for i in range(t * per_task, min(n, (t + 1) * per_task))) for t in range(TASKS)]
        (bench.dir / "pg.yaml").write_text("tasks:\n" + "\n".join(f"  t{i}: {{noop: {{}}, triggers: {{{text}}}}}" for i, text in enumerate(triggers) if text))
        subprocess.run([bench.pawl, "apply", "-f", bench.dir / "pg.yaml"], env=self.env, check=True, capture_output=True)
        self.db = server.connect(name)

    def value(self, sql, *values):
        return self.db.execute(sql, values).fetchone()[0]

    def arm(self, in_ms):
        """All triggers fall due at one instant, `in_ms` from now; what was is forgotten. Returns the instant."""
        self.db.execute("TRUNCATE pawl.ready, pawl.parked, pawl.leased, pawl.runs, pawl.attempts, pawl.events, pawl.ledger")
        self.db.execute("VACUUM ANALYZE pawl.trigger_schedules")
        at = self.value(AT) + in_ms
        self.db.execute("UPDATE pawl.trigger_schedules SET armed = true, next_fire_at_ms = %s, due_at_ms = %s, last_scheduled_at_ms = 0, "
                        "claim_owner = NULL, claim_token = NULL, claim_acquired_at_ms = NULL, claim_expires_at_ms = NULL, "
                        "first_claimed_at_ms = NULL, state_version = state_version + 1", (at, at))
        self.db.execute("CHECKPOINT")
        return at

    @contextlib.contextmanager
    def replicas(self, n, *args):
        started = [subprocess.Popen([self.bench.pawl, "up", "--replica", f"r{i}", "--listen", "none", "--log-level", "warning", *args], env=self.env,
                                    stderr=subprocess.DEVNULL) for i in range(n)]
        try:
            deadline = time.monotonic() + 20
            while self.value("SELECT count(*) FROM pawl.replicas WHERE ended_at_ms IS NULL AND state = 'ready'") < n:
                if time.monotonic() > deadline:
                    raise RuntimeError("the replicas do not come up")
                time.sleep(0.05)
            yield started
        finally:
            for process in started:
                process.send_signal(signal.SIGTERM)
            for process in started:
                process.wait(60)
            self.db.execute("DELETE FROM pawl.replicas")

    def admitted(self, n, at):
        """Waits for n runs; (how long after `at` the last was admitted in ms, runs a second)."""
        deadline = time.monotonic() + 120
        while self.value("SELECT count(*) FROM pawl.runs") < n:
            if time.monotonic() > deadline:
                raise RuntimeError("not all was admitted")
            time.sleep(0.05)
        last = self.value("SELECT max(at_ms) FROM pawl.events WHERE kind = 'run.created'") - at
        return last, n * 1000 / max(last, 1)


class Postgres:
    def __init__(self, bench):
        self.bench, self.report = bench, bench.report
        self.server = Server(bench.dir)

    def close(self):
        self.server.stop()

    # ---- claim latency ----

    def many_schedules(self, name, n):
        installation = Installation(self.bench, self.server, name, 1)
        installation.db.execute("""
            INSERT INTO pawl.triggers (id, task_id, name, state, revision, digest, created_at_ms, updated_at_ms)
              SELECT gen_random_uuid(), t.id, 'x' || n, 'active', 1, '', 0, 0 FROM pawl.tasks t, generate_series(1, %s) n;""", (n - 1,))
        installation.db.execute("""
            INSERT INTO pawl.trigger_schedules (trigger_id, task_id, project_id, trigger_revision, task_revision, armed, next_fire_at_ms, due_at_ms,
                updated_at_ms)
              SELECT g.id, g.task_id, t.project_id, 1, 1, true, 4e12::bigint + (random() * 1e9)::bigint, 6e12::bigint, 0
              FROM pawl.triggers g JOIN pawl.tasks t ON t.id = g.task_id ON CONFLICT DO NOTHING""")
        installation.db.execute("UPDATE pawl.trigger_schedules SET due_at_ms = next_fire_at_ms")
        installation.db.execute("""UPDATE pawl.trigger_schedules SET next_fire_at_ms = 1000, due_at_ms = 1000
            WHERE trigger_id IN (SELECT trigger_id FROM pawl.trigger_schedules ORDER BY trigger_id LIMIT 10)""")
        installation.db.execute("VACUUM ANALYZE pawl.trigger_schedules")
        return installation

    def claim_ms(self, installation, rounds=200):
        """The claim of ten due rows, rolled back; milliseconds, sorted."""
        text = statements()["claim_take"].text
        taken = []
        with installation.server.connect(installation.name) as db:
            db.autocommit = False
            db.execute("SET plan_cache_mode = force_custom_plan")
            db.execute(f"PREPARE claim (bigint, text, uuid, bigint) AS {text}")
            db.commit()
            for _ in range(rounds):
                db.execute("SELECT 1")
                began = time.perf_counter()
                rows = db.execute("EXECUTE claim (16, 'bench', gen_random_uuid(), 10000)").fetchall()
                taken.append((time.perf_counter() - began) * 1000)
                assert len(rows) == 10, len(rows)
                db.rollback()
                if len(taken) % 50 == 0:  # what was rolled back is swept, as autovacuum does
                    db.autocommit = True
                    db.execute("VACUUM pawl.trigger_schedules")
                    db.autocommit = False
        return sorted(taken)

    def claim(self):
        small, large = self.many_schedules("claim_1k", 1000), self.many_schedules("claim_1m", 1_000_000)
        self.claim_ms(small, 20), self.claim_ms(large, 20)
        few, many = self.claim_ms(small), self.claim_ms(large)
        self.report.add("claim of 10 due among 1,000,000 schedules, p50", statistics.median(many), "ms", 1.3 * statistics.median(few),
                        statistics.median(few), "the same among 1,000", (many[len(many) // 10], many[-len(many) // 10]))

    # ---- admission ----

    def due_at_once(self):
        n = 10000
        installation = Installation(self.bench, self.server, "burst", n)
        late = []
        with installation.replicas(2, "--slots", "0"):
            for _ in range(3):
                late.append(installation.admitted(n, installation.arm(3000))[0])
        self.report.add(f"{n:,} triggers due in one second, 2 replicas: last admitted", statistics.median(late), "ms", 1000, spread=(min(late), max(late)))

    def pgbench(self, clients, seconds=6):
        """What an admission writes, 256 in a transaction and a statement, by nobody who decides anything; rows a second."""
        script = self.bench.dir / "admit.sql"
        script.write_text("""\\set base random(1, 1000000000)
\\set low 256 * random(0, 38)
BEGIN;
CREATE TEMP TABLE IF NOT EXISTS b (trigger_id uuid, run uuid) ON COMMIT DELETE ROWS;
INSERT INTO b SELECT trigger_id, gen_random_uuid() FROM bench_ids WHERE n > :low AND n <= :low + 256;
SELECT count(*) FROM (SELECT 1 FROM pawl.trigger_schedules s JOIN b USING (trigger_id) ORDER BY s.trigger_id FOR NO KEY UPDATE OF s) x;
INSERT INTO pawl.runs (id, project_id, task_id, task_revision, trigger_id, trigger_revision, origin, nominal_at_ms, queued_at_ms, priority)
  SELECT b.run, s.project_id, s.task_id, 1, b.trigger_id, 1, 'schedule', :base, :base, 0 FROM b JOIN pawl.trigger_schedules s USING (trigger_id);
INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, since_at_ms)
  SELECT b.run, 1, s.task_id, s.project_id, 1, :base, true, :base FROM b JOIN pawl.trigger_schedules s USING (trigger_id);
INSERT INTO pawl.events (subject, at_ms, kind) SELECT b.run, :base, k FROM b, unnest(ARRAY['run.created', 'run.queued']) k;
UPDATE pawl.trigger_schedules s SET next_fire_at_ms = s.next_fire_at_ms + 1, due_at_ms = s.due_at_ms + 1, state_version = state_version + 1,
  updated_at_ms = :base FROM b WHERE s.trigger_id = b.trigger_id;
COMMIT;
""")
        text = subprocess.run(["pgbench", "-h", self.server.folder, "-U", "postgres", "-n", "-M", "prepared", "-c", str(clients), "-j", "1", "-T", str(seconds),
                               "-f", script, "rate"], check=True, capture_output=True, text=True).stdout
        return next(float(line.split("=")[1].split()[0]) for line in text.splitlines() if line.startswith("tps")) * 256

    def rate(self):
        n = 20000
        installation = Installation(self.bench, self.server, "rate", n)
        installation.db.execute("CREATE TABLE bench_ids AS SELECT trigger_id, row_number() OVER (ORDER BY trigger_id) AS n FROM pawl.trigger_schedules")
        installation.db.execute("CREATE UNIQUE INDEX ON bench_ids (n)")
        installation.db.execute("ANALYZE bench_ids")
        for replicas in (1, 2, 4):
            rates = []
            with installation.replicas(replicas, "--slots", "0"):
                for _ in range(3):
                    rates.append(installation.admitted(n, installation.arm(3000))[1])
            installation.arm(3600000)
            raw = self.pgbench(replicas)
            self.report.add(f"admissions a second, {replicas} replica{'s' * (replicas > 1)}", statistics.median(rates), "/s", 0.6 * raw, raw,
                            "pgbench, the same rows", (min(rates), max(rates)), at_least=True)

    # ---- at rest ----

    def idle(self, replicas=8, seconds=60):
        installation = Installation(self.bench, self.server, "idle", 100)
        installation.arm(3600000)
        with installation.replicas(replicas) as processes:
            time.sleep(5)
            installation.db.execute("ALTER SYSTEM SET log_statement = 'all'")
            installation.db.execute("SELECT pg_reload_conf()")
            time.sleep(1)
            before, xid = self.server.log(), installation.value("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
            time.sleep(seconds)
            lines = self.server.log()[len(before):].splitlines()
            xids = installation.value("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint") - xid
            installation.db.execute("ALTER SYSTEM RESET log_statement")
            installation.db.execute("SELECT pg_reload_conf()")
            rss = [int(next(line.split()[1] for line in open(f"/proc/{p.pid}/status") if line.startswith("VmRSS"))) / 1024 for p in processes]
        asked = [line for line in lines if " LOG:  execute " in line or " LOG:  statement:" in line]
        other = [line for line in lines if line not in asked and any(word in line for word in ("ERROR", "FATAL", "WARNING", "LOG:  could not", "unexpected"))]
        self.report.add(f"idle replica, of {replicas}: statements", len(asked) / seconds / replicas, "/s", 2)
        self.report.add("idle replica: transaction ids", xids / seconds / replicas, "/s", 0.11)
        self.report.add(f"{replicas} idle replicas for {seconds} s: complaints in the server's log", len(other), "lines", 0)
        self.report.add("VmRSS of a replica", max(rss), "MiB", 20, spread=(min(rss), max(rss)))
