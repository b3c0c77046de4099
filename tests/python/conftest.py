# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Where the tests of the Python package run: on the emulated device, and those that are marked "gpu" on a GPU."""
import os

import pytest

# Without a choice of the caller's the tests are emulated; GDRKIT_BACKEND=auto lets them run on a GPU.
WANTS_GPU = os.environ.get("GDRKIT_BACKEND") == "auto"
if WANTS_GPU:
    del os.environ["GDRKIT_BACKEND"]
else:
    os.environ.setdefault("GDRKIT_BACKEND", "emulated")

import gdrkit  # noqa: E402: reads the environment


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a GPU, and PyTorch or CuPy")


def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu") and not WANTS_GPU:
        if "gpu" in os.environ.get("GDRKIT_REQUIRE", "").split(","):
            pytest.fail("GDRKIT_REQUIRE names gpu, and the tests run emulated: set GDRKIT_BACKEND=auto")
        pytest.skip("needs a GPU; the tests run on the emulated device (GDRKIT_BACKEND=auto: on a GPU)")


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
