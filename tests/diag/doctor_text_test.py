#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""What gdrkit doctor prints for people: head, folding, --short, colour, and the lines at the end."""
import os
import pty
import re
import subprocess
import unittest

from doctor_runs import Written, m
from program import BIN, Test, run

FAULTS = {m.GPU_PORT + "/config": m.config(acs=0x1d), m.NIC_PORT + "/config": m.config(acs=0x1d), "/proc/sys/kernel/numa_balancing": "1\n"}


def text_of(tree, *arguments, environment=None):
    with Written(tree) as folder:
        return run("gdrkit", "doctor", "--root", folder, *arguments, environment=environment)


def on_terminal(folder, environment):
    """What the doctor prints when its output is a terminal."""
    ours, theirs = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CLICOLOR_FORCE", "TERM")}
    process = subprocess.Popen([os.path.join(BIN, "gdrkit"), "doctor", "--short", "--root", folder], stdout=theirs,
                               env={**variables, **environment})
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux's word for the end of a terminal
            part = b""
        if not part:
            break
        text += part
    os.close(ours)
    process.wait(60)
    return text.decode()


class DoctorText(Test):
    def test_the_head_names_host_system_and_devices(self):
        tree = m.changed(m.server(), {"/etc/os-release": 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n',
                                      "/proc/sys/kernel/hostname": "h1\n",
                                      "/proc/driver/nvidia/gpus/0000:03:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ: 1\n",
                                      "/sys/class/infiniband/mlx5_0/hca_type": "MT4129\n",
                                      "/sys/class/infiniband/mlx5_1/hca_type": "MT4129\n"})
        head = text_of(tree).lines[:2]
        self.assertRegex(head[0], r"^gdrkit doctor \S+ on h1 \(Ubuntu 24\.04\.1 LTS, Linux 6\.8\.0-45-generic\): looked at \S+ by \d+ check")
        self.assertRegex(head[1], r"^1 NVIDIA GPU\(s\): 1 x NVIDIA H100 80GB HBM3; 2 RDMA adapter\(s\): 2 x MT4129; \d+ PCI device")

    def test_a_machine_that_says_nothing_is_told_so(self):
        head = text_of({"/etc/hostname": "\x1b[2Jx\n"}).lines[:2]
        self.assertRegex(head[0], r"on \?\[2Jx \(unknown distribution, Linux unknown\)")
        self.assertRegex(head[1], r"^0 NVIDIA GPU\(s\); 0 RDMA adapter\(s\); 0 PCI")

    def test_what_is_the_same_for_several_objects_is_one_line_and_faults_are_not_folded(self):
        ended = text_of(m.changed(m.server(), FAULTS))
        widths = [line for line in ended.lines if "pcie.width" in line]
        self.assertEqual(widths, ["ok   pcie.width       0000:03:00.0 and 2 more: x16 of x16"])
        self.assertEqual(sum(line.startswith("FAIL acs.redirect") for line in ended.lines), 2)

    def test_what_could_not_be_read_of_several_objects_for_one_reason_is_one_line(self):
        lines = [line for line in text_of(m.as_user()).lines if line.startswith("???? pcie.mps")]
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"0000:03:00\.0 and 2 more: .*only 64 bytes could be read")

    def test_remedy_and_verification_name_the_object(self):
        lines = text_of(m.changed(m.server(), FAULTS)).lines
        self.assertIn(f"       verify  sudo setpci -s {m.GPU_PORT[-12:]} ECAP_ACS+6.w", lines)
        self.assertFalse([line for line in lines if "PORT" in line])

    def test_a_recording_without_a_name_is_not_this_host(self):
        self.assertIn(" on a recorded machine (", text_of(m.changed(m.server(), {"/proc/sys/kernel/hostname": None, "/etc/hostname": None})).lines[0])

    def test_short_is_one_line_a_fault_failures_first(self):
        ended = text_of(m.changed(m.server(), FAULTS), "--short")
        self.assertEqual(ended.code, 1)
        self.assertEqual([line.split()[:2] for line in ended.lines if re.match("FAIL|warn", line)],
                         [["FAIL", "acs.redirect"]] * 2 + [["warn", "cpu.balancing"]])
        self.assertNotIn("why ", ended.out)
        self.assertFalse([line for line in ended.lines if re.match("ok  |info|skip", line)])

    def test_the_end_says_how_many_and_what_to_do(self):
        good = text_of(m.server()).lines
        self.assertRegex(good[-2], r"^\d+ ok, \d+ info, 0 warnings, 0 failures, 0 unknown, \d+ not applicable$")
        self.assertEqual(good[-1], "nothing to do")
        bad = text_of(m.changed(m.server(), FAULTS)).lines
        self.assertRegex(bad[-2], r"1 warnings, 2 failures")
        self.assertIn("gdrkit doctor fix", bad[-1])
        self.assertEqual([line for line in bad if line.startswith("in short")],
                         ["in short: failed acs.redirect", "in short: warned cpu.balancing"])
        self.assertNotIn("in short", "\n".join(good))
        self.assertRegex(text_of(m.as_user()).out, r"\n\d+ check\(s\) could not know all")

    def test_colour_comes_on_a_terminal_alone_and_as_the_variables_want(self):
        escape = "\x1b["
        tree = m.changed(m.server(), FAULTS)
        self.assertNotIn(escape, text_of(tree, "--short").out)
        self.assertIn(escape, text_of(tree, "--short", environment={"CLICOLOR_FORCE": "1"}).out)
        self.assertNotIn(escape, text_of(tree, "--short", environment={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).out)
        with Written(tree) as folder:
            plain = text_of(tree, "--short").out
            for environment, has_colour in (({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({}, False),
                                            ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "xterm", "NO_COLOR": ""}, True),
                                            ({"TERM": "dumb", "CLICOLOR_FORCE": "1"}, True)):
                text = on_terminal(folder, environment)
                self.assertEqual(escape in text, has_colour, environment)
                self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r\n", "\n"), plain)

    def test_formats_exclude_each_other(self):
        for arguments in (("--short", "--json"), ("--prom", "--json"), ("fix", "--short"), ("fix", "--prom")):
            ended = run("gdrkit", "doctor", *arguments)
            self.assertEqual((ended.code, ended.out), (2, ""), arguments)


if __name__ == "__main__":
    unittest.main()
