#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit osu between ranks of this machine: UCX if it is installed, and libgdrkit_shmem on emulated devices."""
import ctypes.util
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "diag"))
import doctor_runs  # pylint: disable=wrong-import-position
import settings  # pylint: disable=wrong-import-position
from namespaces import NETEM, run_in_namespaces, why_no_namespaces, why_no_queue  # pylint: disable=wrong-import-position
from program import BIN, NOTE, Test, run, run_pes  # pylint: disable=wrong-import-position

TESTS = ("latency", "multi_lat", "bw", "bibw", "mbw_mr", "put_latency", "put_bw", "put_bibw", "get_latency", "get_bw",
         "fop_latency", "allreduce", "alltoall", "bcast", "allgather", "reduce", "gather", "scatter",
         "barrier")
ONE_SIZE = ("fop_latency", "barrier")
COLLECTIVES = ("allreduce", "alltoall", "bcast", "allgather", "gather", "scatter")
FEW = ("-i", "5", "-x", "1", "-W", "4", "--timeout", "60")
QUICK = ("-m", "4:64", *FEW)
NUMBER = r" *[0-9]+\.[0-9]{2}"
HAS_UCX = ctypes.util.find_library("ucp") is not None
needs_ucx = unittest.skipUnless(HAS_UCX, "no libucp.so.0 (Debian's package libucx0)")


def row(size, columns=1, validated=False):
    return rf"(?=.{{{10 + 18 * (columns + validated)}}}$){size:<10}" + NUMBER * columns + (" +Pass" if validated else "")


def head(title, engine, *more):
    return [NOTE, "", rf"# {title} v7\.5 \(gdrkit [0-9.]+, engine {engine}\)", *more, r"# Datatype: MPI_CHAR\."]


DEVICES = r"# Send Buffer on DEVICE \(D\) and Receive Buffer on DEVICE \(D\)"


def rows_of(lines):
    """Parses the lines like scripts: size and value of every line that is not a comment."""
    found = [line.split() for line in lines if line.strip() and not line.startswith(("#", "NOTE"))]
    return {int(words[0]): float(words[1]) for words in found}


