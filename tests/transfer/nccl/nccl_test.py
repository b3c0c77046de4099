#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit nccl on emulated devices over a stand-in for NCCL (stand_in_nccl.cpp): lines, checks, documents, failures."""
import glob
import os
import re
import tempfile
import time
import unittest

from program import BIN, HAS_GPU, NOTE, Test, run, run_pes

DIRECTORY = os.path.join(BIN, "..", "tests", "bin")
LIBRARY = ("--nccl", os.path.join(DIRECTORY, "libstand_in_nccl.so"))
TESTS = ("all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv", "gather", "scatter",
         "hypercube")
TYPES = ("int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16", "f8e4m3", "f8e5m2")
QUICK = ("-b", "64", "-e", "1K", "-f", "4", "-n", "2", "-T", "60")
TIMING = r"  (?=.{7} )\ *[0-9.e+]+  (?=.{6} )\ *[0-9.e+]+  (?=.{6} )\ *[0-9.e+]+  (?=.{6}(?: |$))\ *"
DEVICE = r"#  Rank  [0-9] Group  0 Pid +[0-9]+ on +\S+ device  [0-9] \[[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\] gdrkit emulated .*"
HEAD = r"# gdrkit version [0-9.]+ nccl-library=22809"
PATH = r"# Path: SHM/direct/direct \([0-9]+ channels\); GDRCopy is off \(NCCL_GDRCOPY_ENABLE=1 turns it on\)"


def emulated(devices, **more):
    return {"GDRKIT_BACKEND": "emulated", "GDRKIT_EMULATED_DEVICES": str(devices), **more}


def row(size, count, type_name="float", op="sum", root=-1, wrong="0", wrong_in_place="0"):
    return (rf"{size:>12}  {count:>12}  {type_name:>8}  {op:>6}  {root:>6}" + TIMING + wrong + TIMING + wrong_in_place)


def rows_of(lines):
    """Parses the lines like scripts: every line that is not a comment, split at blanks."""
    return [line.split() for line in lines if line.strip() and not line.startswith(("#", "NOTE"))]


