# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Flags: types, ranges, alignment, waits with limits, threads and Ctrl-C."""
import errno
import os
import signal
import struct
import subprocess
import sys
import threading
import time

import gdrkit
import pytest

TYPES = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
         "float32": "f", "float64": "d"}


def limits(dtype):
    if dtype.startswith("float"):
        return [-0.5, 1e30, float("inf")]
    bits = int(dtype.lstrip("uint"))
    return [0, 2**bits - 1] if dtype.startswith("u") else [-2**(bits - 1), -1, 2**(bits - 1) - 1]


@pytest.mark.parametrize("dtype", TYPES)
def test_flag_holds_a_number_of_its_type(mapping, buffer, dtype):
    for value in limits(dtype):
        mapping.store_flag(64, value, dtype)
        stored = struct.pack(TYPES[dtype], value)
        assert buffer.copy_to_host(64, len(stored)) == stored
        assert mapping.load_flag(64, dtype) == struct.unpack(TYPES[dtype], stored)[0]
        assert mapping.wait_flag(64, value, 1, dtype) == struct.unpack(TYPES[dtype], stored)[0]


@pytest.mark.parametrize("dtype", [dtype for dtype in TYPES if not dtype.startswith("float")])
def test_rejects_a_value_out_of_range(mapping, buffer, dtype):
    buffer.copy_from_host(64, b"previous")
    for value in (limits(dtype)[0] - 1, limits(dtype)[-1] + 1, 1 << 70):
        with pytest.raises(OverflowError, match=dtype):
            mapping.store_flag(64, value, dtype)
    with pytest.raises(TypeError):
        mapping.store_flag(64, 1.5, dtype)
    assert buffer.copy_to_host(64, 8) == b"previous"


def test_accepts_numpy_type_names(mapping, buffer):
    numpy = pytest.importorskip("numpy")
    for dtype in (numpy.int16, numpy.dtype("int16")):
        mapping.store_flag(64, numpy.int16(-2), dtype)
        assert buffer.copy_to_host(64, 2) == struct.pack("h", -2)


@pytest.mark.parametrize("dtype", ["int128", "float16", "text", None, 7])
def test_rejects_other_types(mapping, dtype):
    with pytest.raises(TypeError):
        mapping.store_flag(64, 1, dtype)


@pytest.mark.parametrize("dtype", [dtype for dtype in TYPES if not dtype.endswith("int8")])
def test_rejects_an_unaligned_flag(mapping, dtype):
    for call in (lambda: mapping.store_flag(65, 1, dtype), lambda: mapping.load_flag(65, dtype),
                 lambda: mapping.wait_flag(65, 1, 1, dtype)):
        with pytest.raises(gdrkit.Error, match="its address is not a multiple of") as caught:
            call()
        assert caught.value.errno == errno.EINVAL


@pytest.mark.parametrize("comparison, value, holds", [
    ("==", 5, True), ("==", 4, False), ("!=", 4, True), ("!=", 5, False), (">=", 5, True), (">=", 6, False),
    (">", 4, True), (">", 5, False), ("<=", 5, True), ("<=", 4, False), ("<", 6, True), ("<", 5, False)])
def test_wait_applies_the_comparison(mapping, comparison, value, holds):
    mapping.store_flag(0, 5)
    if holds:
        assert mapping.wait_flag(0, value, 0, comparison=comparison) == 5
    else:
        with pytest.raises(gdrkit.Timeout):
            mapping.wait_flag(0, value, 0, comparison=comparison)


def test_signed_flags_compare_as_signed(mapping):
    mapping.store_flag(0, -5, "int32")
    assert mapping.wait_flag(0, 0, 0, "int32", "<") == -5
    with pytest.raises(gdrkit.Timeout):
        mapping.wait_flag(0, 0, 0, "uint32", "<")


def test_rejects_an_unknown_comparison(mapping):
    with pytest.raises(ValueError, match="'=>'"):
        mapping.wait_flag(0, 1, comparison="=>")


def test_wait_times_out_and_returns_the_last_value(mapping):
    mapping.store_flag(128, 7)
    start = time.monotonic()
    with pytest.raises(gdrkit.Timeout, match="offset 128 did not satisfy == 8 within 0.1 s: its value is 7") as caught:
        mapping.wait_flag(128, 8, timeout=0.1)
    assert 0.1 <= time.monotonic() - start < 5
    assert isinstance(caught.value, gdrkit.Error) and isinstance(caught.value, TimeoutError)
    assert caught.value.errno == errno.ETIMEDOUT


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_rejects_an_invalid_timeout(mapping, timeout):
    with pytest.raises(ValueError, match="timeout"):
        mapping.wait_flag(0, 1, timeout)


def test_wait_releases_the_gil_and_reads_new_data(mapping):
    """Ping-pong: neither side would go on if a wait kept the GIL."""
    mapping.write(0, bytes(256))
    seen = []

    def consume():
        for turn in range(1, 101):
            mapping.wait_flag(0, turn, timeout=30)
            seen.append(mapping.read(64, 8) == struct.pack("Q", turn * 3))
            mapping.store_flag(128, turn)

    thread = threading.Thread(target=consume)
    thread.start()
    for turn in range(1, 101):
        mapping.write(64, struct.pack("Q", turn * 3))
        mapping.store_flag(0, turn)
        mapping.wait_flag(128, turn, timeout=30)
    thread.join()
    assert seen == [True] * 100


def test_rejects_close_during_a_wait(mapping):
    mapping.store_flag(0, 0)
    thread = threading.Thread(target=lambda: mapping.wait_flag(0, 1, timeout=30))
    thread.start()
    deadline = time.monotonic() + 30
    refused = False
    while not refused and time.monotonic() < deadline and thread.is_alive():
        probe = memoryview(mapping)  # so that close() is refused before the wait has begun, too
        with pytest.raises(BufferError) as caught:
            mapping.close()
        refused = "number of uses: 2)" in str(caught.value)
        probe.release()
    assert refused, "the wait counts as a use"
    mapping.store_flag(0, 1)
    thread.join()
    mapping.close()


def test_control_c_ends_a_wait():
    program = """
import signal
import gdrkit
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have their background jobs ignore it
mapping = gdrkit.map(gdrkit.allocate(4096))
mapping.store_flag(0, 0)
try:
    print("waiting", flush=True)
    mapping.wait_flag(0, 1, timeout=60)
except KeyboardInterrupt:
    mapping.close()
    print("interrupted", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as child:
        assert child.stdout.readline() == "waiting\n"
        child.send_signal(signal.SIGINT)
        assert child.communicate()[0] == "interrupted\n"
        assert child.returncode == 0
