#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""scripts/compiler_table.py on a small tree: what it counts, and that the build's compiler options hide nothing."""
import contextlib
import io
import json
import os
import sys
import unittest
from unittest import mock

from cases import DirectoryTest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import compiler_table  # noqa: E402 pylint: disable=wrong-import-position

CXX = os.environ.get("CXX", "c++")


class Table(DirectoryTest):
    def setUp(self):
        self.build = self.path("build")
        self.commands = []

    def add(self, path, text, flags=""):
        path = self.write(path, text)
        self.commands.append({"directory": self.build, "file": path, "command": f"{CXX} -I{self.directory} {flags} -std=c++20 -o x.o -c {path}"})

    def rows(self, *options):
        """Returns the cells of the table without the compiler and the times, and the exit code."""
        self.write("build/compile_commands.json", json.dumps(self.commands))
        out = io.StringIO()
        with mock.patch.object(compiler_table, "ROOT", self.directory), contextlib.redirect_stdout(out), \
                mock.patch.object(sys, "argv", ["x", "--build", self.build, "--compiler", CXX, "--jobs", "1", *options]), \
                self.assertRaises(SystemExit) as ended:
            compiler_table.main()
        lines = [line for line in out.getvalue().splitlines() if line.startswith(f"| {CXX} |")]
        return [line.split(" | ")[2:6] for line in lines], ended.exception.code

    def test_counts_each_warning_and_error_once_per_part(self):
        self.write("lib/twice.hpp", "inline int narrow(long value) { return value; }\n")
        for name in "ab":
            self.add(f"lib/{name}.cpp", '#include "lib/twice.hpp"\n', "-Wconversion")
        self.add("tests/wrong.cpp", "int wrong = ;\n")
        self.add("diag/right.cpp", "int right = 1;\n")
        self.assertEqual(self.rows("--part", "library", "--part", "programs", "--part", "tests"),
                         ([["library", "2", "1", "0"], ["programs", "1", "0", "0"], ["tests", "1", "0", "1"]], 1))

    def test_precompiled_headers_do_not_hide_missing_includes(self):
        header = self.write("build/cmake_pch.hxx", "#include <vector>\n")
        self.add("lib/lacking.cpp", "std::vector<int> numbers;\n", f"-Winvalid-pch -include {header}")
        self.assertEqual(self.rows("--part", "library"), ([["library", "1", "0", "1"]], 1))

    def test_files_checked_together_belong_to_their_directory(self):
        self.add("build/diag/CMakeFiles/x.dir/Unity/unity_0_cxx.cxx", "int one = 1;\n")
        self.assertEqual(self.rows("--part", "programs"), ([["programs", "1", "0", "0"]], 0))


if __name__ == "__main__":
    unittest.main()