class NcclTable(Test):
    def test_prints_the_lines_of_one_process_with_two_gpus(self):
        ended = self.run_ok("gdrkit", "nccl", "all_reduce", *LIBRARY, *QUICK, "-g", "2", environment=emulated(2))
        self.assert_lines(ended.lines, [
            NOTE, HEAD, r"# Collective test starting: all_reduce_perf",
            r"# nThread 1 nGpus 2 minBytes 64 maxBytes 1024 step: 4\(factor\) warmup iters: 1 iters: 2 agg iters: 1 "
            r"validation: 1 graph: 0", "#", "# Using devices", DEVICE, DEVICE, "#",
            r"#  +out-of-place +in-place +", r"#       size         count      type   redop    root     time   algbw   busbw  "
            r"#wrong     time   algbw   busbw  #wrong ", r"# .*\(us\)  \(GB/s\)  \(GB/s\) +",
            row(64, 16), row(256, 64), row(1024, 256), PATH, "# Out of bounds values : 0 OK",
            r"# Avg bus bandwidth    : [0-9.e-]+ ", "#", "# Collective test concluded: all_reduce_perf", "#"])

    def test_runs_every_test_between_processes(self):
        for test in TESTS:
            ranks = 4 if test == "hypercube" else 3
            ended = run_pes(ranks, "nccl", test, *LIBRARY, "-b", "1200", "-e", "1200", "-n", "2", "-T", "60")
            self.assertEqual(ended.code, 0, ended.err)
            rows = rows_of(ended.lines)
            self.assertEqual(len(rows), 1, ended.out)
            reduces, rooted = test in ("all_reduce", "reduce_scatter", "reduce"), test in ("broadcast", "reduce", "gather", "scatter")
            parts = test in ("all_gather", "reduce_scatter", "alltoall", "gather", "scatter")
            count = "72" if ranks == 4 else "100" if parts else "300"
            self.assertEqual(rows[0][:5], ["1152" if ranks == 4 else "1200", count, "float", "sum" if reduces else "none",
                                           "0" if rooted else "-1"])
            self.assertEqual((rows[0][8], rows[0][12]), ("0", "N/A" if test in ("alltoall", "sendrecv") else "0"), test)
            self.assertEqual(len([line for line in ended.lines if re.match(DEVICE, line)]), ranks)

    def test_reports_collectives_missing_in_older_versions(self):
        for test in ("gather", "scatter", "hypercube", "alltoall"):
            # Without ncclGather, ncclScatter and ncclAlltoAll, gdrkit uses sends and receives.
            for library in (LIBRARY, ("--nccl", os.path.join(DIRECTORY, "libstand_in_nccl_2_18.so"))):
                for root in ("0", "3"):
                    ended = self.run_ok("gdrkit", "run", "-n", "2", "--", f"{BIN}/gdrkit", "nccl", test, *library, "-b", "4K", "-e", "4K",
                                         "-n", "2", "-m", "2", "-r", root, "-g", "2", environment=emulated(4))
                    (found,) = rows_of(ended.lines)
                    self.assertEqual((found[8], found[12]), ("0", "N/A" if test == "alltoall" else "0"), (test, library, root))
                    self.assertEqual(found[4], root if test in ("gather", "scatter") else "-1")

    def test_skips_sizes_smaller_than_a_block_per_rank(self):
        for test, call in (("alltoall", "ncclAlltoAll"), ("gather", "ncclGather"), ("scatter", "ncclScatter")):
            ended = self.run_ok("gdrkit", "nccl", test, *LIBRARY, "-b", "8", "-e", "8", "-n", "2", "-g", "2",
                                 environment=emulated(2, STAND_IN_NCCL_FAILS=call))
            (found,) = rows_of(ended.lines)
            self.assertEqual((found[:2], found[8]), (["0", "0"], "0"), test)

    def test_operations_use_successive_offsets(self):
        # 2 blocks of the largest size; the second size has room for 4 operations.
        for options in (("-b", "256", "-e", "512", "-i", "256"), ("-b", "64", "-e", "300", "-i", "59", "-m", "3")):
            for test in ("all_gather", "reduce_scatter", "all_reduce"):
                self.run_ok("gdrkit", "nccl", test, *LIBRARY, *options, "-n", "5", "-g", "2", environment=emulated(2))

    def test_hypercube_bandwidth_counts_data_of_other_ranks(self):
        document, _ = self.json_of("nccl", "hypercube", *LIBRARY, *QUICK, "-g", "4", environment=emulated(4))
        time_us, algbw, busbw = document["series"][:3]
        for one, other, bus in zip(time_us["points"], algbw["points"], busbw["points"]):
            self.assertAlmostEqual(one["x"] * 3 / 4 / one["rounds"][0] / 1000, other["rounds"][0], places=6)
            self.assertEqual(other["rounds"], bus["rounds"])

    def test_hypercube_requires_a_power_of_two(self):
        ended = run("gdrkit", "nccl", "hypercube", *LIBRARY, "-g", "3", environment=emulated(3))
        self.assert_failed(ended, 2, "gdrkit nccl: hypercube requires a power-of-two number of ranks, not 3")

    def test_registered_buffers(self):
        for how in ("1", "2"):
            document, _ = self.json_of("nccl", "all_reduce", *LIBRARY, *QUICK, "-g", "2", "-R", how, environment=emulated(2))
            self.assertEqual((document["ok"], document["settings"]["registered"]), (True, how))

    def test_supports_processes_on_several_machines(self):
        ended = run("gdrkit", "run", "-n", "3", "--emulated", "--", "sh", "-c",
                    f'GDRKIT_SHMEM_HOSTID=$GDRKIT_SHMEM_PE exec {BIN}/gdrkit nccl all_reduce "$@"', "sh", *LIBRARY, *QUICK,
                    environment={})
        self.assertEqual((ended.code, ended.err), (0, ""), ended.out)
        self.assertEqual([found[8] for found in rows_of(ended.lines)], ["0", "0", "0"])

    def test_supports_processes_with_several_gpus(self):
        ended = self.run_ok("gdrkit", "run", "-n", "2", "--", f"{BIN}/gdrkit", "nccl", "alltoall", *LIBRARY, *QUICK, "-g", "2",
                             environment=emulated(4))
        self.assertEqual([found[8] for found in rows_of(ended.lines)], ["0", "0", "0"])
        self.assertEqual([int(line.split()[2]) for line in ended.lines if line.startswith("#  Rank")], [0, 1, 2, 3])

    def test_supports_all_types_and_reductions(self):
        ended = self.run_ok("gdrkit", "nccl", "all_reduce", *LIBRARY, "-b", "96", "-e", "96", "-n", "1", "-g", "3", "-d", "all", "-o",
                             "all", environment=emulated(3))
        rows = rows_of(ended.lines)
        self.assertEqual([(found[2], found[3]) for found in rows],
                         [(name, op) for name in TYPES for op in ("sum", "prod", "max", "min", "avg")])
        self.assertEqual({found[8] for found in rows} | {found[12] for found in rows}, {"0"})

    def test_accepts_options_that_change_the_loop(self):
        for options in (("-z", "1"), ("-C", "1"), ("-m", "3"), ("-w", "0"), ("-a", "0"), ("-a", "2"), ("-a", "3")):
            ended = run("gdrkit", "nccl", "all_reduce", *LIBRARY, *QUICK, "-g", "2", *options, environment=emulated(2))
            self.assertEqual((ended.code, len(rows_of(ended.lines))), (0, 3), f"{options}: {ended.err}")

    def test_supports_size_steps_without_data_check(self):
        ended = run("gdrkit", "nccl", "broadcast", *LIBRARY, "-b", "1K", "-e", "3K", "-i", "1K", "-n", "1", "-c", "0", "-r",
                    "1", "-g", "2", environment=emulated(2))
        self.assertEqual([(found[0], found[4], found[8], found[12]) for found in rows_of(ended.lines)],
                         [("1024", "1", "N/A", "N/A"), ("2048", "1", "N/A", "N/A"), ("3072", "1", "N/A", "N/A")])

    def test_runs_under_the_original_names(self):
        for test in TESTS:
            ended = self.run_ok(f"{test}_perf", *LIBRARY, "-b", "64", "-e", "64", "-n", "1")
            self.assertIn(f"# Collective test concluded: {test}_perf", ended.lines)

    def test_keeps_the_log_settings_of_the_user(self):
        ended = run("gdrkit", "nccl", "all_reduce", *LIBRARY, *QUICK, environment=emulated(1, NCCL_DEBUG="WARN"))
        self.assertIn("# Path: unknown, because NCCL_DEBUG or NCCL_DEBUG_FILE is set", ended.lines)


