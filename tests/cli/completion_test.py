#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit completion: the shells accept the scripts, and bash completes words."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from program import Test, run, subcommands

# Completes the words from $1 on like bash; the last one is incomplete.
DRIVER = r"""
source "$SCRIPT"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMPREPLY=()
_gdrkit "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
"""


def long_options(*command):
    return set(re.findall(r"(?m)^  (?:-\w, |    )(--[\w-]+)", run(*command, "--help").out))


class BashCompletion(Test):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.script = os.path.join(cls.directory.name, "gdrkit")
        ended = run("gdrkit", "completion", "bash")
        assert ended.code == 0, ended.err
        with open(cls.script, "w", encoding="utf-8") as file:
            file.write(ended.out)
        with open(os.path.join(cls.directory.name, "a result.json"), "w", encoding="utf-8"):
            pass

    def complete(self, *words):
        ended = subprocess.run(["bash", "--noprofile", "--norc", "-c", DRIVER, "bash", *words], cwd=self.directory.name,
                               env={"SCRIPT": self.script, "PATH": os.environ["PATH"]}, capture_output=True, text=True,
                               timeout=60, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), words)
        return ended.stdout.splitlines()

    def test_bash_accepts_it(self):
        ended = subprocess.run(["bash", "-n", self.script], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        ended = subprocess.run(["bash", "--norc", "-c", f"source '{self.script}'; complete -p gdrkit gdrcopy_copylat"],
                               capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(ended.stdout, "complete -F _gdrkit gdrkit\ncomplete -F _gdrkit gdrcopy_copylat\n")

    def test_subcommands(self):
        self.assertEqual(set(self.complete("gdrkit", "")), {*subcommands(), "help", "--help", "--version"})
        self.assertEqual(self.complete("gdrkit", "copyl"), ["copylat"])

    def test_options_of_each_subcommand_match_its_help(self):
        for name in subcommands():
            offered = self.complete("gdrkit", name, "--")
            self.assertEqual(len(offered), len(set(offered)), name)
            self.assertEqual(set(offered), long_options("gdrkit", name), name)
        self.assertEqual(self.complete("gdrkit", "copylat", "--mapp"), ["--mapping-type"])

    def test_values(self):
        self.assertEqual(self.complete("gdrkit", "copylat", "--allocation", ""), ["cuMemAlloc", "cuMemCreate"])
        self.assertEqual(self.complete("gdrkit", "copylat", "-M", "w"), ["wc"])
        self.assertEqual(self.complete("gdrkit", "copylat", "--allocation", "=", "cuMemC"), ["cuMemCreate"])
        self.assertEqual(self.complete("gdrkit", "copylat", "--allocation", "="), ["cuMemAlloc", "cuMemCreate"])
        self.assertEqual(self.complete("gdrkit", "copylat", "--size", ""), [])
        self.assertEqual(self.complete("gdrkit", "copylat", "--json", "a"), ["a result.json"])
        self.assertEqual(self.complete("gdrkit", "bench", "--compare", "a"), ["a result.json"])

    def test_operands(self):
        self.assertEqual(self.complete("gdrkit", "env", "n"), ["nccl", "nvshmem"])
        self.assertEqual(self.complete("gdrkit", "env", "--json", "u"), ["ucx"])
        self.assertEqual(self.complete("gdrkit", "report", "a"), ["a result.json"])
        self.assertEqual(self.complete("gdrkit", "completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("gdrkit", "bind", "--gpu", "0", "--", "a"), ["a result.json"])

    def test_gdrcopys_names(self):
        self.assertEqual(set(self.complete("gdrcopy_copylat", "-")),
                         {"-h", "--version", "--json", "-c", "-s", "-w", "-r", "-a", "-M", "-C", "-d"})
        self.assertEqual(self.complete("/usr/bin/gdrcopy_copylat", "-a", "cuMemA"), ["cuMemAlloc"])


class OtherShells(Test):
    def check(self, name, *options):
        ended = self.run_ok("gdrkit", "completion", name)
        for subcommand in subcommands():
            self.assertIn(subcommand, ended.out)
            for option in long_options("gdrkit", subcommand):
                self.assertIn(option if name == "zsh" else f"-l {option[2:]} ", ended.out, subcommand)
        path = shutil.which(name)
        if path is None:
            self.skipTest(f"there is no {name} on this machine")
        checked = subprocess.run([path, *options, self.write(name, ended.out)], capture_output=True, text=True, timeout=60,
                                 check=False)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_zsh(self):
        self.check("zsh", "-n")

    def test_fish(self):
        self.check("fish", "--no-execute")
        script = run("gdrkit", "completion", "fish").out
        for words, expected in (("gdrkit copyl", ["copylat"]), ("gdrkit env n", ["nccl", "nvshmem"]),
                              ("gdrkit copylat --allocation cu", ["cuMemAlloc", "cuMemCreate"]),
                              ("gdrcopy_copylat -a cuMemA", ["cuMemAlloc"])):
            ended = subprocess.run(["fish", "--no-config", "-c", f"source -; complete -C '{words}'"], input=script,
                                   capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual([line.split("\t")[0] for line in ended.stdout.splitlines()], expected, ended.stderr)

    def test_rejects_unknown_shells(self):
        self.assert_rejected(["completion"], [(words, "bash, zsh or fish") for words in ((), ("tcsh",), ("bash", "zsh"))])


if __name__ == "__main__":
    unittest.main()
