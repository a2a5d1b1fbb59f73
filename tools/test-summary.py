#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up what the suites left in one or more folders and prints the totals.

A suite NAME leaves NAME.status (its exit status) and one of NAME.meson.json (Meson's test log: the TAP lines of each test are
counted), NAME.xml (JUnit, from pytest) and NAME.tap. A suite that failed without a failing test, one that left nothing and one that
executed nothing count as one failure each. The last line is "N passed, N failed, N skipped"; exit status 1 when anything failed.
"""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

TAP_LINE = re.compile(r"^(not )?ok\b(.*)$")
MESON_GOOD = {"OK", "SKIP", "EXPECTEDFAIL"}


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.bad = []

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.bad += other.bad

    def fail(self, name):
        self.failed += 1
        self.bad.append(name)

    def executed(self):
        return self.passed + self.failed

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def count_tap(text, name):
    count = Count()
    for line in text.splitlines():
        match = TAP_LINE.match(line)
        if not match:
            continue
        if match.group(1) and "# TODO" not in line:
            count.fail(f"{name}: {match.group(2).strip()}")
        elif re.search(r"#\s*skip", line, re.IGNORECASE):
            count.skipped += 1
        else:
            count.passed += 1
    return count


def count_meson(path):
    total = Count()
    for line in path.read_text(errors="replace").splitlines():
        test = json.loads(line)
        count = count_tap(test.get("stdout") or "", test["name"])
        if count.executed() + count.skipped == 0:
            if test["result"] == "SKIP":
                count.skipped = 1
            elif test["result"] in MESON_GOOD:
                count.passed = 1
        if test["result"] not in MESON_GOOD and count.failed == 0:
            count.fail(f"{test['name']}: {test['result']}, exit status {test.get('returncode')}")
        total.add(count)
    return total


def count_junit(path):
    count = Count()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            count.fail(f"{case.get('classname', '').rsplit('.', 1)[-1]}::{case.get('name')}")
        elif "skipped" in kinds:
            count.skipped += 1
        else:
            count.passed += 1
    return count


def count_suite(base):
    name = base.name
    readers = ((".meson.json", count_meson), (".xml", count_junit), (".tap", lambda p: count_tap(p.read_text(errors="replace"), name)))
    status = base.with_name(name + ".status").read_text().strip()
    count = Count()
    for suffix, reader in readers:
        path = base.with_name(name + suffix)
        if path.exists():
            count = reader(path)
    if count.failed == 0 and status != "0":
        count.fail(f"{name}: the suite ended with status {status}")
    elif count.executed() == 0:
        count.fail(f"{name}: no test was executed")
    return count


def main(folders):
    total, rows = Count(), []
    for folder in folders:
        for status in sorted(pathlib.Path(folder).glob("*.status")):
            base = status.with_name(status.name[: -len(".status")])
            count = count_suite(base)
            rows.append((base.name, count))
            total.add(count)
    if not rows:
        total.fail("no suite was run")
    if total.bad:
        print("\nfailed:")
        for name in total.bad:
            print(f"  {name}")
    print()
    for name, count in rows:
        print(f"{name:<20} {count}")
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
