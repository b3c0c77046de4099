#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The human-readable output of gdrkit doctor: head, counts, order, folding, columns, --short, colour, and the lines at the end."""
import os
import pty
import re
import subprocess
import unittest

from doctor_runs import Lent, m, run_on
from named import NAMED  # tests/fixtures/machines, which doctor_runs makes known
from program import BIN, Test

FAULTS = {m.GPU_PORT + "/config": m.config(acs=0x1d), m.NIC_PORT + "/config": m.config(acs=0x1d), "/proc/sys/kernel/numa_balancing": "1\n"}


def text_of(tree, *arguments, environment=None):
    return run_on(tree, "doctor", *arguments, environment=environment)


def on_one_line(text):
    return " ".join(text.split())


def on_terminal(directory, environment):
    """The output of the doctor on a terminal."""
    ours, theirs = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CLICOLOR_FORCE", "TERM")}
    # Linux may discard buffered output when the last process closes a terminal, so the test keeps it open until it has read the mark.
    mark = "the end"
    process = subprocess.Popen(["sh", "-c", f'"$@"; printf "{mark}"', "sh", os.path.join(BIN, "gdrkit"), "doctor", "--short", "--root", directory],
                               stdout=theirs, env={**variables, **environment})
    text = b""
    while not text.endswith(mark.encode()):
        text += os.read(ours, 65536)
    os.close(theirs)
    os.close(ours)
    process.wait(60)
    return text.decode().removesuffix(mark)


