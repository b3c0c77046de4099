#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Malicious recordings: every reader ends soon, with findings or an error, and reads nothing outside."""
import os
import pathlib
import random
import subprocess
import tempfile
import time
import unittest
from xml.etree import ElementTree

from doctor_runs import Lent, Written, examine, m, run_on, worst
from hostile import HOSTILE, escaping
from program import Test, run
from servers import two_switches

CANARY = "canary-7f3a"
PATIENCE = 20  # seconds; all take some milliseconds
COMMANDS = [("doctor",), ("doctor", "--json"), ("doctor", "--strict"), ("doctor", "--short"), ("doctor", "--prom"), ("doctor", "fix"),
            ("topo", "--as", "all"), ("topo", "--json"), ("topo", "--dot"), ("topo", "--svg"), ("topo", "--nccl-xml"),
            ("bind", "--gpu", "0", "--dry-run"), ("env", "nccl"), ("env", "ucx"), ("env", "nvshmem", "--json"),
            ("doctor", "diff", "ROOT", "OTHER"), ("doctor", "diff", "OTHER", "ROOT")]


def commands_on(directory, other):
    """Every command that reads a recording, on `directory`; `other` is a healthy one."""
    for command in COMMANDS:
        yield [word.replace("OTHER", other).replace("ROOT", directory) for word in command] + (
            [] if "ROOT" in command else ["--root", directory])


