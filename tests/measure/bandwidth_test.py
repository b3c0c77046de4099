#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""`gdrkit bandwidth` on emulated devices: text and JSON for users of nvbandwidth, options, exit codes."""
import json
import os
import pathlib
import re
import unittest

from program import NOTE, Test, run

FIGURE = r" +\d+\.\d\d"
TWO = {"GDRKIT_BACKEND": "emulated", "GDRKIT_EMULATED_DEVICES": "2"}


def bandwidth(*arguments, environment=None):
    return run("gdrkit", "bandwidth", *arguments, environment=environment)


def names():
    listed = pathlib.Path(__file__).resolve().parents[2] / "measure/bandwidth/bandwidth_tests.def"
    return re.findall(r"(?m)^GDRKIT_BUS_TEST\((\w+),", listed.read_text(encoding="utf-8"))


class Bandwidth(Test):
    def test_all_tests_print_matrix_and_sum_on_two_devices(self):
        ended = bandwidth(environment=TWO)
        self.assertEqual(ended.code, 0, ended.err)
        self.assertRegex(ended.out, "^" + NOTE + r"\s+The\s+values are .* without a GPU or a bus\.\n")
        self.assertEqual(re.findall(r"(?m)^Running (\w+)\.$", ended.out), names())
        self.assertNotIn("Waived", ended.out)
        sums = re.findall(r"(?m)^SUM (\w+) \d+\.\d\d$", ended.out)
        expected = []
        for name in names():
            way = re.search(r"device_bidirectional_memcpy_(read|write)", name)
            expected += [name + suffix for suffix in (f"_{way[1]}1", f"_{way[1]}2", "_total")] if way else [name]
        self.assertEqual(sums, expected)

    def test_text_has_the_format_of_nvbandwidth(self):
        ended = bandwidth("-t", "device_to_device_memcpy_read_ce", "-t", "0", environment=TWO)
        begin = ended.lines.index("Running device_to_device_memcpy_read_ce.")
        self.assert_lines(ended.lines[begin:], [
            r"Running device_to_device_memcpy_read_ce\.", r"memcpy CE GPU\(row\) <- GPU\(column\) bandwidth \(GB/s\)",
            r"          0         1", r" 0       N/A" + FIGURE, r" 1" + FIGURE + r"       N/A", "",
            r"SUM device_to_device_memcpy_read_ce" + FIGURE, "",
            r"Running host_to_device_memcpy_ce\.", r"memcpy CE CPU\(row\) -> GPU\(column\) bandwidth \(GB/s\)",
            r"          0         1", r" 0" + FIGURE + FIGURE, "", r"SUM host_to_device_memcpy_ce" + FIGURE, ""])

    def test_pairs_are_waived_on_one_device_with_the_reason(self):
        ended = bandwidth("-p", "device_to_device", "host_device")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertEqual(ended.out.count("Waived: it requires two GPUs, but this machine has 1"), 9)
        self.assertEqual(ended.out.count("SUM "), 1)
        self.assertEqual(bandwidth("-p", "all_to_one").code, 77, "nothing at all could run")

    def test_list(self):
        ended = bandwidth("--list")
        self.assertEqual(ended.code, 0)
        self.assertEqual(re.findall(r"(?m)^(\d+), (\w+):$", ended.out), [(str(i), n) for i, n in enumerate(names())])
        self.assertNotRegex(ended.out, NOTE)

    def test_verbose_prints_every_sample(self):
        ended = bandwidth("-v", "-i", "4", "-t", "0")
        self.assertEqual(len(re.findall(r"(?m)^\tSample \d: row 0, column 0:" + FIGURE + " GB/s$", ended.out)), 4)
        self.assertRegex(ended.out, r"(?m)^MIN host_to_device_memcpy_ce" + FIGURE + "$")

    def test_wrong_usage_exits_with_2_before_any_output(self):
        self.assert_wrong_usage(["bandwidth"], (
            ("-t", "nothing"), ("-t", "35"), ("-p", "nothing"), ("-t", "0", "-p", "host"), ("-i", "0"), ("-b", "many"), ("-b", "0"),
            ("-b", "99999999999"), ("--loopCount", "0"), ("-j", "--json"), ("extra",), ("--numa", "60000"), ("-d", "--numa", "0"),
            ("--numa", "all", "-t", "4")))

    def test_quiet_prints_results_only(self):
        ended = bandwidth("--quiet", "-t", "0")
        self.assertEqual(ended.code, 0)
        self.assertEqual(ended.lines[2], "Running host_to_device_memcpy_ce.", "the note has two lines")

    def test_applies_sizes_and_counts(self):
        ended = bandwidth("-b", "3", "-i", "2", "--loopCount", "5", "-m", "-s", "-d", "-t", "0", "16")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn("buffers of 3 MiB, 5 copies per sample, mean of 2 samples, data not checked", ended.out)
        self.assertIn("memory not bound", ended.out)

    def test_json_has_the_format_of_nvbandwidth(self):
        ended = bandwidth("-j", "-v", "-p", "device_to_device_bidirectional", "host_device", environment=TWO)
        self.assertEqual(ended.code, 0, ended.err)
        document = json.loads(ended.out)["nvbandwidth"]
        self.assertEqual(set(document), {"version", "git_version", "CUDA Runtime Version", "Driver Version",
                                         "GPU Device list", "warning", "testcases"})
        self.assertEqual(len(document["GPU Device list"]), 2)
        for test in document["testcases"]:
            self.assertEqual(test["status"], "Passed")
            self.assertTrue(all(isinstance(cell, str) for row in test["bandwidth_matrix"] for cell in row))
            rows = 6 if test["name"].startswith("device_to_device") else 1
            self.assertEqual([len(row) for row in test["bandwidth_matrix"]], [2] * rows)
            last = [float(cell) for row in test["bandwidth_matrix"][-2:] for cell in row if cell != "N/A"]
            self.assertAlmostEqual(test["sum"], sum(last), delta=test["sum"] / 1000)
            self.assertTrue(test["min"] <= test["average"] <= test["max"])
        waived = json.loads(bandwidth("-j", "-t", "0", "4").out)["nvbandwidth"]["testcases"]
        self.assertEqual([test["status"] for test in waived], ["Passed", "Waived"])
        self.assertTrue(waived[1]["reason"])

    def test_json_of_our_schema_can_be_read_back(self):
        document, ended = self.json_of("bandwidth", "-t", "4", "6", "32", environment=TWO)
        self.assertRegex(ended.err, NOTE)
        self.assertEqual((document["tool"], document["ok"], document["emulated"]), ("bandwidth", True, True))
        self.assertEqual([test["result"] for test in document["tests"]], ["passed"] * 3)
        self.assertEqual([series["id"] for series in document["series"]], [
            "device_to_device_memcpy_read_ce", "device_to_device_bidirectional_memcpy_read_ce_read1",
            "device_to_device_bidirectional_memcpy_read_ce_read2",
            "device_to_device_bidirectional_memcpy_read_ce_total", "host_device_latency_sm"])
        for series in document["series"]:
            self.assertEqual((series["x_name"], series["y_name"]), ("row", "column"))
            self.assertEqual((series["unit"], series["better"]),
                             ("ns", "lower") if series["operation"] == "load" else ("GB/s", "higher"))
            self.assertTrue(all(len(point["rounds"]) == 3 and point["value"] > 0 for point in series["points"]))
        ended = run("gdrkit", "report", "-", input=ended.out)
        self.assertEqual(ended.code, 0, ended.err)

    @unittest.skipUnless(os.path.exists("/sys/devices/system/node/online"), "this system reports no NUMA nodes")
    def test_numa_all_prints_a_matrix_of_nodes(self):
        document, _ = self.json_of("bandwidth", "--numa", "all")
        self.assertEqual([series["id"] for series in document["series"]],
                         ["numa_host_to_device_memcpy_ce", "numa_device_to_host_memcpy_ce"])
        self.assertTrue(all(series["x_name"] == "cpu_node" and series["method"] == "copy_engine"
                            for series in document["series"]))
        ended = bandwidth("--numa", "all", "-t", "17")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn("device_to_host_memcpy_sm, GPU 0, GB/s, median of 5 rounds", ended.out)


if __name__ == "__main__":
    unittest.main()
