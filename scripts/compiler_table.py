#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Checks the files of a configured build, and each header alone, with other compilers and standards, and counts warnings and errors.

  cmake --preset release
  scripts/compiler_table.py --compiler g++-14 --compiler clang++-19 --standard c++20 --standard c++23

prints a table as in docs/results/compilers.md. A compiler may be a command, such as "chroot /srv/sid g++-16". With GDRKIT_UNITY=ON the files of
a directory are checked together in a third of the time, but without -Wshadow. The build's precompiled headers are not
used.
"""
import argparse
import concurrent.futures
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PART_OF_DIRECTORY = {"lib": "library", "platform": "library", "shmem": "library", "python": "library", "cli": "programs", "diag": "programs",
                  "measure": "programs", "transfer": "programs", "examples": "programs", "tests": "tests"}
FOR_ONE_COMPILER = ("-Wno-restrict", "-Wno-tsan", "-Wno-stringop-overflow", "-Wno-array-bounds", "-Wno-stringop-overread")  # cmake/ enables them depending on the version
DIAGNOSTIC = re.compile(r"(?m)^(\S+?:\d+):\d+: (?:fatal )?(warning|error): (.*)$")


class Unit:
    """One command of compile_commands.json without compiler, output and code generation options."""

    def __init__(self, entry):
        words = shlex.split(re.sub(r"-Winvalid-pch|-include \S+/cmake_pch\.hxx", "", entry["command"]))
        first = next(i for i, word in enumerate(words) if word.startswith("-"))
        self.compiler, words = words[first - 1], words[first:]
        words = words[:words.index("-o")] + words[words.index("-o") + 2:]
        self.directory, self.source = entry["directory"], entry["file"]
        self.is_c = self.source.endswith(".c")
        self.flags = [word for word in words if word != self.source and not re.fullmatch(r"-(c|M\w*|O\w|g\w*|fPI[CE]|fvisibility.*|Werror|std=.*)", word)]
        path = os.path.relpath(self.source, ROOT)
        if path.startswith("build"):  # generated, or a unity file
            path = path.split(os.sep, 1)[1].replace("CMakeFiles" + os.sep, "")
        self.is_test = "-DGTEST_HAS_PTHREAD=1" in self.flags  # CMake's target of GoogleTest defines it
        self.directories = os.path.dirname(path).split(os.sep)
        self.part = PART_OF_DIRECTORY.get(self.directories[0])
        self.standard = next((word[5:] for word in words if word.startswith("-std=")), "c11" if self.is_c else "c++20")

    def content(self):
        """Identifies the source: equal for a file that several targets compile."""
        if "unity_" not in os.path.basename(self.source):
            return self.source
        with open(self.source, encoding="utf-8") as file:
            return file.read()


def units_of(build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        units = [Unit(entry) for entry in json.load(file)]
    return [unit for unit in {unit.content(): unit for unit in reversed(units)}.values() if unit.part and "precompiled" not in unit.source]


class Compiler:
    def __init__(self, command, standard, optimise=None):
        self.command, self.standard, self.optimise = shlex.split(command), standard, optimise
        self.precompiled = {}

    def words(self, unit, source):
        name = self.command[-1] if not unit.is_c else self.command[-1].replace("clang++", "clang").replace("g++", "gcc").replace("c++", "cc")
        is_builder = os.path.realpath(unit.compiler) == os.path.realpath(shutil.which(" ".join([*self.command[:-1], name])) or "")
        flags = [flag for flag in unit.flags if is_builder or flag not in FOR_ONE_COMPILER]
        standard = unit.standard if unit.is_c or unit.standard != "c++20" else self.standard
        level = [f"-O{self.optimise}"] if self.optimise else []
        return [*self.command[:-1], name, f"-std={standard}", *level, *flags, *source]

    def precompile(self, units, is_test, headers, directory):
        """Precompiles these headers once for the units that are tests, or for the others."""
        unit = min((unit for unit in units if unit.is_test == is_test), key=lambda unit: len(unit.flags), default=None)
        path = os.path.join(directory, f"{is_test}.hpp")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"#include <{header}>\n" for header in headers)
        made = unit and subprocess.run(self.words(unit, ["-x", "c++-header", path, "-o", path + ".gch"]), cwd=unit.directory, check=False)
        if made and made.returncode == 0:
            self.precompiled[is_test] = ["-include", path]

    def diagnostics(self, unit, source=None):
        goal = ["-c", "-o", os.devnull] if self.optimise else ["-fsyntax-only"]
        if unit.standard == "c++20":
            goal += self.precompiled.get(unit.is_test and not source, [])
        ended = subprocess.run(self.words(unit, goal + (source or [unit.source])), cwd=unit.directory, text=True, errors="replace", check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C"})
        found = set(DIAGNOSTIC.findall(ended.stdout))
        if ended.returncode and not any(kind == "error" for _, kind, _ in found):
            found.add((unit.source, "error", ended.stdout.strip()[-400:]))
        return found


def standard_headers():
    """Returns the headers that a build precompiles."""
    with open(os.path.join(ROOT, "cmake", "GdrkitUnity.cmake"), encoding="utf-8") as file:
        return re.findall(r"<(\w+)>", re.search(r"set\(GDRKIT_PRECOMPILED_HEADERS ([^)]*)\)", file.read()).group(1))


def is_proven(header, sources):
    """Returns whether a source that is compiled alone includes this header first."""
    source = os.path.join(ROOT, os.path.splitext(header)[0] + ".cpp")
    if source not in sources:
        return False
    with open(source, encoding="utf-8") as file:
        first = re.search(r'(?m)^#include ["<]([^">]+)', file.read())
    return bool(first) and os.path.basename(first.group(1)) == os.path.basename(header)


def only_rejects(header):
    """Returns whether including this header is an error: a path of NVSHMEM's headers for functions that gdrkit lacks."""
    with open(os.path.join(ROOT, header), encoding="utf-8") as file:
        return any(line.startswith("#error") for line in file.read().splitlines()[:6])


