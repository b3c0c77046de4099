#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The registers that GPU kernels with one operation need, with and without relocatable device code: at most 8 more than with NVSHMEM
3.8.0, where nvcc 13.0 counts 32 for compute capability 9.0 and relocatable device code, and 50 to 58 for barriers. Each can be launched
with blocks of 1024 threads, which leave 64 registers to a thread. Collectives can be with relocatable device code, as NVSHMEM's programs
are compiled; otherwise they need launch bounds."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "..", "..", "include")
NVCC = os.environ.get("GDRKIT_NVCC", "")
SOURCE = os.path.join(HERE, "registers.cu")
LIMIT = 32 + 8
BARRIER_LIMIT = 50 + 8
COLLECTIVES = ("broadcast", "fcollect", "alltoall", "reduce", "tile")


def registers(report):
    """{operation: registers} of what ptxas or nvlink prints."""
    found = re.findall(r"'_Z\d+use_(\w+?)PfPKfPmmi'(?:(?!'_Z\d+use_)[\s\S])*?[Uu]sed (\d+) registers", report)
    return {name: int(count) for name, count in found}


class Registers(unittest.TestCase):
    def counts(self, bounds, *steps):
        """Compiles by these steps; returns the counts that the last one prints."""
        with tempfile.TemporaryDirectory() as directory:
            for number, (words, inputs) in enumerate(steps):
                inputs = inputs or [os.path.join(directory, f"{number - 1}.o")]
                command = [NVCC, "-arch=sm_90", "-O3", "-std=c++17", f"-DBOUNDS={bounds}", "-I" + INCLUDE, "-I" + os.path.join(INCLUDE, "gdrkit", "compat")]
                ended = subprocess.run([*command, *words, *inputs, "-o", os.path.join(directory, f"{number}.o")],
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                self.assertEqual(ended.returncode, 0, ended.stdout[:2000])
        found = registers(ended.stdout)
        with open(SOURCE, encoding="ascii") as file:
            self.assertEqual(sorted(found), sorted(re.findall(r"(?m)^OPERATION\((\w+)", file.read())))
        return found

    def check(self, collective_limit, *steps):
        def limit(name):
            if name.startswith(COLLECTIVES):
                return collective_limit
            return BARRIER_LIMIT if name.startswith(("barrier", "sync")) else LIMIT

        over = {name: count for name, count in self.counts("", *steps).items() if count > limit(name)}
        self.assertEqual(over, {})
        self.assertLessEqual(max(self.counts("__launch_bounds__(1024)", *steps).values()), 64)

    def test_links_as_a_whole_program(self):
        self.check(80, (["-c", "-Xptxas", "-v"], [SOURCE]))

    def test_links_relocatable_device_code(self):
        self.check(64, (["-dc"], [SOURCE]), (["-dlink", "-Xnvlink", "-v"], []))


if __name__ == "__main__":
    if not os.access(NVCC, os.X_OK):
        print("no nvcc: registers are not counted")
        sys.exit(77)
    unittest.main()