class OsuShmem(Test):
    def run_test(self, *arguments):
        return run("gdrkit", "osu", *arguments, "--engine", "shmem", *(FEW if "-m" in arguments else QUICK))

    def test_prints_the_lines_of_a_latency_test(self):
        ended = self.run_test("latency", "-c")
        self.assertEqual((ended.code, ended.err), (0, ""), ended.out)
        self.assert_lines(ended.lines, head("OSU MPI-CUDA Latency Test", "shmem", DEVICES) +
                          ["# Size       Avg Latency\\(us\\)        Validation"] +
                          [row(size, validated=True) for size in (4, 8, 16, 32, 64)] + ["# Path: .*"])

    def test_every_test_except_reduce_has_correct_data(self):
        for test in TESTS:
            if test == "reduce":
                continue
            ended = self.run_ok("gdrkit", "osu", test, "-c", "--engine", "shmem", *(FEW if test in ONE_SIZE else QUICK))
            self.assertNotIn("Fail", ended.out)
            if test == "barrier":
                self.assertRegex(ended.lines[-2], "^(?=.{17}$)" + NUMBER + "$")
                continue
            self.assertEqual(list(rows_of(ended.lines)), [8] if test in ONE_SIZE else [4, 8, 16, 32, 64], test)
            self.assertEqual(ended.out.count("Pass"), 1 if test in ONE_SIZE else 5)

    def test_runs_collectives_of_four_ranks(self):
        for test in COLLECTIVES:
            ended = run_pes(4, "osu", test, "-c", "-f", "-m", "1:64K", *FEW)
            self.assertEqual((ended.code, ended.err), (0, ""), test)
            self.assertIn("# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation", ended.lines)
            rows = [line.split() for line in ended.lines if line[:1].isdigit()]
            self.assertEqual([int(words[0]) for words in rows], [2 ** i for i in range(17)], ended.out)
            for words in rows:
                self.assertEqual(words[4:], ["5", "Pass"])
                self.assertTrue(0 < float(words[2]) <= float(words[1]) <= float(words[3]), words)

    def test_writes_the_document_of_a_collective(self):
        document, _ = self.json_of("osu", "bcast", "--engine", "shmem", *QUICK, "-c")
        (series,) = document["series"]
        self.assertEqual((series["id"], series["unit"], series["better"]), ("osu/bcast/DD/2/shmem", "us", "lower"))
        self.assertEqual([one["size_bytes"] for one in document["extremes"]], [4, 8, 16, 32, 64])
        for one, point in zip(document["extremes"], series["points"]):
            self.assertTrue(0 < one["least"] <= one["largest"], one)
            self.assertEqual(len(point["rounds"]), 5)  # as many as iterations, up to 8

    def test_runs_on_pairs(self):
        ended = run_pes(4, "osu", "mbw_mr", "--engine", "shmem", "-c", *QUICK)
        self.assertEqual(ended.code, 0, ended.err)
        self.assert_lines(ended.lines, head("OSU MPI-CUDA Multiple Bandwidth / Message Rate Test", "shmem", DEVICES,
                                            r"# \[ pairs: 2 \] \[ window size: 4 \]") +
                          ["# Size                  MB/s        Messages/s        Validation"] +
                          [row(size, 2, True) for size in (4, 8, 16, 32, 64)] + ["# Path: .*"])

    def test_prints_percentiles(self):
        for test in ("latency", "allreduce"):
            ended = self.run_test(test, "-z", "50,99")
            self.assertIn("# Size       Avg Latency(us)  P50 Tail Lat(us)  P99 Tail Lat(us)", ended.lines)
            self.assertRegex(ended.lines[-2], "^" + row(64, 3) + "$")

    def test_writes_the_document(self):
        document, _ = self.json_of("osu", "bw", "D", "D", "--engine", "shmem", *QUICK, "-c")
        self.assertEqual((document["tool"], document["ok"], document["validated"], document["wrong_sizes"]), ("osu", True, True, []))
        (series,) = document["series"]
        self.assertEqual((series["id"], series["unit"], series["better"]), ("osu/bw/DD/shmem", "GB/s", "higher"))
        self.assertEqual([point["x"] for point in series["points"]], [4, 8, 16, 32, 64])
        for point in series["points"]:
            self.assertGreater(point["value"], 0)
            self.assertEqual(len(point["rounds"]), 5)
        document, _ = self.json_of("osu", "latency", "--engine", "shmem", *QUICK, "-z", "50")
        self.assertEqual([sorted(one) for one in document["percentiles"]], [["p50", "size_bytes"]] * 5)
        self.assertNotIn(os.uname().nodename, str(document))

    def test_runs_under_the_original_names(self):
        for test in TESTS:
            self.assertEqual(os.readlink(os.path.join(BIN, f"osu_{test}")), "gdrkit")
        ended = run("osu_put_bw", "D", "D", "--engine", "shmem", *QUICK)
        self.assertEqual((ended.code, list(rows_of(ended.lines))), (0, [4, 8, 16, 32, 64]), ended.err)

    def test_host_memory_is_rejected(self):
        ended = self.run_test("latency", "H", "D")
        self.assertEqual(ended.code, 2)
        # No rank was started, so none can end first with another code.
        self.assertEqual(ended.err, "gdrkit osu: --engine shmem accepts only device memory; use device buffers (D D)\n")


@needs_ucx
class OsuUcx(Test):
    def test_every_test_has_correct_data_in_host_and_device_memory(self):
        for test in TESTS:
            if test in ONE_SIZE + COLLECTIVES + ("reduce",):
                continue
            for places in ((), ("D", "D"), ("H", "D"), ("D", "H")):
                ended = self.run_ok("gdrkit", "osu", test, *places, "-c", *FEW, "-m", "4:32K")
                self.assertEqual(ended.out.count("Pass"), 14, ended.out)
                self.assertEqual("-CUDA" in ended.out, bool(places))

    def test_runs_over_tcp(self):
        ended = run("gdrkit", "osu", "latency", "-c", *QUICK,
                    environment={"GDRKIT_BACKEND": "emulated", "UCX_TLS": "tcp,self"})
        self.assertEqual((ended.code, ended.out.count("Pass")), (0, 5), ended.err)
        self.assertRegex(ended.lines[-1], r"^# Path: tcp/\S+ \(.*; UCX_TLS=tcp,self, ")

    def test_sends_empty_messages(self):
        ended = run("gdrkit", "osu", "latency", "-c", *FEW, "-m", "0:2")
        self.assertEqual((ended.code, list(rows_of(ended.lines))), (0, [0, 1, 2]), ended.err)

    def test_reports_unsupported_operations(self):
        for test, engines in (("fop_latency", "--engine shmem, --engine mpi"), ("barrier", "--engine shmem, --engine mpi"),
                              ("reduce", "--engine mpi, --engine nccl"),
                              ("allreduce", "--engine shmem, --engine mpi, --engine nccl")):
            ended = run("gdrkit", "osu", test, "--engine", "ucx")
            self.assertEqual((ended.code, ended.out), (77, ""))
            self.assertEqual(ended.err, f"gdrkit osu: --engine ucx does not support {test}; use one of {engines}\n")


