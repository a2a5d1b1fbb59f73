# SPDX-License-Identifier: Apache-2.0
"""The store cannot be used: read-only, newer, foreign, damaged, full."""
import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile

import pytest

from harness import PAWL, Box, wait_until

ONE = "tasks: {a: {shell: 'echo hello', triggers: {t: {every: 1s, overlap: allow}}}}"


def filled(box):
    pawl = box.up(ONE)
    box.wait_runs(1)
    pawl.stop()


def change(box, *statements):
    db = sqlite3.connect(box.store_path)
    with db:
        for statement in statements:
            db.execute(statement)
    db.close()


def test_a_missing_store_names_up(box):
    for verb in (["runs"], ["run", "a"], ["list"]):
        assert "pawl up" in box.refused(*verb, code=69)
    status = box.cli("status")
    assert status.code == 69 and "pawl up" in status.out
    assert not box.store_path.exists()


def test_a_newer_store_is_refused(box):
    filled(box)
    change(box, "INSERT INTO migrations SELECT * FROM migrations LIMIT 0")
    columns = [row["name"] for row in box.store.rows("PRAGMA table_info(migrations)")]
    values = {"number": 9999, "version": 9999, "name": "from the future", "checksum": "0" * 64, "digest": "0" * 64, "applied_at_ms": 1}
    change(box, f"INSERT INTO migrations ({', '.join(columns)}) VALUES ({', '.join(repr(values[column]) for column in columns)})")
    for verb in (["up", "-f", box.file], ["status"], ["run", "a"]):
        err = box.refused(*verb, code=78)
        assert "newer" in err
    assert "9999" in box.cli("doctor").out + box.cli("doctor").err


def test_another_programs_database_is_refused(box):
    db = sqlite3.connect(box.store_path)
    db.execute("CREATE TABLE theirs (x)")
    db.commit()
    db.close()
    before = box.store_path.read_bytes()
    box.file.write_text(ONE)
    box.refused("up", "-f", box.file, code=78)
    assert box.store_path.read_bytes() == before


def test_no_database_at_all(box):
    box.store_path.write_bytes(b"this is no database, only text that is long enough to have a header" * 20)
    box.file.write_text(ONE)
    err = box.refused("up", "-f", box.file)
    assert str(box.store_path) in err


@pytest.fixture
def open_box():
    """A box that another user can reach."""
    with tempfile.TemporaryDirectory(prefix="pawl-") as folder:
        os.chmod(folder, 0o755)
        box = Box(folder)
        yield box
        box.close()


def test_read_only_store(open_box):
    """A store that may be read but not written: reading verbs work or say so, the others are refused."""
    box, prefix = open_box, []
    filled(box)
    before = box.store.rows("SELECT count(*) FROM runs")
    if os.getuid() == 0:  # root may write anything; a user may not
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*prefix, "test", "-x", str(PAWL)], cwd="/").returncode != 0:
            pytest.skip("another user cannot reach the build folder")
    for path in box.dir.glob("store.db*"):
        path.chmod(0o444)
    box.dir.chmod(0o555)
    try:
        for verb in (["run", "a"], ["up", "-f", box.file], ["pause", "a"], ["apply", "-f", box.file]):
            done = box.cli(*verb, prefix=prefix)
            assert done.code in (69, 77) and str(box.store_path) in done.err, (verb, done)
        for verb in (["runs"], ["status"], ["list"]):
            assert box.cli(*verb, prefix=prefix).code in (0, 69, 77)
    finally:
        box.dir.chmod(0o755)
    assert box.store.rows("SELECT count(*) FROM runs") == before


@pytest.fixture
def small(tmp_path):
    """A box on a file system of 4 MB."""
    if os.getuid() != 0:
        pytest.skip("mounting a small file system needs root")
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    box = Box(folder)
    try:
        yield box
        box.close()
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_full_disk(small):
    """The disk fills up while pawl runs: it lives on, says so, and goes on by itself once there is room."""
    pawl = small.up(ONE)
    small.wait_runs(1)
    filler = small.dir / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    wait_until(lambda: any(entry["level"] in ("error", "warning") for entry in pawl.events()), 30, lambda: pawl.log)
    assert pawl.alive()
    done = small.cli("run", "a")
    assert done.code in (0, 69, 75)
    filler.unlink()
    before = small.store.trigger("a/t")["next_fire_at_ms"]
    wait_until(lambda: small.store.trigger("a/t")["next_fire_at_ms"] > before + 2000, 40, lambda: pawl.log)
    assert pawl.alive()
    small.store.assert_g1()
    small.store.assert_g2("a/t", 1000)
    small.store.assert_one_hot_row()


def test_a_store_whose_folder_is_gone(box):
    pawl = box.up(ONE)
    pawl.stop()
    err = box.refused("runs", env={"PAWL_DATABASE_URL": f"sqlite:{box.dir}/no/such/folder/x.db"}, code=69)
    assert "no/such/folder" in err


def test_a_copy_is_a_backup(box):
    """What `sqlite3 .backup` writes beside a running pawl is a whole store."""
    pawl = box.up(ONE)
    box.wait_runs(2)
    source = sqlite3.connect(f"file:{box.store_path}?mode=ro", uri=True)
    target = sqlite3.connect(box.dir / "backup.db")
    with target:
        source.backup(target)
    source.close()
    target.close()
    pawl.stop()
    shutil.copy(box.dir / "backup.db", box.dir / "restored.db")
    env = {"PAWL_DATABASE_URL": f"sqlite:{box.dir}/restored.db"}
    assert box.cli("doctor", env=env).code == 0
    assert box.json("runs", env=env)


def test_a_bad_trigger_is_put_aside(box):
    """One row that cannot be read does not stop the others, and nothing of it is lost."""
    pawl = box.up("tasks: {bad: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}, good: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}}")
    box.wait_runs(1, "--task", "good")
    pawl.stop()
    change(box, "UPDATE trigger_revisions SET spec = '{\"nonsense\": 1}' WHERE trigger_id ="
           " (SELECT g.id FROM triggers g JOIN tasks t ON t.id = g.task_id WHERE t.name = 'bad')")
    pawl = box.spawn().wait_ready()
    count = len(box.runs("--task", "good"))
    box.wait_runs(count + 2, "--task", "good")
    assert pawl.events("trigger.quarantined")
    assert "quarantined" in box.ok("list").out
    assert "quarantined" in box.ok("explain", "bad/t").out


def test_damage_is_found_by_doctor(box):
    filled(box)
    run = box.runs()[0]["run_id"].replace("-", "").upper()
    change(box, "DELETE FROM ready", f"DELETE FROM attempts WHERE hex(run_id) = '{run}'")
    assert box.cli("doctor").code == 1
    box.up()
    wait_until(lambda: box.store.rows("SELECT 1 FROM parked WHERE reason = 'manual'"), what="recovery puts it aside")
    assert box.cli("doctor").code == 1, "it waits for a person"
