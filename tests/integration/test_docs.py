# SPDX-License-Identifier: Apache-2.0
"""What the documents and examples say is what the program does."""
import re

import pytest

from harness import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_valid(box, path):
    done = box.cli("validate", "-f", path)
    assert done.code == 0, done.err


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_shown_are_valid(box, page):
    for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        if "tasks:" in block and "NAME" not in block:
            done = box.cli("validate", "-f", "-", input=block)
            assert done.code == 0, f"{block}\n{done.err}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_verbs_and_options_exist(box, page):
    verbs = set(re.findall(r"^  ([a-z]+) ", box.ok("help").out, re.MULTILINE)) | {"jobs"}
    helps = {}
    for verb, rest in re.findall(r"(?:^|[`/ ])pawl ([a-z]+)\b([^`\n|#]*)", page.read_text(), re.MULTILINE):
        if verb in verbs:
            text = helps.setdefault(verb, box.ok(verb, "--help").out)
            for option in re.findall(r"(?<![\w-])--[a-z-]+", rest):
                assert option in text or option == "--json", f"pawl {verb} has no {option}"
        else:
            # prose such as "pawl is" or "pawl runs it": only what looks like a command is held to exist
            assert not re.match(r" +(-|[A-Z]{3})", rest), f"there is no pawl {verb}"


def test_every_key_of_a_file_is_documented(box):
    page = (ROOT / "docs/guide/files.md").read_text()
    box.up("tasks: {a: {shell: 'true', triggers: {c: {cron: '@daily'}, e: {every: 1h}}}}")
    task = box.json("show", "a")
    keys = set(task["spec"]) | {key for trigger in task["triggers"] for key in trigger["spec"]} | set(task["spec"]["retry"])
    for key in keys:
        assert re.search(rf"`{key}`|`{key}:|{key}:", page), f"{key} is not in files.md"
