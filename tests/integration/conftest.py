# SPDX-License-Identifier: Apache-2.0
import pytest

import harness

pytest_plugins = ["sqltools"]


def pytest_configure(config):
    if not harness.PAWL.exists():
        raise pytest.UsageError(f"{harness.PAWL} is not there: call 'make check', or set PAWL_BUILD to a build folder")
    harness.beat_binary()


@pytest.fixture
def box(tmp_path):
    box = harness.Box(tmp_path)
    yield box
    box.close()


@pytest.fixture(scope="session")
def has_faults():
    """Skips where the fault points are not compiled in."""
    if b"PAWL_FAULT_CLOCK" not in harness.PAWL.read_bytes():
        pytest.skip("built without -Dfaults=true")
