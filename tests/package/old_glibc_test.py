#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""A program linked for glibc 2.28 requires no newer symbol and runs; the check of symbol versions finds newer ones."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from cases import DirectoryTest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
GLIBC = os.path.join(SOURCE, "packaging", "glibc")
CC = os.environ.get("CC", "cc")
CXX = shlex.split(os.environ.get("CXX", "c++"))
STATIC = ["-static-libstdc++", "-static-libgcc"]

WAITING = """#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
static const bool waited = [] {
  std::thread([] {
    std::mutex mutex;
    std::condition_variable condition;
    std::unique_lock lock(mutex);
    condition.wait_for(lock, std::chrono::milliseconds(10));
    std::timed_mutex other;
    const std::lock_guard held(other);
    std::thread([&] { (void)other.try_lock_for(std::chrono::milliseconds(10)); }).join();
    std::puts("waited");
    std::fflush(stdout);
  }).join();
  return true;
}();
"""


def run(*command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)


class LinkedTest(DirectoryTest):
    @classmethod
    def setUpClass(cls):
        cls.glibc = tempfile.mkdtemp(prefix="gdrkit-old-glibc-")
        cls.addClassCleanup(shutil.rmtree, cls.glibc)
        made = run(sys.executable, "-B", os.path.join(GLIBC, "old_glibc.py"), cls.glibc, "2.28", CC)
        assert made.returncode == 0, made.stdout
        cls.object = os.path.join(cls.glibc, "program.o")
        made = run(*CXX, "-std=c++20", "-O1", "-fPIC", "-c", os.path.join(HERE, "old_glibc_program.cpp"), "-o", cls.object)
        assert made.returncode == 0, made.stdout

    def link(self, name, *options):
        path = self.path(name)
        made = run(*CXX, self.object, *options, "-o", path)
        self.assertEqual(made.returncode, 0, made.stdout)
        return path

    def check(self, *files):
        return run(sys.executable, "-B", os.path.join(GLIBC, "symbol_versions.py"), *files)


class OldGlibc(LinkedTest):
    def test_program_runs_without_newer_symbols(self):
        program = self.link("program", *STATIC, f"-L{self.glibc}", "-Wl,--wrap=__libc_start_main")
        checked = self.check(program)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertRegex(checked.stdout, r"GLIBC_2\.\d")
        ended = run(program)
        self.assertEqual((ended.returncode, ended.stdout), (0, "all checks passed\n"))
        # The loader of glibc 2.31 and older exports its own malloc: that of libc must be found first.
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program).stdout)
        self.assertEqual([name for name in needed if name.startswith("ld-")], needed[needed.index("libc.so.6") + 1:])

    def test_a_library_hides_its_bundled_symbols(self):
        library = self.link("library.so", "-shared", *STATIC, "-Wl,--exclude-libs,ALL", f"-L{self.glibc}")
        symbols = run("nm", "-D", "--defined-only", library).stdout
        for name in ("_dl_find_object", "__libc_single_threaded", "pthread_cond_clockwait"):
            self.assertNotIn(name, symbols)

    def test_thread_waits_during_library_loading(self):
        """dlopen holds the loader's lock while constructors run, so a wait that needs this lock would never end."""
        library = self.path("waiting.so")
        made = run(*CXX, "-std=c++20", "-fPIC", "-shared", self.write("waiting.cpp", WAITING), *STATIC, f"-L{self.glibc}", "-pthread",
                   "-o", library)
        self.assertEqual(made.returncode, 0, made.stdout)
        loaded = run(sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library, timeout=60)
        self.assertEqual((loaded.returncode, loaded.stdout), (0, "waited\n"))

    def test_check_detects_a_newer_symbol(self):
        """Uses the version numbers of glibc's releases: a program of this machine has the version of its newest symbol."""
        program = self.link("of_this_machine", *STATIC)
        needs = [tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([\d.]+)", run("readelf", "-V", program).stdout)]
        checked = self.check(program)
        self.assertEqual(checked.returncode, int(max(needs) > (2, 28)), checked.stdout)
        self.assertIn(f"GLIBC_{'.'.join(map(str, max(needs)))}", checked.stdout)

    def test_check_detects_a_newer_cxx_library(self):
        source = self.write("cxx.s", ".globl planted\nplanted: .zero 8\n.section .note.GNU-stack\n")
        script = self.write("cxx.map", "GLIBCXX_3.4.30 { planted; };\n")
        own, library = self.path("libplanted.so"), self.path("user.so")
        self.assertEqual(run(CC, "-shared", "-nostdlib", source, f"-Wl,--version-script={script}", "-o", own).returncode, 0)
        user = self.write("user.c", "extern int planted; int* use(void) { return &planted; }\n")
        self.assertEqual(run(CC, "-shared", "-nostdlib", "-fPIC", user, own, "-o", library).returncode, 0)
        checked = self.check(library)
        self.assertEqual(checked.returncode, 1)
        self.assertIn("GLIBCXX is above 3.4.25", checked.stdout)

    def test_check_detects_exports_of_the_cxx_library(self):
        exporting = self.link("exporting.so", "-shared", *STATIC)
        self.assertIn("of the C++ library", self.check(exporting).stdout)
        self.assertEqual(self.check(tempfile.mkdtemp(dir=self.directory)).returncode, 1)

    def test_packages_and_wheels_are_linked_for_glibc_2_28(self):
        for name, line in (("CMakePresets.json", '"GDRKIT_GLIBC": "2.28"'), ("pyproject.toml", 'GDRKIT_GLIBC = "2.28"')):
            self.assertIn(line, self.read(SOURCE, name), name)


if __name__ == "__main__":
    if "gnu" not in run(CC, "-dumpmachine").stdout:
        print("the C library of this machine is not glibc")
        sys.exit(77)
    unittest.main()
