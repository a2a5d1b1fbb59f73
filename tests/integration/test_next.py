# SPDX-License-Identifier: Apache-2.0
"""`pawl next` on the command line: its JSON, its refusals, and a sample of the table of cases."""
import csv
import json
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from harness import DATA, PAWL, ROOT, to_ms

CASES = next((path for path in [DATA / "cron.tsv", *sorted((ROOT / "tests").rglob("cron.tsv"))] if path.exists()), None)


def cases():
    if CASES is None:
        return []
    with CASES.open() as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def call(case):
    expression = case["expr"].replace("\\t", "\t").replace("\\s", " ").replace("<EMPTY>", "")
    args = ["next", expression, "--after", case["start_utc"], "-n", str(case["expected"].count(",") + 1)]
    if case["zone"] != "-":
        args += ["--zone", case["zone"]]
    if case["dialect"] in ("6-field", "7-field"):
        args += ["--seconds"]
    return args


def test_shape(box):
    answer = box.json("next", "30 2 * * *", "--zone", "Europe/Berlin", "--after", "2026-03-28T00:00:00Z", "-n", "5")
    assert answer["expression"] == "30 2 * * *" and answer["zone"] == "Europe/Berlin" and answer["complete"] is False
    assert answer["next"] == ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z", "2026-04-01T00:30:00Z"]


def test_complete(box):
    never = box.json("next", "0 0 30 2 *")
    assert never["next"] == [] and never["complete"] is True
    few = box.json("next", "0 0 0 1 1 ? 2031-2032", "--seconds", "--after", "2026-01-01T00:00:00Z", "-n", "5")
    assert few["next"] == ["2031-01-01T00:00:00Z", "2032-01-01T00:00:00Z"] and few["complete"] is True


@pytest.mark.parametrize("args", [["61 * * * *"], ["* * * *"], ["* * * * * *"], ["0 12 * * 2#6"], ["0 0 * * *", "--zone", "Mars/Olympus"], [""],
                                  ["@daily extra"], ["* * * * *", "--after", "yesterday"]])
def test_refusal(box, args):
    done = box.cli("next", *args)
    assert done.code == 2 and done.out == ""
    assert len(done.err.splitlines()) == 1, done.err


def test_refusal_names_the_column(box):
    assert "column 3" in box.refused("next", "0 99 * * *", code=2)
    assert "seconds" in box.refused("next", "0 0 2 * * *", code=2), "six fields: the message names --seconds"


def test_explain(box):
    text = box.ok("next", "*/7 * * * *", "--explain").out
    assert "uneven" in text or "7" in text
    assert "never" in box.ok("next", "0 0 30 2 *", "--explain").out
    answer = box.json("next", "30 2 * * *", "--zone", "Europe/Berlin", "--after", "2026-03-01T00:00:00Z", "--explain")
    assert "2026-03-29" in json.dumps(answer)


@pytest.mark.skipif(not cases(), reason="tests/data/cron.tsv is not there")
@pytest.mark.parametrize("case", cases()[::8], ids=lambda case: case["id"])
def test_table(box, case):
    done = box.cli(*call(case), "--json")
    expected = case["expected"]
    if expected.startswith("error: never") or (expected.startswith("error:") and "has no instants" in expected):
        assert done.code == 0, done.err
        assert json.loads(done.out)["next"] == [] and json.loads(done.out)["complete"] is True
    elif expected.startswith("error:"):
        assert done.code == 2
    else:
        assert done.code == 0, done.err
        answer = json.loads(done.out)["next"]
        assert answer == expected.split(",")


def next_of(expression, after, n, zone, tz="UTC"):
    done = subprocess.run([PAWL, "next", expression, "--seconds", "--after", after, "-n", str(n), "--zone", zone, "--json"],
                          capture_output=True, text=True, env={"TZ": tz, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def field(low, high):
    number = st.integers(low, high)
    return st.one_of(st.just("*"), number.map(str), st.tuples(number, number).map(lambda t: f"{t[0]}-{t[1]}"),
                     st.integers(1, high - low).map(lambda n: f"*/{n}"), st.lists(number, min_size=1, max_size=3).map(lambda l: ",".join(map(str, l))))


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(expression=st.tuples(field(0, 59), field(0, 59), field(0, 23), st.just("*"), field(1, 12), field(0, 6)).map(" ".join),
       zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"]),
       after=st.datetimes().filter(lambda d: 1975 < d.year < 2890).map(lambda d: d.strftime("%Y-%m-%dT%H:%M:%SZ")))
def test_properties(expression, zone, after):
    """Answers rise, a walk in steps equals the walk in one go, no fraction of a second, and TZ of the process changes nothing."""
    walk = next_of(expression, after, 3, zone)["next"]
    again = next_of(expression, after, 3, zone, tz="Asia/Kathmandu")["next"]
    assert walk == again
    at = [to_ms(text) for text in walk]
    assert all(b > a for a, b in zip([to_ms(after), *at], at)) and all(ms % 1000 == 0 for ms in at)
    if len(walk) == 3:
        assert next_of(expression, walk[0], 2, zone)["next"] == walk[1:]


@pytest.mark.parametrize("zone,day,minutes", [
    ("Europe/Berlin", "2026-03-29", 1380), ("Europe/Berlin", "2026-10-25", 1500), ("Australia/Lord_Howe", "2026-10-04", 1410),
    ("Australia/Lord_Howe", "2026-04-05", 1470)])
def test_minutes_of_a_day_of_change(box, zone, day, minutes):
    import datetime
    import zoneinfo
    start = datetime.datetime.fromisoformat(day).replace(tzinfo=zoneinfo.ZoneInfo(zone))
    end = (start + datetime.timedelta(days=1)).astimezone(datetime.timezone.utc)
    first = start.astimezone(datetime.timezone.utc) - datetime.timedelta(seconds=1)
    answer = box.json("next", "* * * * *", "--zone", zone, "--after", first.strftime("%Y-%m-%dT%H:%M:%SZ"), "-n", "1600")["next"]
    assert sum(to_ms(text) < end.timestamp() * 1000 for text in answer) == minutes


def test_hash_spreads_and_stays(box):
    once = box.json("next", "H * * * *", "-n", "3")["next"]
    assert once == box.json("next", "H * * * *", "-n", "3", env={"TZ": "Asia/Tokyo"})["next"]


def test_table_for_people(box):
    text = box.ok("next", "0 12 * * mon", "--zone", "Europe/Berlin", "-n", "2").out
    assert len(text.splitlines()) >= 2
