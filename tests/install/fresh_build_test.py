#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""`./run build` builds everything that `cmake --install build` installs, with and without each optional tool. Nothing
is compiled. ./run configures a copy of the tree, and the test searches ninja's graph below the targets of ./run for the
files of the install rules. GDRKIT_FULL: also each tool alone."""
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import unittest

from cases import DirectoryTest

SOURCE, CMAKE = os.environ["GDRKIT_SOURCE"], os.environ["GDRKIT_CMAKE"]
# Tool -> the variables that omit it; with it, CMake finds a fake that always succeeds.
TOOLS = {
    "help2man": ["GDRKIT_HELP2MAN"],
    "mpicc.openmpi": ["GDRKIT_MPICC_openmpi"],
    "mpicc.mpich": ["GDRKIT_MPICC_mpich"],
    "nvcc": ["GDRKIT_NVCC"],
    "doxygen": ["DOXYGEN_EXECUTABLE"],
    "nanobind": [],  # a Python package
}
# Replaces nanobind: its two CMake functions, with targets without dependencies.
NANOBIND = """function(nanobind_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 MODULE "STABLE_ABI;NB_STATIC;NB_SUPPRESS_WARNINGS" "NB_DOMAIN" "")
  add_library(${name} MODULE ${MODULE_UNPARSED_ARGUMENTS})
endfunction()
function(nanobind_add_stub name)
  cmake_parse_arguments(PARSE_ARGV 1 STUB "" "OUTPUT" "")
  add_custom_command(OUTPUT ${STUB_OUTPUT} COMMAND false)
  add_custom_target(${name} ALL DEPENDS ${STUB_OUTPUT})
endfunction()
"""


def edges_of(build):
    """Returns output -> (outputs, inputs) of its edge in build.ninja and the files that it includes."""
    edges = {}
    with open(os.path.join(build, "build.ninja"), encoding="utf-8") as file:
        text = file.read().replace("$\n", "")
    for line in text.splitlines():
        if not line.startswith("build "):
            continue
        # A colon in a name is written "$:", a space "$ ".
        outputs, rest = re.split(r"(?<!\$): ", line[len("build "):], maxsplit=1)
        names = [[name.replace("$ ", " ").replace("$:", ":").replace("${cmake_ninja_workdir}", "") for name in re.split(r"(?<!\$) +", part)
                  if name.strip("|@")] for part in (outputs, rest)]
        edge = (names[0], names[1][1:])  # without the rule
        for output in names[0]:
            edges[output] = edge
    return edges


def made_by(targets, build):
    """Returns the full names of all files that ninja builds for the targets."""
    edges, made, open_names = edges_of(build), set(), list(targets)
    while open_names:
        name = open_names.pop()
        outputs, inputs = edges.get(name, ([], []))
        for output in outputs:
            if output not in made:
                made.add(output)
                open_names += inputs
    return {os.path.join(build, name) for name in made}


def installed_from(build):
    """Returns the files of the build directory that a plain install copies."""
    found = set()
    for directory, _, names in os.walk(build):
        if "cmake_install.cmake" not in names:
            continue
        with open(os.path.join(directory, "cmake_install.cmake"), encoding="utf-8") as file:
            # Blocks by component; one that is installed only on request lacks "OR NOT CMAKE_INSTALL_COMPONENT".
            for block in re.split(r"\n(?=if\(CMAKE_INSTALL_COMPONENT)", file.read()):
                if "OR NOT CMAKE_INSTALL_COMPONENT" in block.splitlines()[0]:
                    found |= set(re.findall(rf'"({re.escape(build)}/[^"]+)"', re.sub(r"file\(RPATH_CHANGE.*?\)", "", block, flags=re.DOTALL)))
    # CMake writes its own list of files at the end of an install.
    return {path for path in found if not path.endswith("install_local_manifest.txt")}


class FreshBuild(DirectoryTest):
    def setUp(self):
        self.directory = os.path.realpath(self.directory)
        self.tree = self.path("tree")

        def ignore(directory, names):
            left_out = {name for name in names if name.startswith(("build", ".git", "dist"))} if directory == SOURCE else set()
            return left_out | {name for name in names if name in ("results", "__pycache__", "recordings")}

        shutil.copytree(SOURCE, self.tree, ignore=ignore, symlinks=True)

    def tool(self, name, text="exit 0"):
        self.write(f"bin/{name}", f"#!/bin/sh\n{text}\n", 0o755)

    def nanobind(self):
        package = self.path("python", "nanobind")
        for name, text in (("__init__.py", ""), ("__main__.py", f"print({package!r})\n"), ("nanobind-config.cmake", NANOBIND)):
            self.write(f"{package}/{name}", text)

    def expect_all_is_built(self, tools):
        build = os.path.join(self.tree, "build")
        targets = self.write("targets", "")
        for path in (build, self.path("bin"), self.path("python")):
            shutil.rmtree(path, ignore_errors=True)
        left_out = [f"-D{variable}=OFF" for tool in TOOLS if tool not in tools for variable in TOOLS[tool]]
        if "nanobind" in tools:
            self.nanobind()
        for tool in tools:
            self.tool(tool, "echo compute_90" if tool == "nvcc" else "exit 0")
        # Builds nothing, and logs the targets; tests are not installed.
        self.tool("cmake", f'case "$1" in\n--build) shift 2; while [ "$1" != --target ]; do shift; done; shift; echo "$@" >>{targets} ;;\n'
                           f'--version) exec {CMAKE} --version ;;\n*) exec {CMAKE} "$@" -DGDRKIT_BUILD_TESTS=OFF {" ".join(left_out)} ;;\nesac')
        environment = {**os.environ, "PATH": self.path("bin") + ":" + os.environ["PATH"], "PYTHONPATH": self.path("python")}
        ended = subprocess.run(["bash", "run", "build", "--offline"], cwd=self.tree, env=environment, text=True, check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        made = made_by(self.read(targets).split(), build)
        if "nanobind" in tools and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
            self.assertIn(os.path.join(build, "python", "gdrkit", "_core.pyi"), made)
        installed = installed_from(build)
        for name, tool in (("man/man1", "help2man"), ("lib/gdrkit/gdrkit_osu_mpich.so", "mpicc.mpich"),
                           ("lib/gdrkit/gdrkit_osu_openmpi.so", "mpicc.openmpi")):
            self.assertEqual(os.path.join(build, name) in installed, tool in tools, f"{name} {tools}")
        self.assertIn(os.path.join(build, "bin", "gdrkit"), installed)
        # A directory of generated files has a stamp next to it; files that CMake wrote itself exist.
        lacking = [path for path in installed if path not in made and os.path.dirname(path) + ".stamp" not in made and not os.path.exists(path)]
        self.assertEqual(lacking, [], f"with {tools or 'no tool'}: ./run build does not make what cmake --install needs")

    def test_builds_with_and_without_optional_tools(self):
        choices = [[], list(TOOLS)]
        if os.environ.get("GDRKIT_FULL"):
            choices += [[tool] for tool in TOOLS]
        for tools in choices:
            with self.subTest(tools=tools):
                self.expect_all_is_built(tools)


if __name__ == "__main__":
    if shutil.which("ninja") is None:
        print("ninja is not installed (Debian: ninja-build)")
        sys.exit(77)
    unittest.main()
