# SPDX-License-Identifier: Apache-2.0
"""What the integration tests stand on.

A Box is one user's world: a folder, an environment, a store, the command line, and the `pawl up` processes that run on that store. Tests wait
for conditions with a deadline (wait_until) and never for time to pass; what must hold is read from the store, from `--json` output, or from the
traces that tasks leave (beat.c).
"""
import collections
import contextlib
import datetime
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("PAWL_BUILD", "build-check")).resolve()
PAWL = BUILD / "pawl"
DATA = ROOT / "tests" / "data"
SANITIZED = any(word in BUILD.name for word in ("asan", "tsan"))
# Deadlines are for machines that are busy with other things; a test that passes does not wait for them.
PATIENCE = 4.0 if SANITIZED else 1.0
DEADLINE_S = 20.0
SANITIZER_REPORT = re.compile(r"ERROR: \w*Sanitizer|WARNING: ThreadSanitizer|runtime error:")
END_STATES = {"succeeded", "failed", "cancelled", "timed_out"}

Result = collections.namedtuple("Result", "code out err")
Beat = collections.namedtuple("Beat", "kind run attempt pid at_ms")


def wait_until(condition, deadline_s=DEADLINE_S, what=None):
    """Returns the condition's first true answer. Fails after the deadline, with `what` (text or a function) as explanation."""
    end = time.monotonic() + deadline_s * PATIENCE
    pause = 0.005
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            text = what() if callable(what) else what
            raise AssertionError(f"not within {deadline_s * PATIENCE:.0f} s: {text or 'the condition'}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)


def holds_for(condition, seconds, what="the condition"):
    """For what must not happen: the condition is looked at all the time, and must be true each time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert condition(), f"{what} did not hold"
        time.sleep(0.02)


def to_ms(text):
    """RFC 3339 to milliseconds; None stays None."""
    if text is None:
        return None
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def to_text(ms):
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def now_ms():
    return time.time_ns() // 1_000_000


def beat_binary():
    """beat.c, compiled once for each build folder."""
    source, target = ROOT / "tests/integration/beat.c", BUILD / "beat"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        mine = target.with_name(f"beat.{os.getpid()}")
        subprocess.run(["cc", "-O1", "-Wall", "-o", str(mine), str(source)], check=True)
        os.rename(mine, target)
    return target


class Store:
    """The store's file, read with Python's own SQLite while pawl uses it."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def rows(self, sql, *values):
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=10)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(sql, values)]

    def one(self, sql, *values):
        rows = self.rows(sql, *values)
        return next(iter(rows[0].values())) if rows else None

    def trigger(self, name):
        """The schedule row of "task/trigger"."""
        task, trigger = name.split("/")
        rows = self.rows(
            "SELECT s.*, g.id FROM trigger_schedules s JOIN triggers g ON g.id = s.trigger_id JOIN tasks t ON t.id = g.task_id"
            " WHERE t.name = ? AND g.name = ?", task, trigger)
        assert rows, f"no trigger {name} in the store"
        return rows[0]

    def nominals(self, name, origin="schedule"):
        return [row["nominal_at_ms"] for row in self.rows(
            "SELECT nominal_at_ms FROM runs WHERE trigger_id = ? AND origin = ? ORDER BY nominal_at_ms", self.trigger(name)["id"], origin)]

    def ledger(self, name, outcome=None):
        rows = self.rows("SELECT * FROM ledger WHERE trigger_id = ? ORDER BY from_at_ms", self.trigger(name)["id"])
        return [row for row in rows if outcome in (None, row["outcome"])]

    def assert_g1(self):
        """At most one scheduled run for (trigger, nominal time)."""
        twice = self.rows("SELECT trigger_id, nominal_at_ms, count(*) AS n FROM runs WHERE origin = 'schedule'"
                          " GROUP BY trigger_id, nominal_at_ms HAVING n > 1")
        assert not twice, f"G1: {twice}"

    def assert_g2(self, name, step_ms):
        """Each occurrence of a trigger that fires every `step_ms` is a run or stands in the ledger, and none does both."""
        cursor = self.trigger(name)["next_fire_at_ms"]
        runs = self.nominals(name)
        settled = collections.Counter(runs)
        for row in self.ledger(name):
            span = range(row["from_at_ms"], row["to_at_ms"] + 1, step_ms)
            if row["count_exact"]:
                inside = [at for at in span if at not in set(runs)]
                assert row["count"] == len(inside), f"G2: the ledger counts {row['count']} of {len(inside)}: {row}"
            settled.update(at for at in span if at not in set(runs))
        assert settled, f"G2: nothing of {name} is settled"
        expected = range(min(settled), cursor, step_ms)
        missing = [at for at in expected if at not in settled]
        doubled = [at for at, n in settled.items() if n > 1]
        assert not missing, f"G2: {len(missing)} occurrences are neither run nor in the ledger, first {to_text(missing[0])}"
        assert not doubled, f"G2: settled twice: {[to_text(at) for at in doubled]}"

    def assert_one_hot_row(self):
        """An unfinished run stands in exactly one of the hot tables, a finished one in none."""
        bad = self.rows(
            "SELECT hex(r.id) AS run, (SELECT count(*) FROM ready WHERE run_id = r.id) + (SELECT count(*) FROM parked WHERE run_id = r.id)"
            " + (SELECT count(*) FROM leased WHERE run_id = r.id) AS hot,"
            " (SELECT count(*) FROM attempts a WHERE a.run_id = r.id AND a.last = 1) AS ended FROM runs r WHERE hot + ended <> 1")
        assert not bad, f"drift: {bad[:5]}"


