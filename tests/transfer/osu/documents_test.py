#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""--csv, --compare and reports of gdrkit osu and nccl."""
import csv
import json
import os
import unittest

from program import BIN, Test, run

FEW = ("-m", "4:64", "-i", "16", "-x", "1", "--timeout", "60")
OSU = ("osu", "bcast", "--engine", "shmem", *FEW)
NCCL = ("nccl", "all_gather", "--nccl", os.path.join(BIN, "..", "tests", "bin", "libstand_in_nccl.so"), "-b", "64", "-e", "256", "-f", "2",
        "-n", "2", "-N", "3", "-T", "60")


class TransferDocuments(Test):
    def test_csv_has_a_line_for_each_point(self):
        for arguments, series, points in ((OSU, "osu/bcast/DD/2/shmem", 5), (NCCL, "nccl/all_gather/float/none/out_of_place/time/nccl", 3)):
            ended = run("gdrkit", *arguments, "--csv")
            self.assertEqual(ended.code, 0, ended.err)
            rows = [row for row in csv.DictReader(ended.lines) if row["series"] == series]
            self.assertEqual(len(rows), points, ended.out)
            self.assertTrue(all(float(row["value"]) > 0 and row["unit"] == "us" for row in rows))
        self.assertEqual({row["rounds"] for row in rows}, {"3"})

    def compare(self, document, *options):
        return run("gdrkit", *OSU, "--compare", self.write("old.json", json.dumps(document)), *options)

    def test_a_slower_and_a_faster_run_are_distinguished(self):
        for arguments in (OSU, NCCL):
            document, _ = self.json_of(*arguments)
            self.assert_compares(document, lambda old, arguments=arguments: run("gdrkit", *arguments, "--compare", old))

    def test_incomparable_results_are_rejected_before_measuring(self):
        document, _ = self.json_of(*OSU)
        of_another_machine = {**document, "machine": {**document["machine"], "cpu_model": "another"}}
        for old, text in (({**document, "tool": "nccl"}, "is a result of 'gdrkit nccl'; 'gdrkit osu' compares with its own results only"),
                          (of_another_machine, "was measured on another machine: CPU: 'another' then")):
            ended = self.compare(old)
            self.assert_failed(ended, 2, text)
            self.assertNotRegex(ended.out, r"(?m)^\d", "a measured point")
        # The verdict depends on the load of the machine.
        self.assertRegex(self.compare(of_another_machine, "--force").out, r"(?m)^compared with .*: 5 points$")
        self.assert_failed(run("gdrkit", *OSU, "--compare", "/nonexistent.json"), 2, "gdrkit: --compare: ")

    def test_results_without_common_points_are_rejected(self):
        document, _ = self.json_of(*OSU)
        document["series"][0]["id"] = "osu/bcast/DD/3/shmem"
        self.assert_failed(self.compare(document), 2, "it contains none of the measured tests and sizes")

    def test_report_shows_the_results(self):
        for arguments, title in ((OSU, "osu_bcast D of 2 ranks (shmem)"), (NCCL, "all_gather of float, in_place (nccl)")):
            document, _ = self.json_of(*arguments)
            self.assertIn(title, self.run_ok("gdrkit", "report", self.write("result.json", json.dumps(document))).out)


if __name__ == "__main__":
    unittest.main()