class NcclDocument(Test):
    def test_has_series_of_both_places_and_a_round_per_cycle(self):
        document, ended = self.json_of("nccl", "all_gather", *LIBRARY, *QUICK, "-N", "3", "-g", "2", environment=emulated(2))
        self.assertIn("NOTE:", ended.err)
        self.assertEqual((document["tool"], document["emulated"], document["ok"]), ("nccl", True, True))
        self.assertEqual(document["settings"], {"test": "all_gather", "library": "NCCL 2.28.9", "ranks": "2", "processes": "1",
                                                "iterations": "2", "aggregated": "1"})
        self.assertEqual([series["id"] for series in document["series"]],
                         [f"nccl/all_gather/float/none/{place}/{quantity}/nccl" for place in ("out_of_place", "in_place")
                          for quantity in ("time", "algbw", "busbw")])
        for series in document["series"]:
            is_time = "/time/" in series["id"]
            self.assertEqual((series["unit"], series["better"]), ("us", "lower") if is_time else ("GB/s", "higher"))
            self.assertEqual([point["x"] for point in series["points"]], [64, 256, 1024])
            self.assertEqual({len(point["rounds"]) for point in series["points"]}, {3})
        time, algbw, busbw = document["series"][:3]
        for one, other in zip(time["points"], algbw["points"]):
            self.assertAlmostEqual(one["x"] / one["rounds"][0] / 1000, other["rounds"][0], places=6)
        for one, other in zip(algbw["points"], busbw["points"]):
            self.assertAlmostEqual(one["rounds"][1] / 2, other["rounds"][1])
        self.assertEqual(document["wrong_elements"], 0)
        self.assertRegex(document["paths"][0], "^SHM/direct/direct")

    def test_omits_the_machine_name(self):
        document, _ = self.json_of("nccl", "reduce", *LIBRARY, *QUICK)
        self.assertNotIn(os.uname().nodename, str(document))

    def test_writes_a_file_in_addition_to_the_table(self):
        path = self.path("result.json")
        for option in (("-J", path), (f"--json={path}",)):
            ended = run("gdrkit", "nccl", "reduce", *LIBRARY, *QUICK, *option)
            self.assertEqual((ended.code, len(rows_of(ended.lines))), (0, 3), ended.err)
            self.assertIn('"tool": "nccl"', self.read(path))
            os.remove(path)


