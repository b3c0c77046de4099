#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Programs print no control characters from arguments, variables, files or names."""
import glob
import os
import re
import subprocess
import sys
import unittest

from program import BIN, Test, subcommands, variables_with

# A terminal title, a colour, a carriage return, CSI as one UTF-8 character, and CSI as a byte that is not valid UTF-8.
EVIL = b"ev\x1b]0;owned\x07\x1b[31m\rx\xc2\x9b2J\x9b2J"
RAW = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\xc2-\xf4\x80-\xbf])[\x80-\x9f]")


def is_clean(output):
    return RAW.search(output) is None


def run(words, environment=None, directory=None):
    variables = {**{os.fsencode(name): os.fsencode(value) for name, value in variables_with().items()}, **(environment or {})}
    ended = subprocess.run(words, env=variables, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100,
                           check=False)
    return ended.returncode, ended.stdout


def variables_of_gdrkit():
    """Every GDRKIT_ variable that the programs read."""
    with open(os.path.join(BIN, "gdrkit"), "rb") as file:
        return sorted(set(re.findall(rb"GDRKIT_[A-Z_]+[A-Z]", file.read())))


class Escapes(Test):
    gdrkit = os.path.join(BIN, "gdrkit").encode()

    def assert_clean(self, words, environment=None):
        code, output = run(words, environment, self.directory)  # some programs write files
        self.assertTrue(is_clean(output), (words, environment, code, output[-2000:]))
        return code, output

    def test_escapes_arguments(self):
        self.assert_clean([self.gdrkit, EVIL])
        for name in map(str.encode, subcommands()):
            for words in ([b"--" + EVIL], [b"--" + EVIL + b"=1"], [EVIL], [b"-" + EVIL], [b"-d", EVIL], [b"--json=" + EVIL + b"/none"]):
                if name == b"run":
                    words = [b"-n", b"1", *words]
                code, _ = self.assert_clean([self.gdrkit, name, *words])
                self.assertGreaterEqual(code, 0, (name, words))
        for path in sorted(glob.glob(os.path.join(BIN, "*").encode())):
            if not os.path.isdir(path):
                self.assert_clean([path, b"--" + EVIL])
                self.assert_clean([path, b"-s", EVIL, EVIL])

    def test_escapes_option_values(self):
        for name in subcommands():
            code, text = run([self.gdrkit, name.encode(), b"--help"])
            self.assertEqual(code, 0)
            for option in sorted(set(re.findall(rb"(?m)^ +(?:-\w, )?(--[\w-]+) [A-Z]", text))):
                self.assert_clean([self.gdrkit, name.encode(), option, EVIL])

    def test_escapes_variables(self):
        names = variables_of_gdrkit()
        self.assertGreater(len(names), 20)
        for name in names:
            for words in ([b"info"], [b"copylat", b"-s", b"8"], [b"shmem", b"info"], [b"env", b"nccl"], [b"doctor", b"--short"]):
                self.assert_clean([self.gdrkit, *words], {name: EVIL})

    def test_escapes_variables_of_other_libraries(self):
        for name in (b"CUDA_VISIBLE_DEVICES", b"UCX_TLS", b"NCCL_IB_HCA", b"NVSHMEM_HCA_LIST", b"NVSHMEM_SYMMETRIC_SIZE", b"SLURM_LOCALID", b"PMI_RANK",
                     b"OMPI_COMM_WORLD_RANK", b"RANK", b"TERM", b"LANG"):
            for words in ([b"info"], [b"doctor"], [b"env", b"nccl"], [b"shmem", b"info"], [b"bind", b"--dry-run"]):
                self.assert_clean([self.gdrkit, *words], {name: EVIL, b"WORLD_SIZE": b"2"})

    def test_escapes_program_and_file_names(self):
        program = os.path.join(os.fsencode(self.directory), EVIL)
        for content in (b"\x7fELF\x02\x01\x01\x00" + bytes(64), b"#!/none/" + EVIL + b"\n", b"#!/bin/sh\nexit 3\n"):
            with open(program, "wb") as file:
                file.write(content)
            os.chmod(program, 0o755)
            self.assert_clean([self.gdrkit, b"run", b"-n", b"1", b"--no-bind", b"--", program])
            if not content.startswith(b"\x7f"):  # the shell would run it and print its name
                self.assert_clean([self.gdrkit, b"bind", b"--or-unbound", b"--", program])
        for words in ([b"report"], [b"doctor", b"--root"], [b"bench", b"--compare"], [b"doctor", b"diff", program], [b"snapshot", b"--root"]):
            self.assert_clean([self.gdrkit, *words, program])

    def test_escapes_the_machine_name(self):
        rename = "import os, socket, sys; socket.sethostname(os.fsencode(sys.argv[1])); os.execvp(sys.argv[2], sys.argv[2:])"
        words = ["unshare", "-u" if os.geteuid() == 0 else "-ru", sys.executable, "-c", rename, EVIL[:60]]
        code, text = run([*words, b"true"])
        if code != 0:
            self.skipTest(f"cannot set the host name here: {text[-200:]}")
        for command in ([b"doctor"], [b"info"], [b"shmem", b"check", b"-n", b"2", b"-e", b"4K"], [b"bench", b"--quick", b"--help"]):
            self.assert_clean([*words, self.gdrkit, *command])


if __name__ == "__main__":
    unittest.main()
