#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Runs the built program on the emulated device, and compares lines with expected ones."""
import glob
import json
import os
import re
import subprocess
import sys
import unittest

BIN = os.environ["GDRKIT_BIN"]
NOTE = r"NOTE: running on the emulated device, whose figures do not describe a GPU: .*"
BANNER = [NOTE, r"GPU id:0; name: gdrkit emulated device \(no GPU\); Bus id: [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}",
          r"selecting device 0"]
HAS_GPU = bool(glob.glob("/dev/nvidia[0-9]*"))
# Set by ./run test --full: adds tests that take long and rarely find more than the short ones.
IS_FULL = os.environ.get("GDRKIT_FULL") == "1"
FLOAT = r"[0-9.]+(?:e[+-][0-9]+)?"


class Ended:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout or "", process.stderr
        self.lines = self.out.splitlines()


def variables_with(environment=None):
    """Returns the variables of this process without gdrkit's own, and the given ones."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("GDRKIT_", "GDRCOPY_"))}
    return {**variables, **({"GDRKIT_BACKEND": "emulated"} if environment is None else environment)}


def run(program, *arguments, environment=None, stdout=subprocess.PIPE):
    path = program if os.path.isabs(program) else os.path.join(BIN, program)
    return Ended(subprocess.run([path, *arguments], env=variables_with(environment), stdout=stdout,
                                stderr=subprocess.PIPE, text=True, timeout=500, check=False))


def run_without_space(program, *arguments):
    """Runs the program with an output that cannot be written."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        return run(program, *arguments, stdout=full)


def judged(compare):
    """Returns the result of a comparison. Repeats it up to five times while the noise is too large for a verdict (exit code 2)."""
    for _ in range(5):
        ended = compare()
        if ended.code != 2:
            break
    return ended


class Test(unittest.TestCase):
    maxDiff = None

    def assert_lines(self, lines, patterns):
        """Checks that every line matches its pattern completely, and that there are no other lines."""
        for number, (line, pattern) in enumerate(zip(lines, patterns)):
            self.assertRegex(line, "^(?:" + pattern + ")$", f"line {number + 1} of\n" + "\n".join(lines))
        self.assertEqual(len(lines), len(patterns), "\n".join(lines))

    def assert_rejected(self, command, cases, environment=None):
        """Checks that the program rejects the arguments of each case with a message that contains the text of the case."""
        for arguments, text in cases:
            ended = run("gdrkit", *command, *arguments, environment=environment)
            self.assertEqual((ended.code, ended.out), (2, ""), arguments)
            self.assertIn(text, ended.err)

    def json_of(self, *arguments, code=0, program="gdrkit", environment=None):
        ended = run(program, *arguments, "--json", environment=environment)
        self.assertEqual(ended.code, code, ended.err)
        return json.loads(ended.out), ended


def main():
    """Runs the tests. If all of them were skipped, prints the reason and exits with 77."""
    result = unittest.main(exit=False).result
    if result.skipped and len(result.skipped) == result.testsRun:
        print(result.skipped[0][1])
        sys.exit(77)
    sys.exit(not result.wasSuccessful())


def list_of(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli", name)
    with open(path, encoding="utf-8") as file:
        return file.read()


def subcommands():
    """Returns the names in cli/subcommands.def."""
    return re.findall(r"(?m)^GDRKIT_SUBCOMMAND\((\w+),", list_of("subcommands.def"))


def other_names():
    """Returns the names in cli/other_names.def with their subcommands."""
    return re.findall(r"(?m)^GDRKIT_OTHER_NAME\((\w+), (\w+)\)", list_of("other_names.def"))
