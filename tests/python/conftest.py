# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Where the tests of the Python package run: on the emulated device, and those that are marked "gpu" on a GPU."""
import os

import pytest

# The tests run on the emulated device by default, and on a GPU with GDRKIT_BACKEND=auto, which CTest sets for gpu_test.py.
USES_GPU = os.environ.get("GDRKIT_BACKEND") == "auto"
if USES_GPU:
    del os.environ["GDRKIT_BACKEND"]
else:
    os.environ.setdefault("GDRKIT_BACKEND", "emulated")

import gdrkit  # noqa: E402: reads the environment


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a GPU, and PyTorch or CuPy")


def pytest_runtest_setup(item):
    if not item.get_closest_marker("gpu") or (USES_GPU and os.path.exists("/dev/nvidiactl")):
        return
    reason = "no GPU was found" if USES_GPU else "needs a GPU, and the tests run on the emulated device (GDRKIT_BACKEND=auto: on a GPU)"
    if "gpu" in os.environ.get("GDRKIT_REQUIRE", "").split(","):
        pytest.fail(f"required (GDRKIT_REQUIRE), but: {reason}")
    pytest.skip(reason)


@pytest.fixture
def context():
    opened = gdrkit.Context()
    yield opened
    opened.close()


@pytest.fixture
def buffer(context):
    allocated = context.allocate(256 * 1024)
    yield allocated
    allocated.free()


@pytest.fixture
def mapping(context, buffer):
    mapped = context.map(buffer)
    yield mapped
    mapped.close()
