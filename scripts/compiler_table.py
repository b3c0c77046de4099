#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Checks the files of a configured build, and each header alone, with other compilers and standards, and counts warnings and errors.

  cmake --preset release
  scripts/compiler_table.py --compiler g++-14 --compiler clang++-19 --standard c++20 --standard c++23

prints the table of docs/platforms.md. A compiler may be a command, such as "chroot /srv/sid g++-16".
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PART_OF_FOLDER = {"lib": "library", "platform": "library", "shmem": "library", "python": "library", "cli": "programs", "diag": "programs",
                  "measure": "programs", "transfer": "programs", "examples": "programs", "tests": "tests"}
DIAGNOSTIC = re.compile(r"(?m)^(\S+?:\d+):\d+: (?:fatal )?(warning|error): (.*)$")


class Unit:
    """One command of compile_commands.json without its compiler, its output and options of code generation."""

    def __init__(self, entry):
        words = shlex.split(re.sub(r"-Winvalid-pch|-include \S+/cmake_pch\.hxx", "", entry["command"]))
        words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
        words = words[:words.index("-o")] + words[words.index("-o") + 2:]
        self.folder, self.source = entry["directory"], entry["file"]
        self.is_c = self.source.endswith(".c")
        self.flags = [word for word in words if word != self.source and not re.fullmatch(r"-(c|M\w*|O\w|g\w*|fPI[CE]|fvisibility.*|Werror|std=.*)", word)]
        path = os.path.relpath(self.source, ROOT)
        if path.startswith("build"):  # generated, or several files as one
            path = path.split(os.sep, 1)[1].replace("CMakeFiles" + os.sep, "")
        self.home = os.path.dirname(path).split(os.sep)
        self.part = PART_OF_FOLDER.get(self.home[0])
        self.standard = next((word[5:] for word in words if word.startswith("-std=")), "c11" if self.is_c else "c++20")

    def content(self):
        """The same for a file that several targets compile."""
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
        self.is_clang = "clang" in self.command[-1]

    def words(self, unit, source):
        name = self.command[-1] if not unit.is_c else self.command[-1].replace("clang++", "clang").replace("g++", "gcc").replace("c++", "cc")
        flags = [flag for flag in unit.flags if not (self.is_clang and flag in ("-Wno-restrict", "-Wno-tsan"))]
        standard = unit.standard if unit.is_c or unit.standard != "c++20" else self.standard
        goal = ["-O" + self.optimise, "-c", "-o", os.devnull] if self.optimise else ["-fsyntax-only"]
        return [*self.command[:-1], name, f"-std={standard}", *flags, *goal, *source]

    def diagnostics(self, unit, source=None):
        ended = subprocess.run(self.words(unit, source or [unit.source]), cwd=unit.folder, text=True, errors="replace", check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C"})
        found = set(DIAGNOSTIC.findall(ended.stdout))
        if ended.returncode and not any(kind == "error" for _, kind, _ in found):
            found.add((unit.source, "error", ended.stdout.strip()[-400:]))
        return found


def is_proven(header, sources):
    """Whether a source that is compiled by itself includes this header first."""
    source = os.path.join(ROOT, os.path.splitext(header)[0] + ".cpp")
    if source not in sources:
        return False
    with open(source, encoding="utf-8") as file:
        first = re.search(r'(?m)^#include ["<]([^">]+)', file.read())
    return bool(first) and os.path.basename(first.group(1)) == os.path.basename(header)


def headers_with_units(units):
    """Each C++ header with a unit of its folder, or of one near it, whose flags it is compiled with."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "tidy"))
    import repo  # pylint: disable=import-outside-toplevel
    built = {unit.home[0] for unit in units}
    for header in repo.own_files(ROOT, "include", *(folder for folder in PART_OF_FOLDER if folder in built)):
        if header.endswith((".hpp", ".h")):
            folder = os.path.dirname(header).split(os.sep)
            yield header, max((unit for unit in units if not unit.is_c and unit.standard == "c++20"),
                              key=lambda unit: (len(os.path.commonprefix([folder, unit.home])), len(unit.flags)))


def check(compiler, work, jobs):
    """work: (part, unit, source). Prints what is new; returns {part: [files, warnings, errors]}."""
    counts, told = {}, set()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (part, _, _), found in zip(work, pool.map(lambda item: compiler.diagnostics(item[1], item[2]), work)):
            count = counts.setdefault(part, [0, 0, 0])
            count[0] += 1
            for where, kind, text in sorted(found - told):
                count[1 if kind == "warning" else 2] += 1
                print(f"{os.path.relpath(where, ROOT)}: {kind}: {text}", flush=True)
            told |= found
    return counts


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="folder of the build (build)")
    parser.add_argument("--compiler", action="append", required=True, help="C++ compiler; repeatable")
    parser.add_argument("--standard", action="append", help="in place of c++20; repeatable (c++20)")
    parser.add_argument("--optimise", help="compile with this level instead of -fsyntax-only")
    parser.add_argument("--part", action="append", choices=("library", "programs", "tests", "headers"), help="only this part; repeatable")
    parser.add_argument("--skip-proven", action="store_true", help="leave out headers that a source of the build includes first")
    parser.add_argument("--only", default="", help="only paths with this regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time (all CPUs)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    parts = options.part or ("library", "programs", "tests", "headers")
    units = units_of(options.build)
    work = [(unit.part, unit, None) for unit in units if unit.part in parts and re.search(options.only, unit.source)]
    if "headers" in parts:
        work += [("headers", unit, ["-x", "c++", "-include", os.path.join(ROOT, header), os.devnull])
                 for header, unit in headers_with_units(units)
                 if re.search(options.only, header) and not (options.skip_proven and is_proven(header, {unit.source for unit in units}))]
    rows, bad = [], 0
    for name in options.compiler:
        if not shutil.which(shlex.split(name)[-1]) and len(shlex.split(name)) == 1:
            print(f"cannot check with {name}: not installed; install clang")
            sys.exit(77)
        for standard in options.standard or ["c++20"]:
            compiler = Compiler(name, standard, options.optimise)
            for part, (files, warnings, errors) in sorted(check(compiler, work, options.jobs).items()):
                rows.append(f"| {compiler.command[-1]} | {standard} | {part} | {files} | {warnings} | {errors} |")
                bad += warnings + errors
    print("| compiler | standard | part | files | warnings | errors |\n| --- | --- | --- | ---: | ---: | ---: |")
    print("\n".join(rows))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
