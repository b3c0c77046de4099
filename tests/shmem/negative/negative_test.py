#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Misuse of gdrkit/shmem.hpp does not compile. A snippet names a part of the expected message in a line `// error: `; control.cpp has none
and compiles."""
import concurrent.futures
import glob
import os
import re
import subprocess
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "..", "..", "include")
COMPILER = os.environ.get("CXX", "c++").split()


def compile_snippet(path):
    return subprocess.run([*COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I" + INCLUDE, path],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


class NegativeTest(unittest.TestCase):
    def test_misuse_does_not_compile(self):
        paths = sorted(glob.glob(os.path.join(HERE, "*.cpp")))
        self.assertGreater(len(paths), 15)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(compile_snippet, paths))
        for path, ended in zip(paths, results):
            with open(path, encoding="utf-8") as file:
                expected = re.search(r"(?m)^// error: (.*)$", file.read())
            with self.subTest(os.path.basename(path)):
                if expected:
                    self.assertNotEqual(ended.returncode, 0, "it compiles")
                    errors = "\n".join(line for line in ended.stdout.splitlines() if "error:" in line)
                    self.assertIn(expected.group(1), errors, ended.stdout[:3000])
                else:
                    self.assertEqual(ended.returncode, 0, ended.stdout[:3000])

    def test_the_control_has_no_expected_error(self):
        with open(os.path.join(HERE, "control.cpp"), encoding="utf-8") as file:
            self.assertNotIn("// error: ", file.read())


if __name__ == "__main__":
    unittest.main()
