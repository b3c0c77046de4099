#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Without a GPU every tool that measures or checks hardware fails, unless emulation is requested: all subcommands, all names."""
import os
import re
import unittest

from program import BIN, HAS_GPU, NOTE, Test, other_names, run, subcommands

# The fewest arguments that the tool accepts. Other subcommands run without arguments.
ARGUMENTS = {
    "sanity": ("-t", "basic_cumemalloc"), "copybw": ("-s", "4096", "-w", "1", "-r", "1"),
    "copylat": ("-s", "8", "-w", "101", "-r", "1"), "apiperf": ("-s", "65536", "-n", "1", "-w", "1"), "pplat": ("-t", "101"),
    "bench": ("--quick", "--only", "costs"), "tune": ("-o", os.devnull), "bandwidth": ("-t", "0", "-b", "1M", "-i", "1"),
    "nccl": ("all_reduce",), "osu": ("latency", "D", "D", "--engine", "shmem", "-m", "8", "-i", "1"),
    "perftest": ("write_lat", "--use_cuda=0"),
}
# Each part of shmem opens the device separately.
PARTS = {"shmem": (("info",), ("check", "-t", "identity"), ("check", "-n", "2", "-t", "identity"),
                   ("bench", "--quick", "--quiet", "-t", "p"))}
# These open no device: they read files, print text, or start a program that opens one itself.
WITHOUT_DEVICE = {"report", "doctor", "topo", "bind", "snapshot", "env", "run", "completion"}
# Emulation alone is not enough: NCCL or an RDMA device is missing.
NEED_MORE = {"nccl", "perftest"}
REASON = "; set GDRKIT_BACKEND=emulated, or pass --emulated to gdrkit, to run on the emulated device"


def tools():
    """Each tool that needs a device, as words."""
    for name in subcommands():
        if name in WITHOUT_DEVICE:
            continue
        for part in PARTS.get(name, ((),)):
            yield (name, *part, *ARGUMENTS.get(name, ()))


@unittest.skipIf(HAS_GPU, "there is a GPU")
class WithoutAGpu(Test):
    def test_every_subcommand_exits_with_77_and_reports_the_remedy(self):
        for words in tools():
            with self.subTest(words):
                ended = run("gdrkit", *words, environment={})
                self.assertEqual(ended.code, 77, ended.out + ended.err)
                if words[0] == "info":
                    self.assertIn("pass --emulated", " ".join(ended.out.split()))
                elif words[0] != "perftest" or REASON in ended.err:  # a missing libibverbs or device is reported first
                    self.assertEqual(ended.out, "")
                    self.assertRegex(ended.err, r"cannot use a GPU: no GPU was found \(")
                    self.assertEqual(ended.err.count(REASON), 1)

    def test_gdrcopy_names_exit_with_1_and_report_the_remedy(self):
        names = [name for name in sorted(os.listdir(BIN)) if name.startswith("gdrcopy_")]
        self.assertEqual(len(names), 5)
        for name in names:
            ended = run(name, environment={})
            self.assertEqual((ended.code, ended.out), (1, ""), name)
            self.assertIn("cannot use a GPU: no GPU was found (", ended.err)
            self.assertIn(REASON, ended.err)
            self.assertNotEqual(run(name, "--emulated", environment={}).code, 0, "only gdrkit itself has the option")

    def test_every_other_name_exits_with_77(self):
        self.assertGreater(len(other_names()), 20)
        for name, subcommand in other_names():
            arguments = () if subcommand != "perftest" else ("--use_cuda=0",)
            ended = run(name, *arguments, environment={})
            self.assertEqual((ended.code, ended.out), (77, ""), (name, ended.err))

    def test_a_job_reports_the_missing_gpu_once(self):
        ended = run("gdrkit", "shmem", "check", "-n", "3", environment={})
        self.assertEqual((ended.code, ended.out, len(ended.err.splitlines())), (77, "", 1), ended.err)


class Emulated(Test):
    def test_every_subcommand_runs_with_the_option(self):
        for words in tools():
            if words[0] in NEED_MORE:
                continue
            with self.subTest(words):
                if words[0] == "tune":
                    words = ("tune", "-o", self.path("profile"))
                ended = run("gdrkit", *words, "--emulated", environment={})
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.assertIn("emulated", ended.out)
                if words[0] != "info":
                    self.assertRegex(" ".join(ended.out.split()), NOTE)

    def test_only_tools_that_use_a_device_have_the_option(self):
        for name in subcommands():
            for part in PARTS.get(name, ((),)):
                text = run("gdrkit", name, *part[:1], "--help").out
                self.assertEqual("sets GDRKIT_BACKEND=emulated" in " ".join(text.split()), name not in WITHOUT_DEVICE, (name, part))

    def test_tune_reports_the_output_option_without_a_profile_path(self):
        ended = run("gdrkit", "tune", "--emulated", environment={})
        self.assert_failed(ended, 77, "cannot store the profile: the emulated device has no default path for profiles; use --output FILE")

    def test_the_option_conflicts_with_another_backend_and_overrides_the_variable(self):
        ended = run("gdrkit", "copybw", "--emulated", "--backend", "rm", environment={})
        self.assert_failed(ended, 2, "cannot combine --emulated with --backend rm; omit one")
        for words in (("--backend", "emulated"), ()):
            ended = self.run_ok("gdrkit", "copybw", *ARGUMENTS["copybw"], "--emulated", *words, environment={"GDRKIT_BACKEND": "rm"})
            self.assertTrue(re.match(NOTE, ended.lines[0]))


if __name__ == "__main__":
    unittest.main()
