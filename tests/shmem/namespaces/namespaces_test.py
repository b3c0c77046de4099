#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit shmem check between network namespaces: machines of their own by UCX over TCP, or containers of one machine."""
import os
import subprocess
import sys
import tempfile
import unittest

from namespaces import NETEM, SLOW, run_in_namespaces, why_no_namespaces, why_no_queue
from program import BIN, IS_FULL, Test

GDRKIT = os.path.join(BIN, "gdrkit")
# What moves data in each way; all checks with --full.
SHORT = [word for name in ("identity", "allocation", "scalars", "signals", "atomics", "barriers", "teams", "growth",
                           "registration") for word in ("-t", name)]


def why_not(names):
    reason = why_no_namespaces()
    if reason or names == ["ShmemAcrossContainers"]:
        return reason
    check = subprocess.run([GDRKIT, "shmem", "check", "-n", "2", "-t", "identity"], capture_output=True, text=True, check=False,
                            env={**os.environ, "GDRKIT_BACKEND": "emulated", "GDRKIT_SHMEM_DISABLE_P2P": "1"})
    if check.returncode != 0:
        return "no UCX (libucx0): " + check.stderr.strip()
    if "ShmemOverALossyLink" in names:
        return why_no_queue(NETEM)
    if "ShmemOverASlowLink" in names:
        return why_no_queue(SLOW)
    return None


def run_job(*words, **job):
    return run_in_namespaces([GDRKIT, "shmem", *words], **job)


def assert_green(test, ends):
    for pe, end in enumerate(ends):
        test.assertEqual(end["code"], 0, f"PE {pe}: {end['out']}{end['err']}")
    test.assertIn("checks passed", ends[0]["out"])


def assert_named(test, end, text):
    """Expects a failure within 10 seconds whose message names the PE."""
    test.assertNotEqual(end["code"], 0, end["out"])
    test.assertGreaterEqual(end["code"], 0, "it had to be killed: " + end["out"] + end["err"])
    test.assertRegex(end["out"] + end["err"], text)
    test.assertLess(end["seconds"], 10, end["err"])


def assert_killed_pe_is_reported(test, **job):
    """Kills PE 3 of 4 during barriers."""
    ends = run_job("check", "-t", "barriers", "--rounds", "100000000", pes=2, kill_after=3, limit=30, **job)
    test.assertEqual(ends[3]["code"], -9)
    for end in ends[:3]:
        assert_named(test, end, r"PE 3\b.*(has ended|has left|left)")


class ShmemAcrossNamespaces(Test):
    def test_connects_two_machines_of_one_pe(self):
        ends = run_job("check", "-e", "16K", "--rounds", "20", *([] if IS_FULL else SHORT))
        assert_green(self, ends)
        self.assertIn("2 PEs on", ends[0]["out"])

    def test_connects_two_machines_of_two_pes(self):
        assert_green(self, run_job("check", "-e", "16K", "--rounds", "10", *SHORT, pes=2))

    def test_both_machines_report_a_killed_pe(self):
        assert_killed_pe_is_reported(self)

    def test_reports_an_unreachable_machine(self):
        ends = run_job("check", "-t", "barriers", "--rounds", "100000000", cut_after=3, limit=30)
        assert_named(self, ends[0], r"PE 1\b.*has ended")
        assert_named(self, ends[1], r"PE 0\b.*has ended")


class ShmemAcrossContainers(Test):
    """Containers of one machine that share a directory; UCX is broken, so that nothing but shared memory can work."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.job = {"containers": True, "environment": {"GDRKIT_SHMEM_SOCKET_DIR": self.directory, "GDRKIT_SHMEM_HOSTID": "node",
                                                        "GDRKIT_UCX_LIBRARY": "/nonexistent"}}

    def test_containers_share_one_node(self):
        ends = run_job("check", "-e", "16K", "--rounds", "10", *([] if IS_FULL else SHORT), pes=2, **self.job)
        assert_green(self, ends)
        self.assertIn("4 PEs on", ends[0]["out"])
        self.assertEqual(os.listdir(self.directory), [])

    def test_both_containers_report_a_killed_pe(self):
        assert_killed_pe_is_reported(self, **self.job)
        self.assertEqual(os.listdir(self.directory), [])

    def test_error_without_the_directory_states_the_remedy(self):
        del self.job["environment"]["GDRKIT_SHMEM_SOCKET_DIR"]
        for end in run_job("check", *SHORT, **self.job):
            self.assertEqual(end["code"], 1, end["err"])
            self.assertRegex(end["err"], "PE 1: cannot connect to PE 0 of the same node: .*Connection refused .*; mount "
                             "the same GDRKIT_SHMEM_SOCKET_DIR in all containers")

    def test_rejects_a_directory_that_others_can_enter(self):
        os.chmod(self.directory, 0o777)
        for end in run_job("check", *SHORT, **self.job):
            self.assertEqual(end["code"], 1, end["err"])
            self.assertRegex(end["err"], "cannot use GDRKIT_SHMEM_SOCKET_DIR=.*: the mode of the directory gives other users access; .*mkdir -m 700")


class ShmemOverASlowLink(Test):
    def test_shmem_check_passes(self):
        ends = run_job("check", "-e", "64K", "--rounds", "10", *SHORT, qdisc=SLOW)
        assert_green(self, ends)
        self.assertGreater(sum(end["drops"] for end in ends), 0, "the link lost nothing")


class ShmemOverALossyLink(Test):
    def test_shmem_check_passes(self):
        ends = run_job("check", "-e", "4K", "--rounds", "5", *([] if IS_FULL else SHORT), qdisc=NETEM)
        assert_green(self, ends)
        self.assertGreater(sum(end["drops"] for end in ends), 0, "the link lost nothing")


if __name__ == "__main__":
    REASON = why_not(sys.argv[1:])
    if REASON:
        print(REASON)
        sys.exit(77)
    unittest.main()