class DoctorHostile(Test):
    def run_all(self, directory, allowed=(0, 1, 3, 4, 77)):
        outputs = []
        with Lent(m.server()) as other:
            for command in commands_on(directory, other):
                start = time.monotonic()
                # The output is UTF-8 regardless of the machine's files.
                ended = run("gdrkit", *command, timeout=PATIENCE, stdin=subprocess.DEVNULL, encoding="utf-8")
                shown = (command, ended.code, ended.out[-300:], ended.err[-300:])
                self.assertIn(ended.code, allowed, shown)
                self.assertLess(time.monotonic() - start, PATIENCE, shown)
                self.assertNotIn("\x1b", ended.out + ended.err, shown)
                outputs.append(ended.out + ended.err)
        return outputs

    def test_terminates_with_a_verdict_on_hostile_machines(self):
        for name, make in HOSTILE.items():
            with self.subTest(name), Written(make()) as directory:
                self.run_all(directory)

    def test_escapes_adapter_names_in_text_and_documents(self):
        for name in ("\x1b[31mred", "a\udc9b31m", '"><script>&', "a\nexport X=1"):
            tree = {path.replace("mlx5_0", name): m.Link(value.replace("mlx5_0", name)) if isinstance(value, m.Link) else value
                    for path, value in two_switches().items()}
            with self.subTest(name), Written(tree) as directory:
                self.run_all(directory)
                for form in ("--svg", "--nccl-xml"):
                    ElementTree.fromstring(run("gdrkit", "topo", form, "--root", directory).out)
                for library, form in (("nccl", "dotenv"), ("nccl", "nccl.conf"), ("ucx", "ucx.conf"), ("nccl", "k8s")):
                    self.assertNotIn("\nexport X=1", run("gdrkit", "env", library, "--format", form, "--root", directory).out)

    def test_limits_the_number_of_settings(self):
        many = "".join(f"NCCL_X{number}=1\n" for number in range(100000))
        for change in ({"/proc/self/environ": many.replace("\n", "\0")}, {"/etc/nccl.conf": many}, {"/etc/ucx/ucx.conf": many}):
            with self.subTest(next(iter(change))):
                ended = run_on(m.changed(m.server(), change), "doctor", "--only", "environment", timeout=PATIENCE)
                self.assertIn("contains more than 2048", ended.out)

    def test_a_loop_of_links_is_unknown_and_not_absent(self):
        _, found = examine(HOSTILE["loops"]())
        self.assertIn("unknown", {state for findings in found.values() for state, _, text in findings if "many links" in text})

    def test_files_too_large_or_binary_are_unknown(self):
        _, found = examine(HOSTILE["junk"]())
        for check in ("lim.memlock", "acs.override", "drv.flavour", "bar1.size", "numa.nic"):
            self.assertEqual(worst(found[check]), "unknown", (check, found[check]))

    def test_reports_pipes_without_opening_them(self):
        _, found = examine(HOSTILE["pipes"]())
        for check in ("acs.override", "lim.memlock", "numa.nic", "nic.state"):
            self.assertIn("is not a regular file", " ".join(text for _, _, text in found[check]), check)

    def test_accepts_five_digit_domains(self):
        _, found = examine(HOSTILE["long-domains"]())
        self.assertEqual(worst(found["acs.redirect"]), "ok")
        self.assertIn("10000:", " ".join(subject for _, subject, _ in found["acs.redirect"]))

    def test_nothing_outside_the_recording_is_read(self):
        with tempfile.TemporaryDirectory() as other:
            outside = pathlib.Path(other, "canary")
            outside.write_text(CANARY + "\n", encoding="ascii")
            with Written(escaping(str(outside))) as directory:
                for output in self.run_all(directory):
                    self.assertNotIn(CANARY, output)
                inside = pathlib.Path(f"{directory}{outside}")  # the same links to a file in the recording are followed
                inside.parent.mkdir(parents=True)
                inside.write_text(CANARY + "\n", encoding="ascii")
                self.assertTrue(any(CANARY in output for output in self.run_all(directory)))

    def test_does_not_read_an_endless_file_through_links(self):
        places = ["/proc/cmdline", "/proc/self/limits", m.GPU + "/config", "/sys/class/infiniband/mlx5_0/ports/1/rate"]
        for target in ("/dev/zero", "../" * 30 + "dev/zero"):
            with self.subTest(target), Written(m.changed(m.server(), dict.fromkeys(places, m.Link(target)))) as directory:
                self.run_all(directory)

    def test_does_not_open_real_device_nodes(self):
        tree = m.server()
        places = ["/proc/cmdline", "/proc/self/limits", m.GPU + "/config", "/sys/class/infiniband/mlx5_0/ports/1/rate"]
        with Written(m.changed(tree, dict.fromkeys(places))) as directory:
            try:
                for place in places:
                    os.mknod(directory + place, 0o020666, os.makedev(1, 5))  # /dev/zero: an endless file
            except PermissionError:
                self.skipTest("only root makes nodes of devices")
            outputs = self.run_all(directory)
        self.assertIn("is not a regular file", outputs[0])

    def test_survives_random_changes_of_a_recording(self):
        chance = random.Random(20261123)
        tree = m.server()
        files = [path for path, value in sorted(tree.items()) if isinstance(value, (str, bytes)) and not isinstance(value, m.Link)]
        with Written(tree) as directory:
            for _ in range(120):
                chosen = [pathlib.Path(directory + path) for path in chance.sample(files, 6)]
                before = [path.read_bytes() for path in chosen]
                for path, content in zip(chosen, before):
                    path.write_bytes(_damaged(content, chance))
                ended = run("gdrkit", "doctor", "--root", directory, timeout=PATIENCE)
                self.assertIn(ended.code, (0, 1, 3), (chosen, ended.err))
                self.assertNotIn("\x1b", ended.out, chosen)
                for path, content in zip(chosen, before):
                    path.write_bytes(content)


def _damaged(content, chance):
    """Returns `content` truncated, repeated, with flipped bits, with inserted bytes, or replaced by other content."""
    at = chance.randrange(len(content) + 1)
    return chance.choice([
        lambda: content[:at], lambda: content * 3, lambda: content[:at] + bytes(chance.randrange(256) for _ in range(8)) + content[at:],
        lambda: bytes(byte ^ (1 << chance.randrange(8) if chance.random() < 0.05 else 0) for byte in content),
        lambda: b"-9223372036854775809\n", lambda: b"\n" * 5000, lambda: content[at:], lambda: b"0x" + b"f" * 40 + b"\n",
        lambda: chance.choice([b"-\n", b"0x\n", b"\x1b[2J\n", b"\0" * 64, bytes(range(256)), b"\xff" * 4096, b"9" * 400000])])()


if __name__ == "__main__":
    unittest.main()