def headers_with_units(units):
    """Yields each C++ header with the unit of its directory, or of the nearest one, whose flags compile it."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "tidy"))
    import repo  # pylint: disable=import-outside-toplevel
    built = {unit.directories[0] for unit in units}
    for header in repo.own_files(ROOT, "include", *(directory for directory in PART_OF_DIRECTORY if directory in built)):
        is_for_nvrtc = header.startswith(os.path.join("include", "gdrkit", "detail", "nvrtc"))
        if header.endswith((".hpp", ".h")) and not is_for_nvrtc and not only_rejects(header):
            directory = os.path.dirname(header).split(os.sep)
            yield header, max((unit for unit in units if not unit.is_c and unit.standard == "c++20"),
                              key=lambda unit: (len(os.path.commonprefix([directory, unit.directories])), len(unit.flags)))


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check(compiler, work, jobs, reported):
    """work: (unit, source). Prints what is not in `reported`; returns the numbers of warnings and errors."""
    counts = {"warning": 0, "error": 0}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(lambda item: compiler.diagnostics(*item), work):
            for where, kind, text in sorted(found - reported):
                counts[kind] += 1
                print(f"{os.path.relpath(where, ROOT)}: {kind}: {text}", flush=True)
            reported |= found
    return counts["warning"], counts["error"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build directory (build)")
    parser.add_argument("--compiler", action="append", required=True, help="C++ compiler; repeatable")
    parser.add_argument("--standard", action="append", help="C++ standard; repeatable (c++20)")
    parser.add_argument("--optimise", help="compile at this level instead of -fsyntax-only")
    parser.add_argument("--part", action="append", choices=("library", "programs", "tests", "headers"), help="check only this part; repeatable")
    parser.add_argument("--precompile", action="store_true", help="precompile standard headers, unless GDRKIT_FULL is 1")
    parser.add_argument("--skip-proven", action="store_true", help="skip headers that a source of the build includes first")
    parser.add_argument("--only", default="", help="check only paths that match this regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of concurrent compilers (all CPUs)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    parts = options.part or ("library", "programs", "tests", "headers")
    units = units_of(options.build)
    work = {part: [(unit, None) for unit in units if unit.part == part and re.search(options.only, unit.source)] for part in parts}
    if "headers" in parts:
        work["headers"] = [(unit, ["-x", "c++", "-include", os.path.join(ROOT, header), os.devnull])
                           for header, unit in headers_with_units(units)
                           if re.search(options.only, header) and not (options.skip_proven and is_proven(header, {unit.source for unit in units}))]
    plain = [unit for unit in units if unit.standard == "c++20"]
    rows, bad = [], 0
    for name in options.compiler:
        if not shutil.which(shlex.split(name)[-1]) and len(shlex.split(name)) == 1:
            print(f"cannot check with {name}: not installed; install clang")
            sys.exit(77)
        for standard in options.standard or ["c++20"]:
            compiler, reported = Compiler(name, standard, options.optimise), set()
            with tempfile.TemporaryDirectory(dir=os.path.abspath(options.build)) as directory:
                before = cpu_seconds()
                if options.precompile and os.environ.get("GDRKIT_FULL") != "1":
                    compiler.precompile(plain, False, standard_headers(), directory)
                if "tests" in parts:  # GoogleTest's headers take half of the time of most tests
                    compiler.precompile(plain, True, ("gmock/gmock.h", "gtest/gtest.h"), directory)
                for part in parts:
                    warnings, errors = check(compiler, work[part], options.jobs, reported)
                    cells = compiler.command[-1], standard, part, len(work[part]), warnings, errors, round(cpu_seconds() - before)
                    rows.append("| " + " | ".join(map(str, cells)) + " |")
                    before = cpu_seconds()
                    bad += warnings + errors
    print("| compiler | standard | part | files | warnings | errors | CPU s |\n| --- | --- | --- | ---: | ---: | ---: | ---: |")
    print("\n".join(rows))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