class OsuDoctor(Test):
    """The doctor's findings on the machine are part of the result; here on recorded machines."""

    def lines_of(self, tree, *arguments):
        with doctor_runs.Lent(tree) as directory:
            ended = self.run_ok("gdrkit", *arguments, "--doctor-root", directory)
        return [line for line in ended.lines if line.startswith("# Doctor: ")]

    @needs_ucx
    def test_reports_a_setting_that_slows_ucx(self):
        slowed = settings.with_variables(doctor_runs.m.server(), UCX_TLS="sm,self,tcp")
        lines = self.lines_of(slowed, "osu", "latency", "D", "D", *QUICK)
        self.assertRegex(lines[0], r"^# Doctor: env\.ucx warns: .*UCX_TLS")
        self.assertEqual(lines[-1], "# Doctor: run gdrkit doctor explain env.ucx for the remedy")
        # It is not a setting of gdrkit_shmem.
        self.assertRegex(self.lines_of(slowed, "osu", "latency", *QUICK, "--engine", "shmem")[0], "no warning or failure for ")

    def test_document_contains_the_doctor_only_on_request(self):
        slowed = settings.with_variables(doctor_runs.m.server(), NCCL_P2P_DISABLE="1")
        with doctor_runs.Lent(slowed) as directory:
            document, _ = self.json_of("osu", "allreduce", *OsuNccl.LIBRARY, *QUICK, "--doctor-root", directory)
        (finding,) = document["doctor"]["findings"]
        self.assertEqual((document["doctor"]["is_known"], finding["check"]), (True, "env.ib_disable"))
        document, _ = self.json_of("osu", "allreduce", *QUICK)
        self.assertIsNone(document["doctor"])

    def test_continues_if_the_doctor_does_not_respond(self):
        ended = run("gdrkit", "osu", "latency", *QUICK, "--engine", "shmem", "--doctor-root", "/nonexistent")
        self.assertEqual((ended.code, ended.lines[-1]), (0, "# Doctor: unknown: gdrkit doctor returned no result"), ended.err)


class OsuNccl(Test):
    """Collectives over a stand-in for NCCL (tests/transfer/nccl/stand_in_nccl.cpp)."""
    LIBRARY = ("--engine", "nccl", "--nccl", os.path.join(BIN, "..", "tests", "bin", "libstand_in_nccl.so"))

    def run_test(self, *arguments, **variables):
        return run_pes(3, "osu", *arguments, *self.LIBRARY, *QUICK, environment=variables)

    def test_every_collective_has_correct_data(self):
        for test in COLLECTIVES + ("reduce",):
            ended = self.run_test(test, "-c")
            self.assertEqual((ended.code, ended.err, ended.out.count("Pass")), (0, "", 5), f"{test} {ended.out}")
            self.assertRegex(ended.lines[-1], r"^# Path: SHM/direct/direct \(.* channels?\); GDRCopy is off")

    def test_wrong_data_are_counted_and_fail_the_run(self):
        for test in COLLECTIVES + ("reduce",):
            # Of these only rank 0 has a result.
            ended = self.run_test(test, "-c", STAND_IN_NCCL_SPOILS="0" if test in ("gather", "reduce") else "1")
            self.assertEqual((ended.code, ended.out.count("Fail")), (1, 5), f"{test} {ended.out}")
            # Its alltoall is three receives of each rank, and each is spoiled.
            self.assertIn(f"# Wrong bytes: {15 if test == 'alltoall' else 5}, in 5 of 5 sizes", ended.lines)

    def test_host_memory_is_rejected(self):
        self.assert_failed(self.run_test("allreduce", "H"), 2, "--engine nccl accepts only device memory; use device buffers (D)")

    def test_requires_gpus(self):
        ended = run("gdrkit", "osu", "allreduce", "--engine", "nccl")
        self.assert_failed(ended, 77, "NCCL requires GPUs, but the emulated device is selected")


