# SPDX-License-Identifier: Apache-2.0
"""Files that are wrong are refused with the place, the reason and the way out; nothing of them is applied."""
import pytest

# name: (text, words of the message)
WRONG = {
    "unknown key": ("tasks: {a: {noop: {}, timeot: 5s}}", ["timeot", "timeout"]),
    "unknown key of a trigger": ("tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlp: skip}}}}", ["overlp", "overlap"]),
    "unknown top key": ("task: {a: {noop: {}}}", ["task", "tasks"]),
    "wrong type": ("tasks: {a: {noop: {}, slots: many}}", ["slots"]),
    "a list instead of a mapping": ("tasks: [a, b]", ["tasks"]),
    "text for exec": ("tasks: {a: {exec: 'ls -l'}}", ["shell"]),
    "no work": ("tasks: {a: {timeout: 5s}}", ["exec"]),
    "two kinds of work": ("tasks: {a: {noop: {}, shell: ls}}", ["noop", "shell"]),
    "two timings": ("tasks: {a: {noop: {}, triggers: {t: {every: 1s, cron: '@daily'}}}}", ["every", "cron"]),
    "no timing": ("tasks: {a: {noop: {}, triggers: {t: {overlap: skip}}}}", ["cron", "every"]),
    "duplicate task": ("tasks:\n  a: {noop: {}}\n  a: {noop: {}}\n", ["a", ":3"]),
    "duplicate key": ("tasks:\n  a:\n    noop: {}\n    timeout: 1s\n    timeout: 2s\n", ["timeout", ":5"]),
    "missing pool": ("pools: {disk: {slots: 1}}\ntasks: {a: {noop: {}, pool: dsk}}", ["dsk", "disk"]),
    "impossible date": ("tasks: {a: {noop: {}, triggers: {t: {at: '2027-02-30T00:00:00Z'}}}}", ["2027-02-30"]),
    "no zone in an instant": ("tasks: {a: {noop: {}, triggers: {t: {at: '2027-02-03T00:00:00'}}}}", ["zone"]),
    "bad cron": ("tasks: {a: {noop: {}, triggers: {t: {cron: '61 * * * *'}}}}", ["61"]),
    "six fields": ("tasks: {a: {noop: {}, triggers: {t: {cron: '0 0 2 * * *'}}}}", ["seconds"]),
    "bad zone": ("tasks: {a: {noop: {}, triggers: {t: {cron: '@daily', zone: Europe/Berlni}}}}", ["Europe/Berlin"]),
    "bad duration": ("tasks: {a: {noop: {}, timeout: '5 minutes'}}", ["timeout"]),
    "zero interval": ("tasks: {a: {noop: {}, triggers: {t: {every: 0s}}}}", ["every"]),
    "jitter as long as the gap": ("tasks: {a: {noop: {}, triggers: {t: {every: 1m, jitter: 1m}}}}", ["jitter"]),
    "priority": ("tasks: {a: {noop: {}, priority: 5000}}", ["priority", "1000"]),
    "slots": ("tasks: {a: {noop: {}, slots: 0}}", ["slots"]),
    "bad name": ("tasks: {'a b': {noop: {}}}", ["a b"]),
    "slash in a name": ("tasks: {'a/b': {noop: {}}}", ["a/b"]),
    "an unquoted star": ("tasks:\n  a:\n    noop: {}\n    triggers: {t: {cron: * * * * *}}\n", ["quote"]),
    "an unquoted star in a block": ("tasks:\n  a:\n    noop: {}\n    triggers:\n      t:\n        cron: */5 * * * *\n", ["quote", ":6"]),
    "an unquoted nickname": ("tasks:\n  a:\n    noop: {}\n    triggers: {t: {cron: @daily}}\n", ["quote"]),
    "the comma trap": ("tasks:\n  a:\n    noop: {}\n    triggers: {t: {cron: 0,30 2 * * *}}\n", ["quote"]),
    "a tab": ("tasks:\n\ta: {noop: {}}\n", [":2"]),
    "not closed": ("tasks: {a: {noop: {}}", []),
    "two documents": ("tasks: {a: {noop: {}}}\n---\ntasks: {}\n", ["document"]),
    "a merge key": ("x: &x {noop: {}}\ntasks: {a: {<<: *x}}", []),
    "a tag": ("tasks: {a: !!python/object:os.system {noop: {}}}", []),
    "a NUL": ('tasks: {a: {shell: "a\\0b"}}', ["NUL"]),
    "relative cwd": ("tasks: {a: {shell: ls, cwd: work}}", ["cwd"]),
    "pawl's own variable": ("tasks: {a: {shell: ls, env: {PAWL_RUN_ID: x}}}", ["PAWL_"]),
    "bad retry": ("tasks: {a: {shell: ls, retry: {attempts: 0}}}", ["attempts"]),
    "bad when": ("tasks: {a: {shell: ls, retry: {when: [sometimes]}}}", ["sometimes"]),
    "bad overlap": ("tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: maybe}}}}", ["overlap"]),
    "window turned round": ("tasks: {a: {noop: {}, triggers: {t: {every: 1s, from: '2027-01-02T00:00:00Z', until: '2027-01-01T00:00:00Z'}}}}", ["until"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(box, name):
    text, words = WRONG[name]
    path = box.write("bad.yaml", text)
    done = box.cli("validate", "-f", path)
    said = done.out + done.err
    assert done.code not in (0, -6, -11, 134, 139), f"accepted, or crashed: {done}"
    assert "bad.yaml:" in said, said
    for word in words:
        assert word in said, f"'{word}' is not in: {said}"


@pytest.mark.parametrize("name", ["unknown key", "the comma trap"])
def test_up_and_apply_refuse_alike(box, name):
    path = box.write("bad.yaml", WRONG[name][0])
    assert box.cli("up", "-f", path).code in (2, 78)
    box.up("tasks: {ok: {noop: {}}}")
    assert box.cli("apply", "-f", path).code in (2, 78)
    assert {row["task"] for row in box.json("list")} == {"ok"}


def test_a_huge_file(box):
    lines = ["tasks:"] + [f"  t{i}: {{shell: 'echo {'x' * 100}', triggers: {{d: {{cron: '0 0 * * *'}}}}}}" for i in range(70000)]
    path = box.write("huge.yaml", "\n".join(lines))
    assert path.stat().st_size > 10_000_000
    done = box.cli("validate", "-f", path, timeout_s=10)
    assert done.code not in (0, -9, -6, -11) and "huge.yaml" in done.out + done.err


def test_a_long_file_is_fine(box):
    lines = ["tasks:"] + [f"  t{i}: {{noop: {{}}, triggers: {{d: {{cron: '0 0 * * *'}}}}}}" for i in range(2000)]
    path = box.write("long.yaml", "\n".join(lines))
    done = box.cli("validate", "-f", path)
    assert done.code == 0, done.err


def test_alias_bomb(box):
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    text += "".join(f"a{i}: &a{i} [{', '.join(f'*a{i - 1}' for _ in range(10))}]\n" for i in range(1, 10))
    path = box.write("bomb.yaml", text + "tasks: {a: {exec: *a9}}\n")
    done = box.cli("validate", "-f", path, timeout_s=10)
    assert done.code not in (0, -9, -6, -11) and "bomb.yaml" in done.out + done.err


def test_deep_nesting(box):
    path = box.write("deep.yaml", "tasks: " + "[" * 20000 + "]" * 20000)
    done = box.cli("validate", "-f", path, timeout_s=10)
    assert done.code not in (0, -9, -6, -11)


@pytest.mark.parametrize("data", [b"tasks: {a: {shell: '\xff\xfe'}}", b"tasks: {a: {shell: '\xc3('}}", b"\x00\x01\x02", b"tasks: {a: {shell: '\xed\xa0\x80'}}"])
def test_invalid_utf8(box, data):
    path = box.write("bad.yaml", data)
    done = box.cli("validate", "-f", path)
    assert done.code not in (0, -6, -11) and "bad.yaml" in done.out + done.err


def test_an_empty_file(box):
    for text in ("", "# nothing\n", "tasks: {}\n"):
        assert box.cli("validate", "-f", box.write("empty.yaml", text)).code in (0, 2, 78)


def test_every_problem_is_named_at_once(box):
    path = box.write("bad.yaml", "tasks:\n  a: {noop: {}, timeot: 5s}\n  b: {noop: {}, slots: many}\n  c: {exec: []}\n")
    done = box.cli("validate", "-f", path)
    for line in (2, 3, 4):
        assert f"bad.yaml:{line}" in done.out + done.err


def test_what_never_fires_is_a_warning(box):
    path = box.write("warn.yaml", "tasks: {a: {noop: {}, triggers: {t: {cron: '0 0 30 2 *'}}}}")
    done = box.cli("validate", "-f", path)
    assert done.code == 0 and "never" in done.out + done.err
    box.up("tasks: {a: {noop: {}, triggers: {t: {cron: '0 0 30 2 *'}}}}")
    assert "exhausted" in box.ok("list").out


def test_no_timeout_is_a_warning(box):
    path = box.write("warn.yaml", "tasks: {a: {shell: 'true', triggers: {t: {every: 1m}}}}")
    done = box.cli("validate", "-f", path)
    assert done.code == 0 and "timeout" in done.out + done.err


def test_secrets_are_not_shown_in_errors(box):
    path = box.write("bad.yaml", "tasks: {a: {shell: ls, env: {TOKEN: {value: hunter2hunter2}}}}")
    done = box.cli("validate", "-f", path)
    assert done.code != 0 and "hunter2" not in done.out + done.err


def test_json_errors(box):
    import json
    path = box.write("bad.yaml", WRONG["unknown key"][0])
    answer = json.loads(box.cli("validate", "-f", path, "--json").out)
    issue = answer["issues"][0]
    assert answer["valid"] is False and issue["severity"] == "error" and issue["line"] == 1 and "timeot" in issue["path"] + issue["message"]


def test_numbers_as_words_of_yaml_1_2(box):
    """`on` and `yes` are words, not booleans: YAML 1.2."""
    box.up("tasks: {on: {shell: 'echo $V', env: {V: yes}}}")
    run = box.start_run("on")
    box.wait_state(run, "succeeded")
    assert box.ok("logs", run).out.strip() == "yes"
