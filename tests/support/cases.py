# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The base class of tests that write files, and the main function of tests that may be skipped."""
import functools
import os
import pathlib
import sys
import tempfile
import unittest


class DirectoryTest(unittest.TestCase):
    @functools.cached_property
    def directory(self):
        """The temporary directory of this test. It is created at the first use."""
        made = tempfile.TemporaryDirectory(prefix="gdrkit-test-")  # pylint: disable=consider-using-with
        self.addCleanup(made.cleanup)
        return made.name

    def file(self, *names):
        """Returns the pathlib.Path of a file in the temporary directory."""
        return pathlib.Path(self.directory, *names)

    def path(self, *names):
        return str(self.file(*names))

    def write(self, name, text, mode=0o644):
        """Writes a file in the temporary directory and returns its path. Creates missing directories."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def read(self, *names):
        """Returns the text of a file in the temporary directory, or of a file with an absolute path."""
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()


def main():
    """Runs the tests. If all of them were skipped, prints the reason and exits with 77."""
    result = unittest.main(exit=False).result
    if result.skipped and len(result.skipped) == result.testsRun:
        print(result.skipped[0][1])
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
