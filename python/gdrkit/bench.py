# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""What a small call costs from Python, and what the same call of the C API takes in the same process.

Nanoseconds for each call, median of 21 rounds that take turns. "C" calls gdrkit_write and gdrkit_read in a loop of C, so the
difference is Python's, the interpreter's loop included.
"""
from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable

import gdrkit
from gdrkit import _core

ROUNDS, CALLS = 21, 2000


def measure_python(call: Callable[[], object]) -> float:
    """Nanoseconds of one call, made from a loop of Python."""
    clock = time.perf_counter_ns
    start = clock()
    for _ in range(CALLS):
        call()
    return (clock() - start) / CALLS


def measure() -> list[tuple[str, float, float | None]]:
    """(what, nanoseconds from Python, nanoseconds from C) of each call."""
    buffer = gdrkit.allocate(64 * 1024)
    mapping = gdrkit.map(buffer)
    mapping.write(0, bytes(64 * 1024))
    data = {size: bytes(size) for size in (8, 1024, 4096)}
    target = bytearray(4096)
    write, read, read_into = mapping.write, mapping.read, mapping.read_into
    store_flag, load_flag, wait_flag = mapping.store_flag, mapping.load_flag, mapping.wait_flag
    load_flag(0)
    cases: list[tuple[str, Callable[[], object], Callable[[], float] | None]] = [
        ("nothing: the loop itself", lambda: None, None),
        ("write 8", lambda: write(0, data[8]), lambda: _core.time_write(mapping, 8, CALLS)),
        ("write 1024", lambda: write(0, data[1024]), lambda: _core.time_write(mapping, 1024, CALLS)),
        ("write 4096", lambda: write(0, data[4096]), lambda: _core.time_write(mapping, 4096, CALLS)),
        ("store_flag", lambda: store_flag(64, 1), lambda: _core.time_write(mapping, 4, CALLS)),
        ("read 8", lambda: read(0, 8), lambda: _core.time_read(mapping, 8, CALLS)),
        ("read_into 4096", lambda: read_into(0, target), lambda: _core.time_read(mapping, 4096, CALLS)),
        ("load_flag", lambda: load_flag(0), lambda: _core.time_read(mapping, 4, CALLS)),
        ("wait_flag that holds", lambda: wait_flag(0, 0), lambda: _core.time_read(mapping, 4, CALLS)),
    ]
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name, _, _ in cases}
    for _ in range(ROUNDS):
        for name, from_python, from_c in cases:
            if name == "wait_flag that holds":
                store_flag(0, 0)
            times[name][0].append(measure_python(from_python))
            if from_c:
                times[name][1].append(from_c())
    mapping.close()
    return [(name, statistics.median(python), statistics.median(c) if c else None) for name, (python, c) in times.items()]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m gdrkit.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="write one JSON document instead of the table")
    options = parser.parse_args()
    info = gdrkit.context().info
    results = measure()
    if options.json:
        calls = [{"call": name, "python_ns": python, "c_ns": c} for name, python, c in results]
        print(json.dumps({"backend": info.backend, "python": sys.version.split()[0], "rounds": ROUNDS, "calls": calls}))
        return 0
    print(f"backend {info.backend}, Python {sys.version.split()[0]}, gdrkit {gdrkit.__version__}; ns, median of {ROUNDS} rounds")
    if info.is_emulated:
        print("the device is emulated: its figures do not describe a GPU")
    print(f"{'call':<28}{'Python':>10}{'C':>10}{'Python adds':>14}")
    for name, python, c in results:
        print(f"{name:<28}{python:>10.0f}" + (f"{c:>10.0f}{python - c:>14.0f}" if c is not None else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
