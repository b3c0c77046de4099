#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The examples in the comments of the public headers, between @code{.c}, {.cpp} or {.cu} and @endcode, compile without warnings."""
import glob
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = os.path.join(ROOT, "include")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-I" + INCLUDE]
EXAMPLE = re.compile(r"@code(?:\{\.(\w+)\})?\n(.*?)@endcode", re.S)


def examples(kind):
    """[(header:line, text)]. Public headers are those outside detail/ and compat/."""
    found = []
    for path in sorted(glob.glob(INCLUDE + "/gdrkit/*.*")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for match in EXAMPLE.finditer(text):
            line = text[:match.start()].count("\n") + 1
            if match.group(1) == kind:
                found.append((f"{os.path.basename(path)}:{line}", re.sub(r"(?m)^\s*(///|\*) ?", "", match.group(2))))
    return found


def run(words, source):
    return subprocess.run(words, input=source, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


class Examples(unittest.TestCase):
    def check(self, kind, words):
        found = examples(kind)
        self.assertTrue(found)
        for place, text in found:
            with self.subTest(place):
                ended = run([*words, "-"], text)
                self.assertEqual(ended.returncode, 0, text + ended.stdout[:2000])

    def test_in_c(self):
        self.check("c", [*os.environ.get("CC", "cc").split(), "-std=c99", "-x", "c", "-fsyntax-only", *WARNINGS])

    def test_in_cxx(self):
        self.check("cpp", [*os.environ.get("CXX", "c++").split(), "-std=c++20", "-x", "c++", "-fsyntax-only", *WARNINGS])

    def test_every_example_has_a_language(self):
        for path in glob.glob(INCLUDE + "/gdrkit/*.*"):
            with open(path, encoding="utf-8") as file:
                languages = [match.group(1) for match in EXAMPLE.finditer(file.read())]
            self.assertLessEqual(set(languages), {"c", "cpp", "cu"}, path)


class GpuExamples(unittest.TestCase):
    def test_in_cuda(self):
        nvcc = os.environ.get("GDRKIT_NVCC", "")
        if not os.access(nvcc, os.X_OK):
            self.skipTest("no nvcc here")
        found = examples("cu")
        self.assertTrue(found)
        for place, text in found:
            with self.subTest(place):
                # Each is a translation unit of its own: nvcc keeps unused __device__ functions only with -rdc=true.
                ended = run([nvcc, "-std=c++17", "-arch=compute_75", "-rdc=true", "-dc", "-I" + INCLUDE, "-x", "cu", "-o", os.devnull, "-"], text)
                self.assertEqual(ended.returncode, 0, text + ended.stdout[:2000])


if __name__ == "__main__":
    program = unittest.main(exit=False)
    if program.result.skipped and len(program.result.skipped) == program.result.testsRun:
        print(program.result.skipped[0][1])
        sys.exit(77)
    sys.exit(0 if program.result.wasSuccessful() else 1)
