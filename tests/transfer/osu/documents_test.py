#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""--csv, --compare and reports of gdrkit osu and nccl."""
import csv
import json
import os
import tempfile
import unittest

from program import BIN, Test, judged, run

FEW = ("-m", "4:64", "-i", "16", "-x", "1", "--timeout", "60")
OSU = ("osu", "bcast", "--engine", "shmem", *FEW)
NCCL = ("nccl", "all_gather", "--nccl", os.path.join(BIN, "..", "tests", "bin", "libstand_in_nccl.so"), "-b", "64", "-e", "256", "-f", "2",
        "-n", "2", "-N", "3", "-T", "60")


class Changed:
    """A document in a file during a with block, after applying `change` to it."""

    def __init__(self, document, change):
        self.document = json.loads(json.dumps(document))
        change(self.document)

    def __enter__(self):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")  # pylint: disable=consider-using-with
        json.dump(self.document, self.file)
        self.file.flush()
        return self.file.name

    def __exit__(self, *_):
        self.file.close()


def times(factor):
    """Makes all values `factor` times slower, without noise, which on a busy machine may hide any factor."""
    def change(document):
        for series in document["series"]:
            for point in series["points"]:
                scale = factor if series["better"] == "lower" else 1 / factor
                point["value"] = point["minimum"] = point["minimum"] * scale
                point["rounds"] = [point["value"]] * len(point["rounds"])
    return change


class TransferDocuments(Test):
    def test_csv_has_a_line_for_each_point(self):
        for arguments, series, points in ((OSU, "osu/bcast/DD/2/shmem", 5), (NCCL, "nccl/all_gather/float/none/out_of_place/time/nccl", 3)):
            ended = run("gdrkit", *arguments, "--csv")
            self.assertEqual(ended.code, 0, ended.err)
            rows = [row for row in csv.DictReader(ended.lines) if row["series"] == series]
            self.assertEqual(len(rows), points, ended.out)
            self.assertTrue(all(float(row["value"]) > 0 and row["unit"] == "us" for row in rows))
        self.assertEqual({row["rounds"] for row in rows}, {"3"})

    def test_a_slower_and_a_faster_run_are_distinguished(self):
        for arguments in (OSU, NCCL):
            document, _ = self.json_of(*arguments)
            with Changed(document, times(1e-6)) as path:
                ended = judged(lambda: run("gdrkit", *arguments, "--compare", path))
            self.assertEqual(ended.code, 1, ended.out + ended.err)
            self.assertIn("points are slower beyond the noise", ended.out)
            with Changed(document, times(1e6)) as path:
                ended = judged(lambda: run("gdrkit", *arguments, "--compare", path))
            # 2: on emulated devices the noise may be too large for a verdict.
            self.assertIn(ended.code, (0, 2), ended.out + ended.err)
            self.assertRegex(ended.out, r"(?m)^faster ")
            self.assertNotIn("SLOWER", ended.out)

    def test_incomparable_results_are_rejected(self):
        """Before measuring, except that the points of a result are compared afterwards."""
        document, _ = self.json_of(*OSU)

        def renamed(document):
            document["series"][0]["id"] = "osu/bcast/DD/3/shmem"

        for change, text in (
                (lambda d: d.update(tool="nccl"), "is a result of 'gdrkit nccl'; 'gdrkit osu' compares with its own results only"),
                (lambda d: d["machine"].update(cpu_model="another"), "was measured on another machine: CPU: 'another' then"),
                (renamed, "it contains none of the measured tests and sizes")):
            with Changed(document, change) as path:
                ended = run("gdrkit", *OSU, "--compare", path)
            self.assertEqual(ended.code, 2, ended.err)
            if change is not renamed:
                self.assertNotRegex(ended.out, r"(?m)^\d", "a measured point")
            self.assertIn(text, ended.err)
        with Changed(document, lambda d: d["machine"].update(cpu_model="another")) as path:
            ended = run("gdrkit", *OSU, "--compare", path, "--force")
        # The verdict depends on the load of the machine.
        self.assertRegex(ended.out, r"(?m)^compared with .*: 5 points$")
        ended = run("gdrkit", *OSU, "--compare", "/nonexistent.json")
        self.assertEqual(ended.code, 2)
        self.assertIn("gdrkit: --compare: ", ended.err)

    def test_report_shows_the_results(self):
        for arguments, title in ((OSU, "osu_bcast D of 2 ranks (shmem)"), (NCCL, "all_gather of float, in_place (nccl)")):
            document, _ = self.json_of(*arguments)
            with Changed(document, lambda d: None) as path:
                ended = run("gdrkit", "report", path)
            self.assertEqual((ended.code, ended.err), (0, ""))
            self.assertIn(title, ended.out)


if __name__ == "__main__":
    unittest.main()