class Pawl:
    """One `pawl up` process with its log, as JSON lines."""

    def __init__(self, box, args=(), env=None, prefix=()):
        self.box = box
        self.lines = []
        self.env = {**box.env, **(env or {})}
        self.process = subprocess.Popen(
            [*prefix, str(PAWL), "up", "--log", "json", *map(str, args)], env=self.env, cwd=box.dir, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    @property
    def pid(self):
        return self.process.pid

    @property
    def log(self):
        return "\n".join(self.lines)

    def events(self, name=None):
        found = []
        for line in list(self.lines):
            with contextlib.suppress(ValueError):
                entry = json.loads(line)
                if name in (None, entry.get("event")):
                    found.append(entry)
        return found

    def wait_event(self, name, n=1, deadline_s=DEADLINE_S):
        return wait_until(lambda: self.events(name)[n - 1:n], deadline_s, lambda: f"no event {name}; the log:\n{self.log}")[0]

    def wait_ready(self):
        wait_until(lambda: self.events("ready") or self.process.poll() is not None, 30, lambda: f"not ready; the log:\n{self.log}")
        assert self.process.poll() is None, f"pawl up ended with {self.process.returncode}:\n{self.log}"
        return self

    def alive(self):
        return self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, deadline_s=30):
        try:
            code = self.process.wait(deadline_s * PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"pawl up did not end within {deadline_s * PATIENCE:.0f} s; the log:\n{self.log}") from None
        self.reader.join(5)
        return code

    def stop(self, deadline_s=40):
        if self.alive():
            self.signal(signal.SIGTERM)
        return self.wait(deadline_s)

    def kill(self):
        """kill -9, as a crash does."""
        if self.alive():
            self.signal(signal.SIGKILL)
        self.wait()

    def freeze(self):
        self.signal(signal.SIGSTOP)
        wait_until(lambda: self._status("State").startswith("T"), what="stopped")

    def thaw(self):
        self.signal(signal.SIGCONT)

    def _status(self, key):
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return re.search(rf"^{key}:\s*(.*)$", text, re.MULTILINE).group(1)

    def rss_kib(self):
        return int(self._status("VmRSS").split()[0])

    def maps(self):
        return pathlib.Path(f"/proc/{self.pid}/maps").read_text()

    def switches(self):
        """Voluntary context switches of all threads: how often it went to sleep again."""
        total = 0
        for status in pathlib.Path(f"/proc/{self.pid}/task").glob("*/status"):
            total += int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status.read_text(), re.MULTILINE).group(1))
        return total

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Box:
    def __init__(self, folder):
        self.dir = pathlib.Path(folder)
        self.home = self.dir / "home"
        self.home.mkdir()
        self.store_path = self.dir / "store.db"
        self.file = self.dir / "pawl.yaml"
        self.clock_file = self.dir / "clock"
        self.store = Store(self.store_path)
        self.processes = []
        self.env = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8",
            "XDG_STATE_HOME": str(self.dir / "xdg"), "PAWL_DATABASE_URL": f"sqlite:{self.store_path}", "NO_COLOR": "1",
            **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS") or name == "G_SLICE"}}

    # ---- files and tasks ----
    def write(self, name, text):
        path = self.dir / name
        path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
        return path

    def beat(self, ms, *flags, trace="trace"):
        """The argv of a task that beats, as YAML."""
        return json.dumps([str(beat_binary()), str(self.dir / trace), str(ms), *flags])

    def beats(self, trace="trace"):
        path = self.dir / trace
        if not path.exists():
            return []
        beats = []
        whole, _, _ = path.read_text().rpartition("\n")  # the last line may be half written at this moment
        for line in whole.splitlines():
            kind, run, attempt, pid, at = line.split()
            beats.append(Beat(kind, run, int(attempt), int(pid), int(at)))
        return beats

    def assert_never_more(self, limit, trace="trace", key=lambda beat: None):
        """No instant at which more than `limit` beating processes (of one key) were alive."""
        lives = {}
        for beat in self.beats(trace):
            if beat.kind != "C":
                first, _, k = lives.get((beat.pid, beat.run, beat.attempt), (beat.at_ms, 0, key(beat)))
                lives[(beat.pid, beat.run, beat.attempt)] = (first, beat.at_ms, k)
        for k in {life[2] for life in lives.values()}:
            marks = []
            for first, last, mine in lives.values():
                if mine == k:
                    marks += [(first, 1), (last, -1)]
            alive = 0
            # An end and a beginning in the same millisecond do not overlap.
            for at, step in sorted(marks, key=lambda mark: (mark[0], mark[1])):
                alive += step
                assert alive <= limit, f"{alive} processes alive at {at} where {limit} are allowed"
        return len(lives)

    # ---- the command line ----
    def cli(self, *args, env=None, input=None, timeout_s=60, prefix=(), cwd=None):
        done = subprocess.run([*prefix, str(PAWL), *map(str, args)], env={**self.env, **(env or {})}, cwd=cwd or self.dir, input=input,
                              capture_output=True, timeout=timeout_s * PATIENCE, text=True, errors="surrogateescape")
        assert not SANITIZER_REPORT.search(done.stderr), done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    def ok(self, *args, **more):
        done = self.cli(*args, **more)
        assert done.code == 0, f"pawl {' '.join(map(str, args))}: exit {done.code}\n{done.out}{done.err}"
        return done

    def json(self, *args, **more):
        done = self.ok(*args, "--json", **more)
        return json.loads(done.out)

    def refused(self, *args, code=None, **more):
        """One line on stderr, no output, and the exit code."""
        done = self.cli(*args, **more)
        assert done.code != 0, f"pawl {' '.join(map(str, args))} was accepted:\n{done.out}"
        if code is not None:
            assert done.code == code, f"exit {done.code} instead of {code}\n{done.out}{done.err}"
        assert done.err.strip(), "a refusal says why"
        return done.err

    def runs(self, *args):
        return self.json("runs", "--limit", "10000", *args)

    def run_of(self, task):
        """The newest run of a task, or None."""
        rows = self.runs("--task", task)
        return rows[0] if rows else None

    def wait_runs(self, n, *args, states=END_STATES, deadline_s=DEADLINE_S):
        """At least n runs in one of `states`."""
        def found():
            done = self.cli("runs", "--limit", "10000", "--json", *args)
            return json.loads(done.out) if done.code == 0 else []  # the task itself may be still to come

        def enough():
            rows = [row for row in found() if row["state"] in states]
            return rows if len(rows) >= n else None
        return wait_until(enough, deadline_s, lambda: f"fewer than {n} runs in {sorted(states)}: {found()}")

    def wait_state(self, run, *states, deadline_s=DEADLINE_S):
        def there():
            row = self.show_run(run)
            return row if row["state"] in states else None
        return wait_until(there, deadline_s, lambda: f"run is not {states}: {self.show_run(run)}")

    def show_run(self, run):
        return next(row for row in self.runs() if row["run_id"] == run)

    def start_run(self, task, *args):
        """`pawl run TASK`; the run's id."""
        return self.json("run", task, *args)["run_id"]

    # ---- processes ----
    def spawn(self, *args, env=None, fault=None, clock=False, prefix=()):
        more = dict(env or {})
        if fault:
            more["PAWL_FAULT"] = fault
        if clock:
            more["PAWL_FAULT_CLOCK"] = str(self.clock_file)
        pawl = Pawl(self, args, more, prefix)
        self.processes.append(pawl)
        return pawl

    def up(self, yaml=None, *args, **more):
        """`pawl up -f` with that text, ready."""
        if yaml is not None:
            self.file.write_text(yaml)
        files = ["-f", self.file] if self.file.exists() else []
        return self.spawn(*files, *args, **more).wait_ready()

    def set_clock(self, offset_ms):
        """What the fault build's wall clock is off by; for processes that were started with clock=True."""
        mine = self.clock_file.with_name("clock.new")
        mine.write_text(f"{offset_ms}\n")
        os.rename(mine, self.clock_file)

    def strays(self):
        """Living processes of runs of this box's store."""
        found = {}
        for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                match = re.search(rb"(?:^|\0)PAWL_RUN_ID=([0-9a-f-]{36})", environ.read_bytes())
                if match:
                    found[int(environ.parent.name)] = match.group(1).decode()
        if not found or not self.store_path.exists():
            return []
        try:
            mine = {row["run"] for row in self.store.rows("SELECT lower(hex(id)) AS run FROM runs")}
        except sqlite3.DatabaseError:  # a test of files that are no store
            return []
        return [pid for pid, run in found.items() if run.replace("-", "") in mine]

    def describe_strays(self):
        rows = []
        for pid in self.strays():
            with contextlib.suppress(OSError):
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
                command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                marks = " ".join(re.findall(r"^(?:State|PPid|SigBlk|SigIgn|SigCgt):.*$", status, re.MULTILINE)).replace("\t", " ")
                rows.append(f"{pid} '{command}' {marks}")
        return rows

    def close(self):
        for pawl in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pawl.pid, signal.SIGCONT) if pawl.alive() else None
            pawl.kill()
        wait_until(lambda: not self.strays(), 15, lambda: f"processes outlive pawl: {self.describe_strays()}")
        for pawl in self.processes:
            assert not SANITIZER_REPORT.search(pawl.log), pawl.log