class OsuPeers(Test):
    """A rank that dies or stops in the middle of a long run: the run ends soon and reports the rank."""

    def run_with(self, signal, *arguments):
        second = 'case "$GDRKIT_SHMEM_PE" in 1) exec timeout -s ' + signal + ' 2 "$@";; *) exec "$@";; esac'
        begin = time.monotonic()
        ended = run("gdrkit", "run", "-n", "2", "--emulated", "--", "sh", "-c", second, "sh", f"{BIN}/gdrkit", "osu", *arguments, "-i",
                    "100000000", "--timeout", "6", environment={})
        self.assertNotEqual(ended.code, 0, ended.out)
        self.assertLess(time.monotonic() - begin, 60)
        return ended.err

    def test_reports_a_killed_rank(self):
        self.assertRegex(self.run_with("KILL", "latency", "-m", "4:4", "--engine", "shmem"), "PE 1")
        self.assertRegex(self.run_with("KILL", "allreduce", "-m", "4:4"), "PE 1")
        if HAS_UCX:
            self.assertRegex(self.run_with("KILL", "bw", "-m", "4:4"), "PE 1")

    @needs_ucx
    def test_reports_a_silent_rank(self):
        self.assertIn("gdrkit osu: rank 0 of 2: latency of 4 bytes with rank 1 did not complete within 6 s; see the output of the other ranks, or increase --timeout", self.run_with("STOP", "latency", "-m", "4:4"))


@needs_ucx
class NetworkTest(Test):
    """Two ranks in two network namespaces, over TCP."""

    def setUp(self):
        reason = why_no_namespaces()
        if reason:
            self.skipTest(reason)

    def run_ranks(self, *arguments, **job):
        ends = run_in_namespaces([f"{BIN}/gdrkit", "osu", *arguments], limit=120, **job)
        self.assertEqual([end["code"] for end in ends], [0, 0], ends)
        return ends[0]["out"].splitlines()


class OsuNetwork(NetworkTest):
    def test_runs_between_two_namespaces(self):
        for test in ("latency", "bw", "put_bw"):
            lines = self.run_ranks(test, "-c", *QUICK)
            self.assertEqual(sum("Pass" in line for line in lines), 5, lines)
            self.assertRegex(lines[-1], "^# Path: tcp/link0 ")


class OsuLossyNetwork(NetworkTest):
    def test_runs_with_delay_and_loss(self):
        reason = why_no_queue(NETEM)
        if reason:
            self.skipTest(reason)
        lines = self.run_ranks("latency", "-c", *QUICK, qdisc=NETEM)
        self.assertEqual(sum("Pass" in line for line in lines), 5, lines)
        self.assertGreater(min(rows_of(lines).values()), 1900)


