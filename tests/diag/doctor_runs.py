# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Runs the doctor on machines of tests/fixtures/machines, which exist during a with block."""
import atexit
import json
import os
import shutil
import sys
import tempfile

from program import run

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(TOP, "tests", "fixtures", "machines"))
import machines as m  # pylint: disable=wrong-import-position

# A machine is a thousand small files: use memory if available, since disks take seconds for them.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
RANK = ["skip", "ok", "info", "unknown", "warn", "fail"]


class Written(tempfile.TemporaryDirectory):
    """A machine in a separate directory during a with block."""

    def __init__(self, tree):
        super().__init__(prefix="gdrkit-machine-", dir=MEMORY)
        m.write(tree, self.name)


class Lent:
    """A machine in a directory during a with block, for tests that do not change it. Machines are similar: the next machine reuses the last directory and writes only the differences."""
    idle = []  # (machine, directory)

    def __init__(self, tree):
        self.tree = tree

    def __enter__(self):
        old, self.directory = Lent.idle.pop() if Lent.idle else ({}, tempfile.mkdtemp(prefix="gdrkit-machine-", dir=MEMORY))
        m.rewrite(old, self.tree, self.directory)
        return self.directory

    def __exit__(self, *_):
        Lent.idle.append((self.tree, self.directory))

    @staticmethod
    @atexit.register
    def remove():
        for _, directory in Lent.idle:
            shutil.rmtree(directory)


def run_on(tree, *arguments, **options):
    """Runs gdrkit with these arguments on a machine. The options are those of run()."""
    with Lent(tree) as directory:
        return run("gdrkit", *arguments, "--root", directory, **options)


def findings_of(root, *arguments):
    """Returns the exit code and the findings of each check."""
    ended = run("gdrkit", "doctor", "--root", root, "--json", *arguments)
    if not ended.out:
        raise AssertionError(f"no document, exit code {ended.code}: {ended.err}")
    document = json.loads(ended.out)
    if document["exit_code"] != ended.code:
        raise AssertionError("the document names another exit code")
    return ended.code, {check["id"]: check["findings"] for check in document["checks"]}


def examine(tree, *arguments):
    """Exit code, and for each check its findings as (state, subject, text)."""
    with Lent(tree) as directory:
        code, found = findings_of(directory, *arguments)
    return code, {check: [(f["state"], f["subject"], f["text"]) for f in findings] for check, findings in found.items()}


def worst(findings):
    return max((state for state, _, _ in findings), key=RANK.index)