class NcclWrongData(Test):
    def test_a_wrong_bit_is_counted_and_fails_the_run(self):
        for test in TESTS:
            ended = run_pes(2, "nccl", test, *LIBRARY, "-b", "1K", "-e", "1K", "-n", "1", "-r", "1",
                            environment={"STAND_IN_NCCL_SPOILS": "1"})
            self.assertEqual(ended.code, 1, test)
            (found,) = rows_of(ended.lines)
            # Each block that rank 1 receives has one wrong element; of hypercube it passes one of its two on.
            self.assertEqual(found[8], {"alltoall": "2", "hypercube": "3"}.get(test, "1"), test)
            self.assertTrue(any(re.match("# Out of bounds values : [0-9]+ FAILED", line) for line in ended.lines), ended.out)

    def test_document_reports_wrong_elements(self):
        document, _ = self.json_of("nccl", "all_reduce", *LIBRARY, *QUICK, code=1,
                                   environment=emulated(1, STAND_IN_NCCL_SPOILS="0"))
        self.assertEqual((document["ok"], document["wrong_elements"]), (False, 6))


class NcclFailures(Test):
    def test_reports_a_missing_or_unusable_library(self):
        for file, environment, text in (
            ("/nonexistent/libnccl.so.2", {}, r"cannot load NCCL \(/nonexistent.*libnccl2 or the Python package"),
            (os.path.join(DIRECTORY, "libold_nccl.so"), {}, r"libold_nccl.so: it lacks ncclGetUniqueId; .*2.18"),
            (LIBRARY[1], {"STAND_IN_NCCL_VERSION": "21706"}, r"is NCCL 2\.17; use 2\.18 or newer"),
            (LIBRARY[1], {"STAND_IN_NCCL_FAILS": "ncclGetVersion"}, r"ncclGetVersion of .* failed with error 3")):
            ended = run("gdrkit", "nccl", "all_reduce", "--nccl", file, environment=emulated(1, **environment))
            self.assert_failed(ended, 77, pattern=text)

    def test_reports_a_missing_gpu(self):
        ended = run("gdrkit", "nccl", "all_reduce")
        self.assert_failed(ended, 77, "gdrkit nccl: NCCL requires GPUs, but the emulated device is selected; use --engine shmem")

    def test_reports_too_few_gpus(self):
        ended = run("gdrkit", "nccl", "all_reduce", *LIBRARY, "-g", "3", environment=emulated(2))
        self.assert_failed(ended, 77, "-g 3 in 1 process requires 3 GPUs, but this machine has 2; set GDRKIT_EMULATED_DEVICES")

    def test_reports_every_failed_call(self):
        calls = {"ncclGetUniqueId": "all_reduce", "ncclCommInitRank": "all_reduce", "ncclGroupStart": "alltoall",
                 "ncclGroupEnd": "alltoall", "ncclAllReduce": "all_reduce", "ncclAllGather": "all_gather",
                 "ncclReduceScatter": "reduce_scatter", "ncclBroadcast": "broadcast", "ncclReduce": "reduce",
                 "ncclSend": "sendrecv", "ncclRecv": "sendrecv", "ncclCommDestroy": "all_reduce", "ncclGather": "gather",
                 "ncclScatter": "scatter", "ncclAlltoAll": "alltoall", "ncclCommRegister": "all_reduce -R 1", "ncclCommDeregister": "all_reduce -R 1",
                 "ncclCommWindowRegister": "all_reduce -R 2", "ncclCommWindowDeregister": "all_reduce -R 2"}
        for call, test in calls.items():
            ended = run("gdrkit", "nccl", *test.split(), *LIBRARY, *QUICK, environment=emulated(1, STAND_IN_NCCL_FAILS=call))
            self.assert_failed(ended, 1, f"gdrkit nccl: rank 0: {call} failed with 3 (internal error): the test lets {call} fail; "
                                         "NCCL_DEBUG=INFO")
        for path in glob.glob("/dev/shm/stand_in_nccl*"):  # of communicators that were never created
            os.remove(path)

    def test_asynchronous_error_ends_the_run(self):
        ended = run("gdrkit", "nccl", "all_reduce", *LIBRARY, *QUICK, environment=emulated(1, STAND_IN_NCCL_ASYNC_ERROR="1"))
        self.assert_failed(ended, 1, "an operation in a stream failed with 6 (remote process exited): the test lets operations fail")

    def test_rejects_types_unsupported_by_this_nccl(self):
        old = emulated(1, STAND_IN_NCCL_VERSION="22300")
        ended = run("gdrkit", "nccl", "all_reduce", *LIBRARY, *QUICK, "-d", "f8e4m3", environment=old)
        self.assert_failed(ended, 77, "gdrkit nccl: NCCL 2.23.0 does not have f8e4m3; use NCCL 2.24 or newer")
        ended = run("gdrkit", "nccl", "all_reduce", *LIBRARY, "-b", "64", "-e", "64", "-d", "all", environment=old)
        self.assertEqual((ended.code, len(rows_of(ended.lines))), (0, 10), ended.err)
        self.assertIn("# left out: NCCL 2.23.0 does not have f8e5m2; use NCCL 2.24 or newer", ended.lines)

    def test_processes_do_not_require_a_shmem_job(self):
        setting = {"GDRKIT_SHMEM_HEAP": "8E"}  # more than shmem accepts
        for launch in ((), ("gdrkit", "run", "-n", "2", "--emulated", "--")):
            for engine, code in ((LIBRARY, 0), (("--engine", "shmem"), 1)):
                ended = run(*launch, f"{BIN}/gdrkit" if launch else "gdrkit", "nccl", "all_gather", *engine, *QUICK,
                            environment=emulated(2, **setting))
                self.assertEqual(ended.code, code, ended.err)
                self.assertEqual("gdrkit shmem: init: " in ended.err, code == 1, ended.err)

    def test_killed_rank_ends_the_job(self):
        begin = time.monotonic()
        self.assert_failed(run_pes(2, "nccl", "all_reduce", *LIBRARY, *QUICK, environment={"STAND_IN_NCCL_DIES": "1"}), 9, "PE 1")
        self.assertLess(time.monotonic() - begin, 60)

    def test_hung_rank_ends_the_run_at_the_limit(self):
        ended = run_pes(2, "nccl", "all_reduce", *LIBRARY, "-b", "64", "-e", "64", "-T", "3", environment={"STAND_IN_NCCL_HANGS": "1"})
        self.assert_failed(ended, 1, pattern=r"gdrkit nccl: rank [01] of 2: all_reduce of 64 B(, in place)? did not complete within 3 s; see the output of the other ranks, or increase -T")


