#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""apiperf in both fronts on the emulated device."""
import os
import re
import unittest

from program import BANNER, NOTE, Test, run

FEW = ("-n", "20", "-w", "2")
NUMBER = r"\d+\.\d{6}"


def head(size, allocated):
    return BANNER + [r"device ptr: 0x[0-9a-f]+", rf"allocated size: {allocated}"] + [
        line for power in range(16, size.bit_length()) for line in block(1 << power)]


def block(size):
    return [r"Size\(B\)\tpin\.Time\(us\)\tmap\.Time\(us\)\tget_info\.Time\(us\)\tunmap\.Time\(us\)\tunpin\.Time\(us\)",
            rf"{size}(\t{NUMBER}){{5}}", rf"Histogram of gdr_pin_buffer latency for {size} bytes",
            *[rf"\[{NUMBER}\t-\t{NUMBER}\]\t\d+"] * 10, r""]


class ApiperfLines(Test):
    def test_prints_defaults(self):
        ended = run("gdrcopy_apiperf")
        self.assertEqual((ended.code, ended.err), (0, ""))
        self.assert_lines(ended.lines, head(1 << 24, 1 << 24) + [r"closing gdrdrv"])

    def test_histogram_counts_every_pin(self):
        ended = run("gdrcopy_apiperf", "-s", "65536", "-n", "37")
        bins = re.findall(r"(?m)^\[([0-9.]+)\t-\t([0-9.]+)\]\t(\d+)$", ended.out)
        self.assertEqual(sum(int(count) for _, _, count in bins), 37)
        self.assertTrue(int(bins[0][2]) >= 1 and int(bins[9][2]) >= 1, "the least and the most are pins")
        for (_, end, _), (begin, _, _) in zip(bins, bins[1:]):
            self.assertEqual(end, begin)

    def test_sizes_end_at_the_requested_whole_pages(self):
        ended = run("gdrcopy_apiperf", "-s", "0x30001", "-a", "cuMemCreate", "-M", "wc", *FEW)
        self.assertEqual((ended.code, ended.err), (0, ""))
        self.assert_lines(ended.lines, head(0x40000, 0x40000) + [r"closing gdrdrv"])
        ended = run("gdrcopy_apiperf", "-s", "1", *FEW)
        self.assert_lines(ended.lines, head(65536, 65536) + [r"closing gdrdrv"])

    def test_errors_exit_with_1(self):
        for arguments, text in ((("-s", "0"), "cannot pin 0 bytes"), (("-n", "0"), "iterations"), (("-n", "-1"), "iterations"),
                                (("-w", "-1"), "warm-up"), (("-a", "odd"), "Unrecognized fn argument"),
                                (("-s", "-1"), "cannot be negative"),
                                (("-M", "odd"), "ERROR: invalid mapping_type 'odd'."),
                                (("-M", "cache"), "map of 65536 bytes: "), (("-z",), "ERROR: invalid option"),
                                (("-d", "5"), "")):
            ended = run("gdrcopy_apiperf", *arguments)
            self.assertEqual(ended.code, 1, (arguments, ended.out))
            self.assertIn(text, ended.err, arguments)
            self.assertTrue(ended.err)

    def test_help_is_on_stdout(self):
        ended = run("gdrcopy_apiperf", "-h")
        self.assertEqual((ended.code, ended.err), (0, ""))
        for option in "snwaM":
            self.assertRegex(ended.out, rf"(?m)^  -{option} ")


class ApiperfOwnFace(Test):
    def test_table_has_a_row_for_each_call_and_size(self):
        ended = run("gdrkit", "apiperf", "--size", "131072", "--iterations", "20", "--warm-up", "0")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertRegex(ended.lines[0], "^" + NOTE + "$")
        for size in (65536, 131072):
            for call in ("pin", "map", "get_info", "unmap", "unpin"):
                self.assertRegex(ended.out, rf"(?m)^ +{size} {call} +( +[0-9.]+){{2}}( +-){{2}}( +[0-9.]+){{2}}$")
        self.assertIn("\npin of 131072 bytes\n", ended.out)
        quiet = run("gdrkit", "apiperf", "--size", "65536", "--iterations", "20", "--quiet")
        self.assertEqual(len(quiet.lines), 1 + 1 + 5, quiet.out)

    def test_json(self):
        for program, arguments in (("gdrkit", ("apiperf", "--size", "131072", "--iterations", "50")),
                                   ("gdrcopy_apiperf", ("-s", "131072", "-n", "50"))):
            document, _ = self.json_of(*arguments, program=program)
            self.assertEqual((document["schema_version"], document["tool"], document["ok"]), (2, "apiperf", True))
            self.assertEqual([series["id"] for series in document["series"]],
                             ["pin/mapping", "map/mapping", "get_info/mapping", "unmap/mapping", "unpin/mapping"])
            for series in document["series"]:
                self.assertEqual([point["x"] for point in series["points"]], [65536, 131072])
                for point in series["points"]:
                    self.assertEqual((point["single"]["count"], len(point["rounds"])), (50, 20))
                    self.assertTrue(0 < point["single"]["minimum"] <= point["single"]["p50"] <= point["single"]["p99"])

    def test_accepts_numa_nodes(self):
        self.assertEqual(run("gdrkit", "apiperf", "--no-bind", "-s", "65536", "-n", "5").code, 0)
        if os.path.isdir("/sys/devices/system/node"):
            ended = run("gdrkit", "apiperf", "--numa", "all", "-s", "65536", "-n", "5")
            self.assertEqual(ended.code, 0, ended.err)
            for call in ("pin", "map", "get_info", "unmap", "unpin"):
                self.assertIn(f"{call}, 65536 bytes", ended.out)

    def test_wrong_usage_exits_with_2(self):
        for arguments in (("--size", "0"), ("--size", "many"), ("--size", "0xffffffffffffffff"), ("--iterations", "0"),
                          ("--warm-up", "-1"), ("--allocation", "odd"), ("--mapping-type", "odd"), ("--nothing",),
                          ("extra",), ("--numa", "all", "--no-bind")):
            ended = run("gdrkit", "apiperf", *arguments)
            self.assertEqual(ended.code, 2, (arguments, ended.out, ended.err))
            self.assertTrue(ended.err)

    def test_unavailable_mapping_type_exits_with_1_and_the_call(self):
        ended = run("gdrkit", "apiperf", "--mapping-type", "cache")
        self.assertEqual(ended.code, 1)
        self.assertRegex(ended.err, r"(?m)^map of 65536 bytes: .*\(95\)$")
        self.assertNotIn("Assertion", ended.err)
        ended = run("gdrcopy_apiperf", "-M", "cache")
        self.assertRegex(ended.err, r'(?m)^Assertion ".*" failed at apiperf\.cpp:\d+$')


if __name__ == "__main__":
    unittest.main()