class OsuOptions(Test):
    # Short and long names of OSU 7.5.
    ORIGINAL = """h:help v: f:full m:message-size W:window-size t:num-test-calls i:iterations x:warmup a:array-size s:sync-option
        w:win-options M:mem-limit d:accelerator r:cuda-target R:print-rate p:num-pairs V:vary-window c:validation b:buffer-num
        u:validation-warmup G:graph P:papi D:ddt N:nhbr T:type I:session l:in-place z:tail-lat q:partitions k:root-rank""".split()

    def test_each_original_option_is_documented_or_rejected(self):
        self.assert_documented_or_rejected(["osu", "latency"], self.ORIGINAL)

    def test_values_without_effect_are_accepted(self):
        self.run_ok("gdrkit", "osu", "put_latency", "--engine", "shmem", *QUICK, "-s", "flush", "-w", "create", "-k", "fixed:0", "-R", "1", "-D", "cont")

    def test_memory_limit_omits_large_sizes(self):
        for test, limit, sizes in (("latency", "64", [4, 8, 16, 32]), ("alltoall", "1K", [4, 8, 16, 32, 64]), ("alltoall", "100", [4, 8, 16])):
            ended = run("gdrkit", "osu", test, "--engine", "shmem", *QUICK, "-M", limit)
            self.assertEqual((ended.code, list(rows_of(ended.lines))), (0, sizes), ended.err)
            self.assertEqual(any(line.startswith(f"# Sizes above {sizes[-1]} bytes are left out: -M allows") for line in ended.lines), sizes[-1] != 64)
        ended = run("gdrkit", "osu", "alltoall", "--engine", "shmem", *QUICK, "-M", "15")
        self.assert_failed(ended, 2, "-M 15 is too small: messages of 4 B require buffers of 16 B on each rank; increase -M")

    def test_uses_separate_buffers(self):
        for engine in ("shmem", "ucx") if HAS_UCX else ("shmem",):
            for test in ("bw", "bibw", "mbw_mr"):
                ended = run("gdrkit", "osu", test, "--engine", engine, *QUICK, "-c", "-u", "2", "-b", "multiple")
                self.assertEqual((ended.code, ended.err, ended.out.count("Pass")), (0, "", 5), f"{engine} {test}")
        ended = run("gdrkit", "osu", "latency", "-b", "multiple")
        self.assert_failed(ended, 2, "-b multiple applies only to bw, bibw and mbw_mr; omit -b")


class OsuFailures(Test):
    def test_reports_missing_ucx(self):
        ended = run("gdrkit", "osu", "latency",
                    environment={"GDRKIT_BACKEND": "emulated", "GDRKIT_UCX_LIBRARY": "/nonexistent.so"})
        self.assert_failed(ended, 77, pattern=(
            r"(?m)^gdrkit osu: cannot load UCX \(/nonexistent\.so: [^;]*\); correct GDRKIT_UCX_LIBRARY, or unset "
            r"it to load the installed libucp\.so\.0; or use --engine shmem, which does not require UCX$"))

    def test_reports_invalid_numbers_of_ranks(self):
        for ranks, test, text in ((3, "latency", "latency requires exactly 2 ranks, not 3; use gdrkit run -n 2 -- gdrkit osu ...\n"),
                                  (3, "mbw_mr", "mbw_mr requires an even number of ranks, not 3"),
                                  (1, "bcast", "bcast requires at least 2 ranks, not 1")):
            self.assert_failed(run_pes(ranks, "osu", test, "--engine", "shmem", *(("--as-rank",) if ranks == 1 else ())), 2, text)

    def test_rejects_invalid_arguments(self):
        self.assert_rejected(["osu"], (
            ((), "give a test: latency, "), (("latencey",), "unknown test 'latencey'; did you mean 'latency'?"),
            (("bw", "D"), "pass the test and one buffer location (D, H or M) for each rank"), (("bw", "D", "X"), "'X' is not a buffer location"),
            (("bw", "-m", "8:4"), "the smallest size exceeds the largest"), (("bw", "-m", "4X"), "-m: '4X' is not a size"),
            (("put_bw", "-m", "0:4"), "one-sided tests start at size 1"), (("bw", "-z", "50"), "-z applies only to tests of latencies"),
            (("latency", "-z", "50,100"), "-z: '100' is not a percentile"), (("latency", "-z", "0"), "-z: '0' is not"),
            (("bw", "-W", "0"), "-W 0 is out of range: use 1"), (("bw", "-d", "rocm"), "'rocm' is not one of cuda, managed"),
            (("bw", "--timeout", "0"), "--timeout 0 is out of range: use 1"),
            (("fop_latency", "-m", "4:8"), "fop_latency always transfers 8 bytes"),
            (("barrier", "-m", "4"), "cannot use -m: barrier transfers no data"), (("bcast", "-m", "0:4"), "collectives start at size 1"),
            (("bcast", "D", "H"), "cannot run bcast with buffer locations D H: all ranks of this test must use the same location; pass one location, for example D"),
            (("bcast", "X"), "'X' is not a buffer location"), (("latency", "-f"), "-f applies only to collectives")))


if __name__ == "__main__":
    unittest.main()