class NcclShmemEngine(Test):
    def run_ranks(self, ranks, *arguments):
        return run_pes(ranks, "nccl", *arguments, "--engine", "shmem", "-n", "2", "-T", "60")

    def test_every_test_except_reduce_has_correct_data(self):
        for test in TESTS:
            if test == "reduce":
                continue
            ranks = 4 if test == "hypercube" else 3
            ended = self.run_ranks(ranks, test, "-b", "1200", "-e", "1200", *(("-r", "1") if test in ("gather", "scatter") else ()))
            self.assertEqual((ended.code, ended.err), (0, ""), test)
            (found,) = rows_of(ended.lines)
            in_place = {"reduce_scatter": ["N/A"] * 4, "alltoall": ["N/A"] * 4, "sendrecv": found[9:12] + ["N/A"]}
            self.assertEqual((found[8], found[9:]), ("0", in_place.get(test, found[9:12] + ["0"])), test)
            self.assertIn(f"# Path: GPU kernels by loads and stores on the memory of {ranks} of {ranks} PEs", ended.lines)

    def test_supports_its_types_and_reductions(self):
        ended = self.run_ranks(2, "all_reduce", "-b", "96", "-e", "96", "-d", "all", "-o", "all")
        self.assertEqual(ended.code, 0, ended.err)
        rows = rows_of(ended.lines)
        self.assertEqual([(found[2], found[3]) for found in rows],
                         [(name, op) for name in TYPES[:10] for op in ("sum", "prod", "max", "min")])
        self.assertEqual({found[8] for found in rows} | {found[12] for found in rows}, {"0"})
        self.assertIn("# left out: gdrkit_shmem does not support averages", ended.lines)

    def test_document_contains_the_engine(self):
        document, _ = self.json_of("nccl", "reduce_scatter", "--engine", "shmem", "-b", "64", "-e", "64")
        self.assertEqual([series["id"] for series in document["series"]],
                         [f"nccl/reduce_scatter/float/sum/out_of_place/{quantity}/shmem" for quantity in ("time", "algbw", "busbw")])
        self.assertRegex(document["settings"]["library"], r"^gdrkit_shmem [0-9.]+$")

    def test_reports_unsupported_operations(self):
        for arguments, code, text in ((("reduce",), 77, "gdrkit_shmem does not support reductions to one root"),
                                      (("all_reduce", "-o", "avg"), 77, "gdrkit_shmem does not support averages"),
                                      (("all_reduce", "-d", "f8e5m2"), 77, "gdrkit_shmem does not reduce f8e5m2"),
                                      (("all_reduce", "-R", "1"), 2, "cannot use -R with --engine shmem: symmetric memory is always registered"),
                                      (("all_reduce", "-g", "2"), 2, "--engine shmem supports one GPU per process; omit -g")):
            self.assert_failed(run("gdrkit", "nccl", *arguments, "--engine", "shmem", environment=emulated(2)), code, text)


