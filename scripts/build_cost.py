#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""CPU time of a build by product. As a compiler launcher it runs a command and logs its CPU time; with a log
alone it prints the sums:
  cmake --preset release -DGDRKIT_UNITY=ON "-DCMAKE_CXX_COMPILER_LAUNCHER=python3;$PWD/scripts/build_cost.py;/tmp/cost.log"
  ninja -C build && python3 scripts/build_cost.py /tmp/cost.log
"""
import collections
import os
import resource
import subprocess
import sys


def run(log, command):
    status = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = command[command.index("-o") + 1] if "-o" in command[:-1] else "?"
    # One write to a file opened for appending: compilers that finish at the same time do not mix their lines.
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(descriptor, f"{used.ru_utime + used.ru_stime:.2f} {output}\n".encode())
    os.close(descriptor)
    return status if status >= 0 else 128 - status


def summarise(log):
    seconds, units = collections.Counter(), collections.Counter()
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            used, output = line.split(maxsplit=1)
            product = output.split("/")[0]
            seconds[product] += float(used)
            units[product] += 1
    for product, used in seconds.most_common():
        print(f"{product:<12} {units[product]:5d} units {used:8.1f} s")
    print(f"{'all':<12} {sum(units.values()):5d} units {sum(seconds.values()):8.1f} s")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(run(sys.argv[1], sys.argv[2:]) if len(sys.argv) > 2 else summarise(sys.argv[1]))
