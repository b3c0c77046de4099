#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit shmem info and check on emulated PEs."""
import json
import os
import re
import unittest

from program import BIN, NOTE, Test, run

QUICK = ("-e", "64K", "--rounds", "100")
CHECKS = ("identity", "allocation", "puts", "gets", "scalars", "signals", "waiting", "atomics", "barriers",
          "streams", "teams", "collectives", "reductions", "growth", "registration")


def info_with(**variables):
    return run("gdrkit", "shmem", "info", environment={"GDRKIT_BACKEND": "emulated", **variables})


class ShmemInfo(Test):
    def test_runs_as_one_pe_without_a_launcher(self):
        ended = self.run_ok("gdrkit", "shmem", "info")
        # A line that continues another is indented by 11.
        self.assert_lines(re.sub(r"\n {11}(?!driver_copy)", " ", "\n".join(ended.lines)).splitlines(), [
            NOTE, r"pe +0 of 1, 1 of them on this node", r"device +0: gdrkit emulated device .*",
            r"heap +64\.0 MiB, may grow to [0-9.]+ [GT]iB, 0 B used",
            r"address +0x[0-9a-f]+, heaps of this node's PEs [0-9.]+ [GT]iB apart",
            r"to PE 0 +bar1: put from host, pinned host up to .* KiB, .*; get to host.*",
            r" +driver_copy: put from host, pinned host, symmetric, device; get to host, .*"
        ])
        self.assertLessEqual(max(map(len, ended.out.splitlines()[1:])), 110)

    def test_pe_0_describes_the_transport_to_each_pe(self):
        ended = run("gdrkit", "run", "-n", "3", "--", f"{BIN}/gdrkit", "shmem", "info", "--json")
        self.assertEqual(ended.code, 0, ended.err)
        document = json.loads(ended.out)
        self.assertEqual((document["tool"], document["pe"], document["n_pes"], document["node_pes"], document["ok"]),
                         ("shmem info", 0, 3, 3, True))
        self.assertEqual([way["pe"] for way in document["ways"]], [0, 1, 2])
        for way in document["ways"]:
            self.assertEqual([line.split(":")[0] for line in way["transports"]], ["bar1", "driver_copy", "ucx", "GPU kernels"])

    def test_heap_sizes_accept_units(self):
        for text, heap in (("96m", "96.0 MiB"), ("96MiB", "96.0 MiB"), ("0.125G", "128 MiB"), ("0x6000000", "96.0 MiB")):
            ended = info_with(GDRKIT_SHMEM_HEAP=text)
            self.assertRegex(ended.out, rf"(?m)^heap +{re.escape(heap)}, may", text)
        for name, text, why in (("GDRKIT_SHMEM_HEAP", "64MB", "write bytes, or K, M, G or T"),
                                ("GDRKIT_SHMEM_HEAP_MAX", "-1", "write bytes, or K, M, G or T"),
                                ("GDRKIT_SHMEM_TIMEOUT_S", "5m", "write a whole number of seconds")):
            self.assert_failed(info_with(**{name: text}), 1, f"gdrkit shmem: init: invalid {name}={text}; {why}")

    def test_reports_the_heap_of_nvshmem_programs(self):
        for text, reported in (("1.5g", ": programs that use nvshmem.h start with a heap of 1536 MiB"),
                               ("many", " is invalid; programs that use nvshmem.h fail to start")):
            ended = info_with(NVSHMEM_SYMMETRIC_SIZE=text)
            self.assertEqual(ended.code, 0, ended.err)
            self.assertIn(f"nvshmem    NVSHMEM_SYMMETRIC_SIZE={text}{reported}", ended.out)
            self.assertRegex(ended.out, r"(?m)^heap +64\.0 MiB, ")

    def test_reports_unknown_names_at_startup(self):
        ended = info_with(GDRKIT_ENGINE="fast")
        self.assert_failed(ended, 1, "invalid GDRKIT_ENGINE=fast: use one of cpu, lanes, copy_engine, mover, automatic\n")
        ended = run(os.path.join(BIN, "..", "examples", "shmem_pi"), environment={"GDRKIT_BACKEND": "emulate"})
        self.assertNotEqual(ended.code, 0)
        self.assertIn('unknown backend "emulate"; set option backend or variable GDRKIT_BACKEND to one of: gdrdrv, dmabuf, rm, emulated', ended.err)

    def test_an_invalid_switch_is_reported(self):
        for name in ("GDRKIT_SHMEM_CHECK_COLLECTIVES", "GDRKIT_SHMEM_DISABLE_P2P"):
            ended = info_with(**{name: "yes"})
            self.assertEqual((ended.code, ended.err), (1, f"gdrkit shmem: init: invalid {name}=yes: use 0 or 1\n"))


