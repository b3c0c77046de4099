#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""--numa and --no-bind of the tools that measure, on this machine's nodes."""
import os
import unittest

from program import NOTE, Test, run

QUICK = ("-s", "4096", "-w", "20", "-r", "5")
NODES = "/sys/devices/system/node"
HAS_NODES = os.path.exists(NODES + "/online")


def numbers(path):
    with open(path, encoding="ascii") as file:
        parts = [part.split("-") for part in file.read().strip().split(",") if part]
    return [number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)]


class Numa(Test):
    def test_prints_where_the_tool_is_bound(self):
        for tool in ("copybw", "copylat"):
            ended = run("gdrkit", tool, *QUICK)
            self.assertEqual(ended.code, 0, ended.err)
            lines = [line for line in ended.lines if line.startswith("on CPU ")]
            self.assertEqual(len(lines), 1, ended.out)
            self.assertIn(int(lines[0].split()[2]), os.sched_getaffinity(0))

    def test_no_bind_keeps_the_callers_placement(self):
        ended = run("gdrkit", "copybw", "--no-bind", *QUICK)
        self.assertEqual(ended.code, 0, ended.err)
        self.assertRegex(ended.out, r"(?m)^on no fixed CPU.*, memory not bound$")
        document, _ = self.json_of("copybw", "--no-bind", *QUICK)
        self.assertEqual((document["place"]["cpu"], document["place"]["memory_node"]), (-1, -1))

    def test_json_contains_the_placement(self):
        for tool in ("copybw", "copylat"):
            document, _ = self.json_of(tool, *QUICK)
            self.assertIn(document["place"]["cpu"], os.sched_getaffinity(0))
            self.assertEqual(set(document["place"]), {"cpu", "cpu_node", "memory_node", "gpu_node", "advice"})

    def test_gdrcopy_names_reject_numa_options(self):
        ended = run("gdrcopy_copybw", "--numa", "all", *QUICK)
        self.assertEqual(ended.code, 1)
        self.assertNotIn("place", self.json_of(*QUICK, program="gdrcopy_copybw")[0])

    @unittest.skipUnless(HAS_NODES, "this system reports no NUMA nodes")
    def test_missing_nodes_exit_with_2_before_any_output(self):
        there = numbers(NODES + "/online")
        for tool in ("copybw", "copylat"):
            for nodes in (str(there[-1] + 1), f"{there[0]}:{there[-1] + 1}", "many", "0:"):
                ended = run("gdrkit", tool, "--numa", nodes)
                self.assertEqual((ended.code, ended.out), (2, ""), (tool, nodes))
                self.assertRegex(ended.err, r"nodes with (CPUs|memory): \d|CPU_NODE")
                self.assertNotRegex(ended.err, NOTE)

    def test_conflicting_options_exit_with_2(self):
        self.assert_wrong_usage([], (("copybw", "--numa", "all", "--sweep"), ("copylat", "--numa", "all", "--raw"),
                                     ("copylat", "--numa", "all", "-s", "8"), ("copybw", "--numa", "0", "--no-bind")))

    def test_bench_uses_and_reports_one_placement(self):
        quick = ("--quick", "--only", "copies", "--sizes", "64")
        ended = run("gdrkit", "bench", *quick)
        self.assertEqual(ended.code, 0, ended.err)
        self.assertRegex(ended.out, r"(?m)^on CPU \d+")
        document, _ = self.json_of("bench", *quick, "--no-bind")
        self.assertEqual((document["place"]["cpu"], document["place"]["memory_node"]), (-1, -1))
        self.assert_rejected(["bench"], [(("--numa", nodes), "--numa") for nodes in ("all", "60000")])

    @unittest.skipUnless(HAS_NODES, "this system reports no NUMA nodes")
    def test_all_prints_a_matrix_in_text_and_json(self):
        with_cpus = [node for node in numbers(NODES + "/online") if numbers(f"{NODES}/node{node}/cpulist")]
        for tool, unit, count in (("copybw", "GB/s", 2), ("copylat", "us", 4)):
            ended = run("gdrkit", tool, "--numa", "all", *QUICK)
            self.assertEqual(ended.code, 0, ended.err)
            self.assertEqual(ended.out.count(f"{unit}, median of 5 rounds\n"), count, ended.out)
            document, _ = self.json_of(tool, "--numa", "all", *QUICK)
            self.assertEqual(len(document["series"]), count)
            for series in document["series"]:
                self.assertEqual((series["x_name"], series["y_name"], series["unit"]), ("cpu_node", "memory_node", unit))
                self.assertEqual(series["better"], "higher" if tool == "copybw" else "lower")
                self.assertTrue({point["x"] for point in series["points"]} <= set(with_cpus))
                self.assertTrue(all(point["value"] > 0 and len(point["rounds"]) == 5 for point in series["points"]))


if __name__ == "__main__":
    unittest.main()