class NcclUsage(Test):
    def test_rejects_invalid_arguments(self):
        self.assert_rejected(["nccl"], (
            (("all_reduse",), "unknown test 'all_reduse'; did you mean 'all_reduce'?"), ((), "give exactly one test, one of: all_reduce, "),
            (("all_reduce", "broadcast"), "give exactly one test"), (("all_reduce", "-d", "flaot"), "did you mean 'float'?"),
            (("all_reduce", "-o", "mul"), "'mul' is not one of sum, prod"), (("all_reduce", "-n", "0"), "-n 0 is out of range: use 1"),
            (("all_reduce", "-g", "0"), "-g 0 is out of range: use 1"), (("all_reduce", "-c", "2"), "-c 2 is out of range: use 0 to 1"),
            (("all_reduce", "-a", "4"), "-a 4 is out of range: use 0 to 3"), (("all_reduce", "-T", "0"), "-T 0 is out of range: use 1"),
            (("all_reduce", "-b", "2M", "-e", "1M"), "-b 2097152 exceeds -e 1048576"),
            (("all_reduce", "-b", "0", "-f", "2"), "-b 0 with -f never ends"),
            (("all_reduce", "-i", "0"), "-i 0 never ends; use a positive step"),
            (("all_reduce", "-b", "1", "-e", "1G", "-i", "1"), "more than 100000 sizes"),
            (("all_reduce", "-R", "3"), "-R 3 is out of range: use 0 to 2")))

    def test_each_original_option_is_documented_or_rejected(self):
        original = """t:nthreads g:ngpus b:minbytes e:maxbytes i:stepbytes f:stepfactor n:iters m:agg_iters w:warmup_iters
            N:run_cycles p:parallel_init c:check o:op d:datatype r:root z:blocking y:stream_null T:timeout G:cudagraph
            C:report_cputime S:report_timestamps J: a:average R:local_register x:cta_policy
            D:device_implementation V:device_cta_count M:memory_report u:unalign I:per_iter_timing K:per_iter_skip
            F:output_file h:help""".split()
        self.assert_documented_or_rejected(["nccl", "all_reduce"], original)
        self.run_ok("gdrkit", "nccl", "all_reduce", *LIBRARY, *QUICK, "-t", "1", "-p", "0", "-G", "0", "-y", "0", environment=emulated(1))

    def test_rejects_registration_unsupported_by_this_nccl(self):
        ended = run("gdrkit", "nccl", "all_reduce", "--nccl", os.path.join(DIRECTORY, "libstand_in_nccl_2_18.so"), "-R", "1", environment=emulated(1))
        self.assert_failed(ended, 77, "gdrkit nccl: cannot use -R 1: NCCL 2.28.9 does not have ncclCommRegister or ncclMemAlloc; use NCCL 2.19 or newer")

    def test_rejects_a_root_out_of_range(self):
        ended = run("gdrkit", "nccl", "reduce", *LIBRARY, "-r", "2", "-g", "2", environment=emulated(2))
        self.assert_failed(ended, 2, "gdrkit nccl: -r 2 is out of range: the ranks are 0 to 1")

    def test_each_test_of_the_list_has_the_name_of_the_original(self):
        ended = run("gdrkit", "nccl")
        listed = re.search("give exactly one test, one of: (.*)", ended.err).group(1).split(", ")
        self.assertEqual(tuple(listed), TESTS)
        for name in listed:
            self.assertEqual(os.readlink(os.path.join(BIN, f"{name}_perf")), "gdrkit", name)


