#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Programs on a machine with more CPUs than a cpu_set_t can hold."""
import os
import re
import unittest

from program import BIN, Test, run

MANY = {"GDRKIT_BACKEND": "emulated", "LD_PRELOAD": os.path.join(os.path.dirname(BIN), "tests", "bin", "libmany_cpus.so")}


class ManyCpus(Test):
    def test_all_cpus_are_counted(self):
        ended = run("gdrkit", "info", environment=MANY)
        self.assertEqual(ended.code, 0, ended.err)
        self.assertEqual(re.findall(r"(\d+) CPUs,", ended.out), [str(len(os.sched_getaffinity(0)) + 1)])


if __name__ == "__main__":
    unittest.main()
