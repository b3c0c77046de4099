#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""--json [FILE] and --csv [FILE]: the document's destination, standard output, and the files after a failure."""
import csv
import io
import json
import os
import re
import unittest

from program import NOTE, Test, run, run_with_file_limit

SMALL = ("-w", "2", "-r", "2")
# A short run of each tool, and a pattern of its text.
RUNS = {
    "info": ((), r"(?m)^copy kernels"),
    "sanity": (("-t", "basic_cumemalloc"), r"Total: 1, Passed: 1"),
    "copybw": (("-s", "64K", *SMALL), r"(?m)^ +65536 "),
    "copylat": (("-s", "4K", *SMALL), r"(?m)^ +4096 "),
    "pplat": (("-t", "100"), r"(?m)^mapping "),
    "apiperf": (("-s", "64K", "-n", "5"), r"(?m)^ +65536 pin "),
    "bandwidth": (("-t", "host_to_device_memcpy_ce", "-i", "1"), r"SUM host_to_device_memcpy_ce"),
    "bench": (("--quick", "--only", "copies", "--sizes", "4K", "--rounds", "3"), r"(?m)^ +4 KiB "),
    "topo": ((), r"(?i)gpu"),
}
OPERANDS = {"doctor": ("--only", "system"), "env": ("nccl",)}


class DocumentTest(Test):
    def load(self, name):
        return json.loads(self.read(name))

    def only(self, *names):
        """Checks that the directory contains only these files and no temporary ones."""
        self.assertEqual(sorted(os.listdir(self.directory)), sorted(names))


class JsonFile(DocumentTest):

    def test_text_is_printed_if_the_document_has_a_file(self):
        for tool, (arguments, pattern) in RUNS.items():
            for attached in (False, True):
                path = self.path(tool + ".json")
                option = ("--json=" + path,) if attached else ("--json", path)
                ended = run("gdrkit", tool, *arguments, *option)
                self.assertIn(ended.code, (0, 3) if tool == "topo" else (0,), (tool, ended.err))
                self.assertRegex(ended.out, pattern)
                document = self.load(tool + ".json")
                self.assertTrue(document.get("tool", "") == tool or tool in document.get("schema", ""), tool)
                os.unlink(path)
        self.only()

    def test_without_a_file_the_document_replaces_the_text(self):
        for tool, (arguments, _) in RUNS.items():
            for option in (("--json",), ("--json=-",), ("--json", "-")):
                ended = run("gdrkit", tool, *arguments, *option)
                json.loads(ended.out)

    def test_a_file_requires_an_equals_sign_with_operands(self):
        for tool, arguments in OPERANDS.items():
            path = self.path(tool + ".json")
            ended = run("gdrkit", tool, "--json=" + path, *arguments)
            self.assertNotEqual(ended.out, "")
            document = self.load(tool + ".json")
            # The word after a bare --json is an operand, or does not belong to an option.
            alone = run("gdrkit", tool, "--json", *arguments)
            self.assertEqual(json.loads(alone.out)["schema"], document["schema"])
        self.only("doctor.json", "env.json")

    def test_report_writes_a_page_and_a_document(self):
        run("gdrkit", "bench", *RUNS["bench"][0], "--json", self.path("a.json"))
        ended = self.run_ok("gdrkit", "report", self.path("a.json"), "--json=" + self.path("page.json"))
        self.assertTrue(ended.out.endswith("</html>\n"), ended.out[-100:])
        page = self.load("page.json")
        self.assertEqual(json.loads(run("gdrkit", "report", "--json", self.path("a.json")).out), page)
        headings = re.findall(r"<h3>([^<]*)</h3>", ended.out)
        self.assertEqual([section["heading"] for section in page["chapters"][0]["sections"]], headings)
        kinds = {block["kind"] for section in page["chapters"][0]["sections"] for block in section["blocks"]}
        self.assertLessEqual({"facts", "key_figures", "list", "paragraph"}, kinds)
        self.assert_failed(run("gdrkit", "report", self.path("a.json"), "--json=" + self.path("a.json")), 2, "is an input")

    def test_gdrcopy_names_do_the_same(self):
        ended = self.run_ok("gdrcopy_copybw", *SMALL, "--json=" + self.path("a.json"))
        self.assertRegex(ended.lines[0], NOTE)
        self.assertRegex(ended.out, r"(?m)^write BW: ")
        self.assertEqual(self.load("a.json")["tool"], "copybw")

    def test_an_old_file_is_replaced(self):
        self.assertEqual(run("gdrkit", "info", "--json", self.write("a.json", "old")).code, 0)
        self.assertEqual(self.load("a.json")["tool"], "info")
        self.only("a.json")

    def test_an_unwritable_file_is_rejected_before_measuring(self):
        for path in (self.path("no/such/directory.json"), self.directory):
            for tool in ("copylat", "bench", "sanity", "info"):
                self.assert_rejected([tool], [(("--json=" + path,), "cannot write " + path)])

    def test_an_empty_name_is_rejected(self):
        self.assert_failed(run("gdrkit", "info", "--json="), 2, "--json")


class FullDisk(DocumentTest):
    LIMIT = 64  # maximum bytes of a file; every document is longer

    def run_limited(self, *arguments):
        """Simulates a full disk: a write fails in the middle."""
        return run_with_file_limit(self.LIMIT, *arguments)

    def test_full_disk_keeps_the_old_file(self):
        self.write("old.json", "old")
        # The limit also applies to the emulated device's memory, so these are the tools that allocate none.
        for command in (("info",), ("topo",), ("env", "nccl"), ("doctor", "--only", "system")):
            for name in ("new.json", "old.json"):
                self.assert_failed(self.run_limited(*command, "--json=" + self.path(name)), 1, "cannot write " + self.path(name))
                self.only("old.json")
        self.assertEqual(self.read("old.json"), "old")

    def test_full_disk_keeps_the_old_report_files(self):
        run("gdrkit", "bench", *RUNS["bench"][0], "--json", self.path("a.json"))
        for options in (("-o", self.path("a.html")), ("--json=" + self.path("page.json"),)):
            self.assert_failed(self.run_limited("report", self.path("a.json"), *options), 1, "cannot write ")
            self.only("a.json")


class CsvFile(DocumentTest):
    BENCH = ("bench", *RUNS["bench"][0])

    def test_csv_goes_to_its_file_or_to_standard_output(self):
        ended = run("gdrkit", *self.BENCH, "--csv", self.path("a.csv"))
        self.assertEqual(ended.code, 0, ended.err)
        self.assertRegex(ended.out, r"(?m)^ +4 KiB ")
        head = next(csv.reader(io.StringIO(self.read("a.csv"))))
        ended = run("gdrkit", *self.BENCH, "--csv")
        self.assertEqual(ended.code, 0, ended.err)
        rows = list(csv.reader(io.StringIO(ended.out)))
        self.assertEqual(rows[0], head)
        self.assertTrue(all(len(row) == len(head) for row in rows))

    def test_rejects_two_documents_with_one_destination(self):
        self.assert_rejected(self.BENCH, (
            (("--json", "--csv"), "standard output"), (("--json", self.path("a"), "--csv", self.path("./a")), "same file")))
        ended = run("gdrkit", *self.BENCH, "--json", "--csv", self.path("a.csv"))
        json.loads(ended.out)
        self.only("a.csv")


if __name__ == "__main__":
    unittest.main()
