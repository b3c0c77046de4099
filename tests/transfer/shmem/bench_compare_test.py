#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit shmem bench --compare on emulated PEs, and the page that gdrkit report makes of a result."""
import json
import os
import unittest

from program import BIN, Test, run, slowed

CASES = ("-t", "p", "-t", "device_g")
QUICK = ("-q", "-e", "64", "--bulk", "1M", "--rounds", "5", "--singles", "0", "--starts", "1", "-n", "2000", *CASES)


class ShmemBenchCompare(Test):
    def keep(self, factor=1, change=lambda document: None):
        """Measures now, and writes a result that is `factor` times slower."""
        document, _ = self.json_of("shmem", "bench", *QUICK)
        document = slowed(document, factor)
        change(document)
        return self.write("old.json", json.dumps(document))

    def compare(self, *options):
        return run("gdrkit", "shmem", "bench", *QUICK, "--compare", self.path("old.json"), *options)

    def test_remeasures_and_reports_large_slowdowns(self):
        self.keep(factor=0.001)
        ended = self.compare()
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        for name in ("shmem/p/gdrkit at 8", "shmem/device_g/gdrkit at 8", "shmem/start/gdrkit at 0"):
            self.assertRegex(ended.out, rf"SLOWER +{name} .*; measured again [35] times")
        self.assertIn("3 of 3 points are slower beyond the noise", ended.out)

    def test_speedup_is_not_a_failure(self):
        self.keep(factor=1000)
        ended = self.compare("--json")
        # A busy machine may leave no verdict.
        self.assertIn(ended.code, (0, 2), ended.err)
        self.assertIn("nothing is slower beyond the noise" if ended.code == 0 else "NO VERDICT", ended.err)
        self.assertEqual(json.loads(ended.out)["tool"], "shmem bench")
        self.assertRegex(ended.err, r"faster +shmem/p/gdrkit at 8")
        self.assertNotIn("SLOWER", ended.err)

    def test_rejects_incomparable_results_before_measuring(self):
        for change, text in ((lambda old: old.update(tool="bench"), "compares with its own results only"),
                             (lambda old: old["settings"].update(pes="3"), "it was measured with 3 PEs; use --pes 3"),
                             (lambda old: old["machine"].update(cpu_model="another"), "was measured on another machine: CPU: 'another' then")):
            self.keep(change=change)
            ended = self.compare()
            self.assert_failed(ended, 2, text)
            self.assertNotIn("#shmem_", ended.out)
        # The last of them can be forced.
        self.assertIn("compared with", self.compare("--force").out)

    def test_rejects_invalid_arguments(self):
        old = self.keep()
        self.assert_rejected(["shmem", "bench", *QUICK], (
            (("--compare", old, "--json", old), "write the new result to another file"),
            (("--force",), "--force requires --compare OLD.json"), (("--compare", "/nonexistent"), "/nonexistent")))


class ShmemBenchReport(Test):
    def test_report_page_shows_each_case_and_library(self):
        stand_in = os.path.join(BIN, "..", "tests", "bin", "libstand_in_nvshmem.so")
        result, page = self.path("result.json"), self.path("page.html")
        self.run_ok("gdrkit", "shmem", "bench", *QUICK, "-t", "put_host", "--peer", "nvshmem", "--nvshmem", stand_in, "--json", result)
        self.run_ok("gdrkit", "report", result, "-o", page)
        for heading in ("put from host heap memory (gdrkit)", "put from host heap memory (nvshmem)",
                        "g, by a thread (gdrkit)"):
            self.assertIn(heading, self.read(page))


if __name__ == "__main__":
    unittest.main()