class ShmemCheck(Test):
    def test_it_starts_two_pes_and_every_check_passes(self):
        ended = self.run_ok("gdrkit", "shmem", "check", *QUICK)
        self.assert_lines(
            ended.lines, [NOTE, r"2 PEs on gdrkit emulated device \(no GPU\)", r"check +operations +seconds +result"] +
            [rf"{name} +[1-9][0-9]* +[0-9.]+  ok" for name in CHECKS] + [rf"{len(CHECKS)} checks passed"])

    def test_supports_more_pes_and_a_document(self):
        document, _ = self.json_of("shmem", "check", "-n", "4", *QUICK)
        self.assertEqual((document["tool"], document["n_pes"], document["emulated"], document["ok"]),
                         ("shmem check", 4, True, True))
        self.assertEqual([check["name"] for check in document["checks"]], list(CHECKS))
        for check in document["checks"]:
            self.assertEqual((check["result"], check["failures"], check["texts"]), ("passed", 0, []))
            self.assertGreaterEqual(check["operations"], 4)

    def test_runs_on_one_pe(self):
        document, _ = self.json_of("shmem", "check", "-n", "1", *QUICK)
        self.assertEqual((document["n_pes"], document["ok"]), (1, True))

    def test_starts_no_pes_under_a_launcher(self):
        ended = self.run_ok("gdrkit", "run", "-n", "3", "--", f"{BIN}/gdrkit", "shmem", "check", "-t", "barriers", *QUICK)
        self.assertEqual(ended.lines[1], "3 PEs on gdrkit emulated device (no GPU)")


class ShmemCheckFailures(Test):
    def test_reports_pe_operation_size_and_offset_of_a_wrong_byte(self):
        for name, text in (("puts", r"PE 1: put by PE [01] from its host memory, [0-9]+ bytes \(local \+ [0-9]+, "
                                    r"remote \+ [0-9]+\): (byte [0-9]+|[0-9]+ bytes .*: byte 0) is 0x.., expected 0x.."),
                           ("gets", r"PE 1: get from PE [01] to host memory, [0-9]+ bytes \(.*\): .* is 0x.., expected 0x.."),
                           ("signals", r"PE 1: put_signal SET, 8 bytes, round 0 by PE 0: byte 4 is 0x.., expected 0x.."),
                           ("teams", r"PE 1: TEAM_WORLD: fcollect: byte 4 is 0x.., expected 0x.."),
                           ("collectives", r"PE 1: broadcast of 1 bytes, root 0: byte 0 is 0x.., expected 0x.."),
                           ("reductions", r"PE 1: float_sum_reduce of 1: byte 2 is 0x.., expected 0x.."),
                           ("growth", r"PE 1: put by PE 0 to grown memory, 100000 bytes: byte 50000 is 0x.., expected .*"),
                           ("registration",
                            r"PE 1: put of 8 bytes into a registered buffer: byte 4 is 0x.., expected 0x..")):
            document, _ = self.json_of("shmem", "check", "-t", name, "--spoil", name, *QUICK, code=1)
            check = document["checks"][0]
            self.assertEqual((document["ok"], check["name"], check["result"]), (False, name, "failed"))
            self.assertGreater(check["failures"], 0)
            self.assertRegex(check["texts"][0], f"^{text}$")

    def test_text_reports_the_failed_check(self):
        ended = run("gdrkit", "shmem", "check", "-t", "gets", "-t", "identity", "--spoil", "gets", *QUICK)
        self.assertEqual(ended.code, 1)
        self.assertRegex(ended.out, r"(?m)^identity .* ok$")
        self.assertRegex(ended.out, r"(?m)^gets .* FAILED \([1-9][0-9]* failures\)\n  PE 1: get from PE ")
        self.assertRegex(ended.out, r"(?m)^1 of 2 checks FAILED$")


class ShmemUsage(Test):
    def test_rejects_invalid_arguments(self):
        self.assert_rejected(["shmem"], (
            ((), "the subcommand is missing; use info, check or bench"), (("chekc",), "unknown subcommand 'chekc'; did you mean 'check'?"),
            (("check", "-t", "get"), "unknown check 'get'; did you mean 'gets'?"),
            (("check", "-n", "2000"), "-n 2000 is out of range: use 1 to 1024"), (("check", "-n", "0"), "-n 0 is out of range: use 1 to 1024"),
            (("check", "-e", "0"), "--largest 0 is out of range: use 1 to 8M"),
            (("check", "-e", "9M"), "--largest 9437184 is out of range: use at most 8M"),
            (("check", "--rounds", "0"), "--rounds 0 is out of range: use at least 1")))

    def test_each_part_has_its_help(self):
        for part in ("info", "check"):
            ended = self.run_ok("gdrkit", "shmem", part, "--help")
            self.assertIn(f"gdrkit shmem {part}", ended.out)
            self.assertNotIn("--spoil", ended.out)

    def test_prints_the_list(self):
        ended = run("gdrkit", "shmem", "check", "--list")
        self.assertEqual([line.split()[0] for line in ended.lines], list(CHECKS))


if __name__ == "__main__":
    unittest.main()
