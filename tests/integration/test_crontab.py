# SPDX-License-Identifier: Apache-2.0
"""Crontabs as they are."""
import getpass
import json
import os
import re
import stat
import subprocess

import pytest

from harness import DATA, PAWL, to_ms, wait_until

CRONTABS = sorted((DATA / "crontabs").glob("*.cron"))
# Fields of a time line, then the rest; @nickname likewise.
TIME = re.compile(r"^(@\w+|(?:\S+\s+){4}\S+)\s+(.*)$")


def lines(path):
    """(time, rest) of each line that is neither a comment nor a variable."""
    for line in path.read_text().splitlines():
        line = line.strip()
        if line and not line.startswith("#") and not re.match(r"^\w+\s*=", line):
            yield TIME.match(line).groups()


def imported(box, *args, **more):
    done = box.ok("import", "crontab", *args, **more)
    box.write("imported.yaml", done.out)
    return done


@pytest.mark.skipif(not CRONTABS, reason="tests/data/crontabs is not there")
@pytest.mark.parametrize("path", CRONTABS, ids=lambda path: getattr(path, "stem", "none"))
@pytest.mark.skipif(os.getuid() != 0, reason="lines for other users are refused without root")
def test_real_ones_import_and_next_agrees(box, path):
    """Nothing is lost: each line becomes a trigger with the same command and the same coming instants."""
    imported(box, path)
    file = box.dir / "imported.yaml"
    assert box.cli("validate", "-f", file).code == 0
    asked = ["-n", "3", "--after", "2026-06-01T00:00:00Z"]
    expected = [tuple(box.json("next", time, "--zone", "UTC", *asked)["next"]) for time, _ in lines(path)]
    found = [tuple(row["next"]) for row in box.json("next", "-f", file, *asked)]
    assert sorted(found) == sorted(expected)
    commands = sorted(rest.split(None, 1)[1].strip().replace("\\%", "%") for _, rest in lines(path))
    tree = json.loads(box.ok("import", "crontab", path, "--json").out)
    assert sorted(task["shell"] for task in tree["tasks"].values()) == commands
    box.spawn("-f", file, "--slots", "0", "--allow-user", "*").wait_ready()
    assert len(box.json("list")) == len(tree["tasks"])


def test_user_and_system_format(box):
    user = getpass.getuser()
    box.write("user", "*/5 * * * * root-ish --flag\n")
    box.write("system", f"*/5 * * * * {user} true --flag\n")
    assert "root-ish --flag" in imported(box, box.dir / "user", "--user").out
    text = imported(box, box.dir / "system", "--system").out
    assert "true --flag" in text and f"{user} true" not in text
    assert f"{user} true" in imported(box, box.dir / "system", "--user").out


@pytest.mark.skipif(os.getuid() != 0, reason="becomes nobody, which needs root")
def test_a_line_for_another_user_is_refused_without_root(box):
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*prefix, "test", "-x", str(PAWL)], cwd="/").returncode != 0:
        pytest.skip("nobody cannot reach the build folder")
    done = box.cli("import", "crontab", "--system", "-", prefix=prefix, cwd="/", input="0 0 * * * nobody true\n* * * * * daemon true\n")
    assert done.code == 78 and "daemon" in done.err and ":2" in done.err and ":1:" not in done.err


@pytest.mark.smoke
def test_variables_percent_and_long_lines(box):
    """Runs the table as a user would: variables, quotes, % as stdin, \\%, CRLF, no newline at the end."""
    out = box.dir / "out"
    out.mkdir()
    long = "x" * 3000
    text = (f"# a comment\r\nSHELL=/bin/sh\r\nGREETING = 'hello  there'\r\nQUOTED=\"a 'b' c\"\r\n\r\n"
            f"@reboot echo \"$GREETING|$QUOTED\" > {out}/vars\r\n"
            f"@reboot cat > {out}/stdin%line one%line two\\% end\r\n"
            f"@reboot echo {long} > {out}/long\r\n"
            f"  @reboot\techo last > {out}/last")
    path = box.write("tab", text)
    box.spawn("--crontab", path).wait_ready()
    for name in ("vars", "stdin", "long", "last"):
        wait_until(lambda: (out / name).exists() and (out / name).stat().st_size, what=name)
    wait_until(lambda: all(row["state"] == "succeeded" for row in box.runs()) and len(box.runs()) == 4)
    assert (out / "vars").read_text() == "hello  there|a 'b' c\n"
    assert (out / "stdin").read_text().rstrip("\n") == "line one\nline two% end"
    assert (out / "long").read_text().strip() == long
    assert (out / "last").read_text() == "last\n"


