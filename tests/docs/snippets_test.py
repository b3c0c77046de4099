#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Compiles every code block of README, docs and the public headers, and runs complete programs on the emulated device."""
import json
import os
import re
import shutil
import subprocess
import unittest
from unittest import mock

import snippets
from cases import DirectoryTest, main

BUILD = os.environ.get("GDRKIT_BUILD", os.path.join(snippets.ROOT, "build"))
CC, CXX = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
NVCC = os.environ.get("GDRKIT_NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
INCLUDES = ["-I" + os.path.join(snippets.ROOT, "include"), "-I" + os.path.join(snippets.ROOT, "include", "gdrkit", "compat")]
# Warnings are errors, except about variables that a block shows and does not use.
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused"]
INSTRUCTIONS = {"FROM", "ARG", "COPY", "RUN", "ENV", "USER", "WORKDIR", "CMD", "ENTRYPOINT", "LABEL"}


class SnippetTest(DirectoryTest):
    def run_ok(self, *command, **environment):
        ended = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               env={**os.environ, **environment}, timeout=300, cwd=self.directory)
        self.assertEqual(ended.returncode, 0, f"{' '.join(command)}\n{ended.stdout}")

    def for_each(self, language, check):
        found = [snippet for snippet in snippets.all_snippets() if snippet.language == language]
        for snippet in found:
            with self.subTest(snippet.place):
                check(snippet)
        return len(found)

    def compile_and_run(self, snippet, suffix, *compiler):
        path = self.write("snippet" + suffix, snippet.program())
        if not re.search(r"\bmain\s*\(", snippet.program()):
            self.run_ok(*compiler, *WARNINGS, *INCLUDES, "-fsyntax-only", path)
            return
        libraries = os.path.join(BUILD, "lib")
        program = self.path("program")
        self.run_ok(*compiler, *WARNINGS, *INCLUDES, path, "-L" + libraries, "-Wl,-rpath," + libraries, "-Wl,--as-needed", "-lgdrkit_shmem", "-lgdrkit",
                    "-lgdrapi", "-o", program)
        if "shmem.h" in snippet.program():
            self.run_ok(os.path.join(BUILD, "bin", "gdrkit"), "run", "-n", "2", "--emulated", "--", program)
        else:
            self.run_ok(program, GDRKIT_BACKEND="emulated")


class C(SnippetTest):
    def test_blocks(self):
        self.for_each("c", lambda snippet: self.compile_and_run(snippet, ".c", CC, "-std=c11"))


class Cxx(SnippetTest):
    def test_blocks(self):
        self.assertGreater(self.for_each("cpp", lambda snippet: self.compile_and_run(snippet, ".cpp", CXX, "-std=c++20")), 0)


class Cuda(SnippetTest):
    def setUp(self):
        if shutil.which(NVCC) is None:
            self.skipTest("nvcc is missing: the blocks of CUDA are not compiled")

    def compile(self, snippet):
        self.run_ok(NVCC, "-std=c++17", "-arch=compute_75", *INCLUDES, "-c", self.write("snippet.cu", snippet.program()), "-o", os.devnull)

    def test_blocks(self):
        self.for_each("cuda", self.compile)


class Python(SnippetTest):
    """tests/python runs the programs of docs/python.md where the package is built."""

    def test_blocks(self):
        self.for_each("python", lambda snippet: compile(snippet.text, snippet.place, "exec"))


class Data(SnippetTest):
    """Blocks that are not programs: their grammar."""

    def test_json(self):
        self.for_each("json", lambda snippet: json.loads(snippet.text))

    def test_yaml(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is missing: the blocks of YAML are not parsed")
        self.for_each("yaml", lambda snippet: self.assertIsNotNone(yaml.safe_load(snippet.text)))

    def test_cmake(self):
        def check(snippet):
            path = self.write("snippet.cmake", f"if(FALSE)\n{snippet.text}endif()\n")
            self.run_ok(os.environ.get("GDRKIT_CMAKE", "cmake"), "-P", path)

        self.for_each("cmake", check)

    def test_dockerfile(self):
        def check(snippet):
            for line in snippet.text.replace("\\\n", " ").splitlines():
                self.assertTrue(not line or line.startswith("#") or line.split()[0] in INSTRUCTIONS, line)

        self.for_each("dockerfile", check)


class Rules(unittest.TestCase):
    """What snippets.py makes of a header."""

    def test_header(self):
        path = os.path.join(snippets.ROOT, "include", "gdrkit", "gdrkit.h")
        source = ("/** @brief Maps.\n *\n * @code{.c}\n * int result = 0;\n * (void)result;\n * @endcode\n * <!-- compile with shmem_kernel -->\n"
                  " * @code{.cu}\n * x\n * @endcode\n * @code{.c}\n * int main(void) { return 0; }\n * @endcode\n * @code{.c}\n * static int f(void) {\n"
                  " *   return 0;\n * }\n * @endcode */\n")
        with mock.patch.object(snippets.repo, "read", return_value=source):
            found = [(snippet.language, snippet.wrapper, snippet.place.rsplit(":", 1)[1]) for snippet in snippets.snippets_of_header(path)]
        self.assertEqual(found, [("c", "header_function", "3"), ("cuda", "shmem_kernel", "8"), ("c", None, "11"), ("c", "header_file", "14")])


if __name__ == "__main__":
    main()