class DoctorText(Test):
    def test_header_shows_host_system_and_devices(self):
        tree = m.changed(m.server(), {"/etc/os-release": 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n',
                                      "/proc/sys/kernel/hostname": "h1\n",
                                      "/proc/driver/nvidia/gpus/0000:03:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ: 1\n",
                                      "/sys/class/infiniband/mlx5_0/hca_type": "MT4129\n",
                                      "/sys/class/infiniband/mlx5_1/hca_type": "MT4129\n"})
        self.assertRegex(on_one_line(text_of(tree).out), r"^gdrkit doctor \S+ on h1 \(Ubuntu 24\.04\.1 LTS, Linux 6\.8\.0-45-generic\): \d+ "
                         r"checks, root \S+ 1 NVIDIA GPU: 1 x NVIDIA H100 80GB HBM3; 2 RDMA adapters: 2 x MT4129; \d+ PCI devices ")

    def test_header_shows_unknown_if_files_are_missing(self):
        text = on_one_line(text_of({"/etc/hostname": "\x1b[2Jx\n"}).out)
        self.assertRegex(text, r"on \?\[2Jx \(unknown distribution, Linux unknown\).* 0 NVIDIA GPUs; 0 RDMA adapters; 0 PCI devices")

    def test_equal_findings_share_a_line_and_faults_are_not_folded(self):
        ended = text_of(m.changed(m.server(), FAULTS), "--verbose")
        widths = [line for line in ended.lines if "pcie.width" in line]
        self.assertEqual(widths, ["ok   pcie.width       0000:03:00.0 and 2 more: x16 of x16"])
        self.assertEqual(sum(line.startswith("FAIL acs.redirect") for line in ended.lines), 2)

    def test_unreadable_objects_with_one_reason_share_a_line(self):
        lines = [line for line in text_of(m.as_user()).lines if line.startswith("???? pcie.mps")]
        self.assertEqual(len(lines), 1)
        self.assertRegex(on_one_line(text_of(m.as_user()).out), r"pcie\.mps 0000:03:00\.0 and 2 more: \S+ only 64 bytes could be read")

    def test_remedy_and_verification_contain_the_object(self):
        lines = text_of(m.changed(m.server(), FAULTS)).lines
        self.assertIn(f"       verify  sudo setpci -s {m.GPU_PORT[-12:]} ECAP_ACS+6.w", lines)
        self.assertFalse([line for line in lines if "PORT" in line])

    def test_recording_without_a_hostname_is_labelled_recorded(self):
        self.assertIn(" on a recorded machine (", text_of(m.changed(m.server(), {"/proc/sys/kernel/hostname": None, "/etc/hostname": None})).out)

    def test_short_prints_one_line_per_fault_failures_first(self):
        ended = text_of(m.changed(m.server(), FAULTS), "--short")
        self.assertEqual(ended.code, 1)
        self.assertEqual([line.split()[:2] for line in ended.lines if re.match("FAIL|warn", line)],
                         [["FAIL", "acs.redirect"]] * 2 + [["warn", "cpu.balancing"]])
        self.assertNotIn("why ", ended.out)
        self.assertFalse([line for line in ended.lines if re.match("ok  |info|skip", line)])
        self.assertRegex(ended.lines[0], "^2 failures, 1 warning, ")

    def test_counts_precede_the_findings_and_next_steps_come_last(self):
        good = text_of(m.server())
        self.assertRegex(good.out, r"^[^\n]*\n(.*\n){1,2}0 failures, 0 warnings, 0 unknown, \d+ info, \d+ ok, \d+ do not apply\n\n")
        self.assertEqual(good.lines[-1], "nothing to do")
        bad = text_of(m.changed(m.server(), FAULTS))
        self.assertRegex(bad.out, r"^[^\n]*\n(.*\n){1,2}2 failures, 1 warning, 0 unknown, .*\n\nFAIL ")
        self.assertIn("gdrkit doctor fix", bad.lines[-1])
        self.assertRegex(text_of(m.as_user()).out, r"\n\d+ checks could not read all facts")

    def test_groups_findings_and_hides_details_unless_verbose(self):
        tree = m.changed(m.server(), {**FAULTS, "/proc/driver/gdrdrv/params": m.gdrdrv_params(persistent="no"),
                                      "/proc/self/limits": m.UNREADABLE})
        marks = {}
        for verbose in ((), ("--verbose",)):
            lines = text_of(tree, *verbose).lines
            found = [line[:4] for line in lines if re.match("FAIL |warn |[?]{4} |info |ok   |skip ", line)]
            self.assertEqual(found, sorted(found, key=["FAIL", "warn", "????", "info", "ok  ", "skip"].index))
            marks[verbose] = set(found)
            self.assertEqual("--verbose also lists what is ok and what does not apply" in lines, not verbose)
        self.assertEqual(marks[()], {"FAIL", "warn", "????", "info"})
        self.assertEqual(marks[("--verbose",)], {"FAIL", "warn", "????", "info", "ok  ", "skip"})

    def test_only_a_long_word_exceeds_110_columns(self):
        for name in ("legacy-conflict", "roce-bad", "dgx-h100-nonroot", "gb300-datadirect"):
            lines = text_of(NAMED[name](), "--verbose").lines
            self.assertGreater(len(lines), 50, name)
            self.assert_fits(lines)

    def test_colour_requires_a_terminal_and_obeys_variables(self):
        escape = "\x1b["
        tree = m.changed(m.server(), FAULTS)
        self.assertNotIn(escape, text_of(tree, "--short").out)
        self.assertIn(escape, text_of(tree, "--short", environment={"CLICOLOR_FORCE": "1"}).out)
        self.assertNotIn(escape, text_of(tree, "--short", environment={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).out)
        with Lent(tree) as directory:
            plain = text_of(tree, "--short").out
            for environment, has_colour in (({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({}, False),
                                            ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "xterm", "NO_COLOR": ""}, True),
                                            ({"TERM": "dumb", "CLICOLOR_FORCE": "1"}, True)):
                text = on_terminal(directory, environment)
                self.assertEqual(escape in text, has_colour, environment)
                self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r\n", "\n"), plain)

    def test_formats_are_mutually_exclusive(self):
        self.assert_wrong_usage(["doctor"], (("--short", "--json"), ("--prom", "--json"), ("--short", "--verbose"), ("fix", "--short"),
                                             ("fix", "--prom")))


if __name__ == "__main__":
    unittest.main()
