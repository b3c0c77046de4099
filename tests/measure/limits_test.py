#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Counts and sizes that no machine supports are rejected with the limits; missing devices, full disks; tables fit a terminal."""
import re
import unittest

from program import Test, run, run_without_space

WIDTH = 110
MOST_INT = str(2**31 - 1)
COUNTS = (("copylat", "-w", "--write-iterations"), ("copylat", "-r", "--read-iterations"),
          ("copylat", None, "--rounds"), ("copylat", None, "--batch-us"), ("copylat", None, "--pin-repeats"),
          ("copybw", "-w", "--write-iterations"), ("copybw", "-r", "--read-iterations"),
          ("apiperf", "-n", "--iterations"), ("apiperf", "-w", "--warm-up"),
          ("pplat", "-t", "--iterations"), ("pplat", "-u", "--timeout"), ("pplat", "-B", "--blocks"),
          ("pplat", "-T", "--threads"),
          ("bandwidth", None, "--testSamples"), ("bandwidth", None, "--loopCount"), ("bench", None, "--rounds"))
NEEDS = {"--rounds": ("--raw",), "--batch-us": ("--raw",), "--pin-repeats": ("--pin-cost",)}


class Counts(Test):
    def test_rejects_the_largest_int_with_option_and_limits(self):
        for tool, short, long in COUNTS:
            extra = NEEDS.get(long, ()) if tool == "copylat" else ()
            ended = run("gdrkit", tool, long, MOST_INT, *extra)
            self.assertEqual((ended.code, ended.out), (2, ""), (tool, long))
            self.assertRegex(ended.err, rf"{long}\b.*(use|from) \d+ to \d+")
            if short is None or tool in ("bandwidth", "bench"):
                continue
            ended = run("gdrcopy_" + tool, short, MOST_INT)
            self.assertEqual((ended.code, ended.out), (1, ""), (tool, short))
            self.assertRegex(ended.err, rf"{short}\b.*(use|from) \d+ to \d+")

    def test_gdrcopy_names_reject_zero_and_negative_counts(self):
        for tool, short, long in COUNTS:
            if long in ("--warm-up", "--timeout"):
                continue
            for text in ("0", "-5") if short is not None else ():
                self.assertEqual(run("gdrcopy_" + tool, short, text).code, 1, (tool, short))

    def test_tables_contain_no_zero_times(self):
        ended = run("gdrcopy_copylat", "-s", "64", "-w", "101", "-r", "1")
        self.assertEqual(ended.code, 0, ended.err)
        times = re.findall(r"(?m)^gdr_copy_\w+ \t +\d+ \t +([0-9.]+) \t +([0-9.]+)$", ended.out)
        self.assertEqual(len(times), 14)
        self.assertTrue(all(float(value) > 0 for pair in times for value in pair))


class HugeSizes(Test):
    def check(self, ended, size):
        self.assertIn(f"cannot allocate {size} of device memory", ended.err)
        self.assertRegex(ended.err, r"the device has [0-9.]+ [MGT]iB, [0-9.]+ [MGT]iB of it free; choose a smaller size")
        self.assertNotIn("Assertion", ended.err)

    def test_error_reports_requested_and_available_size(self):
        for arguments in (("copylat", "-s"), ("copylat", "--raw", "-s"), ("copylat", "--pin-cost", "--pin-size"),
                          ("copybw", "-s"), ("apiperf", "-s")):
            for text, size, code in (("64T", "64 TiB", 1), (str(2**62 + 2**40), f"{(2**62 + 2**40) >> 40} TiB", 2)):
                ended = run("gdrkit", *arguments, text)
                self.assertEqual(ended.code, code, (arguments, ended.out, ended.err))
                self.check(ended, size)

    def test_gdrcopy_names_do_the_same(self):
        for name in ("gdrcopy_copylat", "gdrcopy_copybw", "gdrcopy_apiperf"):
            ended = run(name, "-s", str(2**46))
            self.assertEqual(ended.code, 1, name)
            self.check(ended, "64 TiB")

    def test_bench_omits_the_size_with_the_same_message(self):
        ended = run("gdrkit", "bench", "--quick", "--only", "copies", "--sizes", "64,64G", "--rounds", "3")
        if "64 GiB" in ended.out and "cannot allocate" not in ended.out:
            self.skipTest("this machine has 128 GiB of free memory")
        self.assertRegex(ended.out, r"(?m)^note: left out: .*64 GiB: cannot allocate 64 GiB of \w+ memory")


class Failures(Test):
    def test_missing_device_exits_with_77(self):
        for tool in ("apiperf", "pplat"):
            self.assertEqual(run("gdrkit", tool, "-d", "5").code, 77, tool)

    def test_unwritable_output_is_an_error(self):
        for tool, *few in (("apiperf", "-s", "65536", "-n", "20"), ("pplat", "-t", "100")):
            for command in (("gdrkit", tool, *few), ("gdrkit", tool, *few, "--json"), ("gdrcopy_" + tool, *few)):
                self.assertEqual(run_without_space(*command).code, 1, command)


class Width(Test):
    RUNS = (("info",), ("sanity", "-t", "basic_cumemalloc", "-v"), ("copybw", "-w", "2", "-r", "2"),
            ("copylat", "-c", "-w", "100", "-r", "100", "-s", "1M"), ("copylat", "--raw", "--rounds", "3", "--batch-us", "10"),
            ("copylat", "--pin-cost", "--pin-repeats", "3"), ("pplat", "-t", "200", "--raw"),
            ("pplat", "-t", "200", "-s", "1K", "-m", "1"), ("apiperf", "-n", "20"), ("bandwidth", "-i", "1"),
            ("copylat", "--numa", "all", "-w", "10", "-r", "10"),
            ("bench", "--quick", "--rounds", "3"))

    def test_no_line_of_output_is_wider_than_110_columns(self):
        for arguments in self.RUNS:
            ended = run("gdrkit", *arguments)
            self.assertIn(ended.code, (0, 1), (arguments, ended.err))
            for line in ended.lines:
                self.assertLessEqual(len(line), WIDTH, f"{arguments}: {line}")


class Rates(Test):
    def test_only_large_copies_have_a_rate(self):
        ended = run("gdrkit", "copylat", "-s", "64K", "-w", "100", "-r", "100")
        rows = re.findall(r"(?m)^ +(\d+) +([0-9.]+) +([0-9.]+) *([0-9.]*)$", ended.out)
        self.assertEqual(len(rows), 34)
        for size, median, _, rate in rows:
            self.assertEqual(rate != "", int(size) >= 4096, size)
            if rate:
                self.assertAlmostEqual(float(rate), int(size) / float(median) / 1000, delta=0.02 * float(rate) + 0.01)

    def test_bench_has_a_line_of_rates_below_large_copies(self):
        ended = run("gdrkit", "bench", "--quick", "--only", "copies", "--sizes", "64,64K", "--rounds", "3")
        self.assertEqual(ended.code, 0, ended.err)
        labels = [line.split()[0] for line in ended.lines if re.match(r" +(64 B|64 KiB|GB/s) ", line)]
        self.assertEqual(labels, ["64", "64", "GB/s"] * 2)

    def test_gdrcopy_tables_show_no_rates(self):
        self.assertNotIn("GB/s", run("gdrcopy_copylat", "-s", "65536", "-w", "10", "-r", "10").out)


if __name__ == "__main__":
    unittest.main()
