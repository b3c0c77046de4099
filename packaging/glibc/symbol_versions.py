#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Checks that files run on glibc 2.28 and the C++ library of GCC 8, which RHEL 8 has. Checks the highest version of the
symbols that they need, and that no shared library exports symbols of libstdc++ or libgcc. Prints the highest versions;
exit code 1: a check failed. usage: symbol_versions.py FILE|DIRECTORY...      a directory is searched for programs and shared
libraries"""
import os
import re
import subprocess
import sys

NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11), "GCC": (8, 0, 0)}
FOREIGN = re.compile(r"_ZN?K?S[tabsiod]|_ZT[ISV]N?S[tabsiod]|__cxa_|__gxx_|_Unwind_|_dl_find_object$")


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def elf_files(paths):
    for path in paths:
        inside = [os.path.join(at, name) for at, _, names in os.walk(path) for name in names] if os.path.isdir(path) else [path]
        for file in sorted(inside):
            if os.path.islink(file) or not os.path.isfile(file):
                continue
            with open(file, "rb") as content:
                header = content.read(18)
            if header[:4] == b"\x7fELF" and header[16] in (2, 3):  # programs and shared libraries, not kernel modules
                yield file


def needed_versions(file):
    """Returns name of a family -> highest version that the file requires."""
    needs = output_of("readelf", "-W", "-V", file).partition("Version needs section")[2]
    highest = {}
    for family, version in re.findall(r"Name: ([A-Z]+)_([0-9.]+)", needs):
        if family in NEWEST:  # skips GDRKIT_0
            highest[family] = max(highest.get(family, ()), tuple(int(part) for part in version.split(".")))
    return highest


def foreign_exports(file):
    names = [line.split()[-1] for line in output_of("nm", "-D", "--defined-only", file).splitlines() if line]
    return [name for name in names if FOREIGN.match(name)]


def main():
    failed = False
    files = list(elf_files(sys.argv[1:]))
    for file in files:
        highest = needed_versions(file)
        text = ", ".join(f"{family}_{'.'.join(map(str, version))}" for family, version in sorted(highest.items())) or "none"
        too_high = [family for family in highest if highest[family] > NEWEST[family]]
        exports = foreign_exports(file)
        failed |= bool(too_high or exports)
        print(f"{file}: {text}" + "".join(f"; {family} is above {'.'.join(map(str, NEWEST[family]))}" for family in too_high)
              + (f"; exports {', '.join(exports[:3])} of the C++ library" if exports else ""))
    if not files:
        print(f"error: cannot check {' '.join(sys.argv[1:])}: no program or shared library found")
    return failed or not files


if __name__ == "__main__":
    sys.exit(main())