def test_reboot_is_once_per_boot(box):
    path = box.write("tab", f"@reboot echo ran >> {box.dir}/out\n")
    for _ in range(3):
        pawl = box.spawn("--crontab", path).wait_ready()
        wait_until(lambda: box.runs("--state", "succeeded"))
        wait_until(lambda: box.store.one("SELECT count(*) FROM ready") == 0)
        pawl.stop()
    assert (box.dir / "out").read_text() == "ran\n"


def sendmail(box):
    mails = box.dir / "mails"
    mails.mkdir()
    program = box.write("sendmail", f"#!/bin/sh\nf={mails}/$$\n{{ echo \"ARGS $*\"; cat; }} > $f.tmp\nmv $f.tmp $f.mail\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    return program, lambda: [path.read_text() for path in sorted(mails.glob("*.mail"))]


def test_mail(box):
    """As cron does: mail when there is output, or when it failed, and else none."""
    program, mails = sendmail(box)
    path = box.write("tab", "MAILTO=ops@example.org\n@reboot true\n@reboot echo some output\n@reboot exit 4\nMAILTO=\n@reboot echo to nobody\n")
    box.spawn("--crontab", path, env={"PAWL_SENDMAIL": str(program)}).wait_ready()
    box.wait_runs(4)
    texts = wait_until(lambda: mails() if len(mails()) >= 2 else None, what=lambda: f"two mails, not {mails()}")
    assert len(texts) == 2
    assert all("ops@example.org" in text and re.search("^Subject: ", text, re.MULTILINE) for text in texts)
    assert any("some output" in text for text in texts) and not any("to nobody" in text for text in texts)


def test_zone_and_delay(box):
    path = box.write("tab", "CRON_TZ=Asia/Tokyo\n0 9 * * * true\nRANDOM_DELAY=10\n0 10 * * * true\n")
    text = imported(box, path, "--user").out
    assert "Asia/Tokyo" in text and "10m" in text


def test_what_cannot_be_honoured_is_said_by_line(box):
    path = box.write("tab", "0 0 * * * true\n61 0 * * * true\n0 0 * *\n")
    err = box.refused("import", "crontab", "--user", path)
    assert ":2" in err and ":3" in err


def test_names_do_not_depend_on_line_numbers(box):
    first = imported(box, box.write("tab", "0 1 * * * one\n0 2 * * * two\n"), "--user").out
    second = imported(box, box.write("tab", "# new\n30 0 * * * zero\n0 1 * * * one\n0 2 * * * two\n"), "--user").out
    names = [set(re.findall(r"^  ([\w.-]+):", text, re.MULTILINE)) for text in (first, second)]
    assert names[0] <= names[1] and len(names[1] - names[0]) == 1, names


def test_a_crontab_beside_a_file(box):
    box.file.write_text("tasks: {a: {noop: {}, triggers: {t: {every: 1s}}}}")
    path = box.write("tab", f"@reboot echo ran > {box.dir}/out\n")
    box.spawn("-f", box.file, "--crontab", path).wait_ready()
    wait_until(lambda: (box.dir / "out").exists())
    box.wait_runs(1, "--task", "a")


def test_five_fields_mean_the_host_zone(box):
    path = box.write("tab", "0 2 * * * true\n")
    text = imported(box, path, "--user", env={"TZ": "America/New_York"}).out
    assert "America/New_York" in text, "the host's zone is written out"
    assert "misfire: skip" in text and "overlap: allow" in text


def test_import_goes_through_apply(box):
    imported(box, box.write("tab", "*/10 * * * * true\n"), "--user")
    box.spawn("-f", box.dir / "imported.yaml").wait_ready()
    task = box.json("list")[0]
    assert to_ms(task["next_at"]) % 600_000 == 0