@unittest.skipIf(HAS_GPU, "the machine has a GPU, which this test's libcuda.so.1 would hide")
class Loops(Test):
    """The baseline nccl_loops, on a fake libcuda.so.1."""
    COMMAND = (os.path.join(DIRECTORY, "nccl_loops"), *LIBRARY, "--cycles", "2", "--iterations", "2", "--sizes", "8,1024",
               "--tests", "all_reduce,all_gather,alltoall,broadcast")
    ENVIRONMENT = {"LD_LIBRARY_PATH": os.path.join(DIRECTORY, "..", "stand_in_cuda"), "STAND_IN_NCCL_USES_CUDA": "1"}

    def assert_measured(self, ended):
        self.assertEqual((ended.code, ended.err), (0, ""))
        measured = [line.split() for line in ended.lines]
        self.assertEqual([words[:3] for words in measured], [
            [test, size, place] for test in ("all_reduce", "all_gather", "alltoall", "broadcast") for _ in range(2)
            for size in ("8", "1024") for place in ("out_of_place", "in_place")])
        self.assertTrue(all(float(words[3]) > 0 for words in measured), ended.out)

    def test_two_gpus(self):
        self.assert_measured(run(*self.COMMAND, "--gpus", "2", environment=self.ENVIRONMENT))

    def test_two_processes(self):
        with tempfile.NamedTemporaryFile() as page:
            page.truncate(4096)
            ended = run("gdrkit", "run", "-n", "2", "--", *self.COMMAND, "--page", page.name, environment=self.ENVIRONMENT)
        self.assert_measured(ended)


if __name__ == "__main__":
    unittest.main()
