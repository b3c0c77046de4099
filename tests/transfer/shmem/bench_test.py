#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit shmem bench on emulated PEs: tables, the document, and processes that end."""
import os
import signal
import subprocess
import time
import unittest

from program import BIN, NOTE, Test, run

QUICK = ("-q", "-e", "64", "--bulk", "1M", "--rounds", "3", "--singles", "20", "--starts", "1", "-n", "10")
NUMBER = r"[0-9]+\.[0-9]{6}"


def cases(*names):
    return [word for name in names for word in ("-t", name)]


def listed(side="all"):
    return [line.split()[0] for line in run("gdrkit", "shmem", "bench", "--list", "--side", side).lines]


def series_of(document, key="id"):
    return [series[key] for series in document["series"]]


def is_running(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class BenchTest(Test):
    def bench(self, *arguments, quick=QUICK, **variables):
        """Returns the document of a short run with these environment variables, and how the run ended."""
        return self.json_of("shmem", "bench", *arguments, *quick, environment={"GDRKIT_BACKEND": "emulated", **variables})


class ShmemBench(BenchTest):
    def test_prints_the_tables(self):
        ended = self.run_ok("gdrkit", "shmem", "bench", *cases("put_host_quiet", "barrier_all", "get_host_bandwidth"), *QUICK)
        latency = r"size\(B\) +scope +latency \(us\) +p99"
        self.assert_lines(ended.lines, [
            NOTE, r"#shmem_start: from the start .*", latency, rf"- +host +{NUMBER} +-", "",
            r"#shmem_put_host_quiet: put from host heap memory, quiet", latency
        ] + [rf"{size} +host +{NUMBER} +{NUMBER}" for size in (8, 16, 32, 64)] + [
            "", r"#shmem_barrier_all: barrier_all", latency, rf"- +host +{NUMBER} +{NUMBER}", "",
            r"#shmem_get_host_bandwidth: get to host memory", r"size\(B\) +scope +bandwidth \(GB/s\) +p99",
            rf"1048576 +host +{NUMBER} +-", ""
        ])

    def test_document_has_a_series_for_every_case(self):
        document, ended = self.bench()
        self.assertIn("NOTE:", ended.err)
        self.assertEqual((document["tool"], document["emulated"], document["ok"]), ("shmem bench", True, True))
        self.assertEqual(series_of(document), [f"shmem/{name}/gdrkit" for name in ["start"] + listed()])
        for series in document["series"]:
            self.assertEqual(series["method"], "gdrkit")
            quantity = series["id"].split("/")[1].split("_")[-1]
            self.assertEqual((series["unit"], series["better"]),
                             {"bandwidth": ("GB/s", "higher"), "rate": ("M/s", "higher")}.get(quantity, ("us", "lower")))
            self.assertTrue(series["points"], series["id"])
            for point in series["points"]:
                self.assertGreater(point["value"], 0, series["id"])
                self.assertEqual(len(point["rounds"]), 1 if "/start/" in series["id"] else 3)
                if "single" in point:
                    self.assertEqual(point["single"]["count"], 20)
                    self.assertLessEqual(point["single"]["minimum"], point["single"]["p99"])
        self.assertNotIn("ratios", document)
        # A put that waits for its arrival takes longer than one that does not.
        value = {series["id"]: series["points"][0]["value"] for series in document["series"]}
        self.assertGreater(value["shmem/p_quiet/gdrkit"], value["shmem/p/gdrkit"])
        # What GPU kernels do has its scope; the CPU's has none.
        self.assertEqual({series["conditions"].get("scope") for series in document["series"]},
                         {None, "stream", "thread", "warp", "block", "grid"})

    def test_supports_more_pes(self):
        names = ("barrier_all", "ping_pong", "device_barrier_block", "device_ping_pong_warp", "device_signal_ping_pong")
        document, _ = self.bench("--pes", "3", *cases(*names))
        self.assertEqual([series["conditions"].get("pes") for series in document["series"][1:]], ["3"] * len(names))

    def test_selects_one_side(self):
        self.assertEqual(listed("host") + listed("stream") + listed("device"), listed())
        for side in ("stream", "device"):
            self.assertTrue(all(name.startswith(f"{side}_") for name in listed(side)))
        self.assertIn("barrier_all", listed("host"))

    def test_prints_the_table_of_a_gpu_kernel(self):
        ended = run("gdrkit", "shmem", "bench", *cases("device_put_quiet_warp", "device_p_rate"), "--quick", "-q", "-e", "64", "-n", "10")
        self.assert_lines(ended.lines[5:], [
            r"#shmem_device_put_quiet_warp: put, quiet, by a warp", r"size\(B\) +scope +latency \(us\) +p99",
            rf"8 +warp +{NUMBER} +-", rf"64 +warp +{NUMBER} +-", "",
            r"#shmem_device_p_rate: p, by all threads of a grid", r"size\(B\) +scope +rate \(M/s\) +p99",
            rf"8 +grid +{NUMBER} +-", ""
        ])


class ShmemBenchPeer(BenchTest):
    """A stand-in for NVSHMEM over emulated PEs (stand_in_nvshmem.cpp)."""
    FILE = os.path.join(BIN, "..", "tests", "bin", "libstand_in_nvshmem.so")
    PEER = ("--peer", "nvshmem", "--nvshmem", FILE)

    def test_measures_and_compares_both_libraries(self):
        names = ("start", "put_host_quiet", "ping_pong", "barrier_all", "get_pinned_bandwidth")
        document, ended = self.bench(*self.PEER, *cases(*names[1:]))
        self.assertEqual(document["peer"], "nvshmem 9.8.7", ended.err)
        self.assertNotIn("notes", document)
        self.assertEqual(series_of(document), [f"shmem/{name}/{library}" for name in names for library in ("gdrkit", "nvshmem")])
        values = {series["id"]: {point["x"]: point["value"] for point in series["points"]}
                  for series in document["series"]}
        self.assertEqual([ratios["series"] for ratios in document["ratios"]],
                         [f"shmem/{name}/gdrkit" for name in names])
        for ratios in document["ratios"]:
            own, other = values[ratios["series"]], values[ratios["to"]]
            self.assertEqual([point["x"] for point in ratios["points"]], list(own))
            for point in ratios["points"]:
                self.assertAlmostEqual(point["ratio"], own[point["x"]] / other[point["x"]])

    def test_measures_streams_of_both_libraries(self):
        document, _ = self.bench(*self.PEER, "--side", "stream")
        self.assertNotIn("notes", document)
        self.assertEqual([ratios["series"] for ratios in document["ratios"]],
                         [f"shmem/{name}/gdrkit" for name in ["start"] + listed("stream")])

    def test_notes_cases_missing_in_the_host_api(self):
        document, _ = self.bench(*self.PEER, "-t", "atomic_fetch_add")
        self.assertEqual(document["notes"], ["nvshmem: this library has no host API for: atomic_fetch_add"])
        self.assertEqual(series_of(document)[2:], ["shmem/atomic_fetch_add/gdrkit"])

    def test_exited_peer_loses_only_its_own_results(self):
        document, ended = self.bench(*self.PEER, *cases("get_host", "p"), STAND_IN_ENDS_IN_GET="1")
        self.assertIn("NOTE: get to host heap memory: nvshmem PE 0 has ended", ended.err)
        self.assertEqual(document["notes"], ["get to host heap memory: nvshmem PE 0 has ended; see its own error message"])
        self.assertEqual(series_of(document)[2:], ["shmem/p/gdrkit", "shmem/p/nvshmem", "shmem/get_host/gdrkit"])

    def scratch_of_starts(self, *arguments, **environment):
        """What each start of NVSHMEM found in its environment, of both PEs."""
        _, ended = self.bench(*self.PEER, *cases("device_p", "device_reducescatter_block", "device_p_rate"), *arguments,
                              quick=("-q", "--bulk", "8M", "--rounds", "3", "--starts", "1"), STAND_IN_PRINTS_SCRATCH="1", **environment)
        printed = [line[len("scratch: "):] for line in ended.err.splitlines() if line.startswith("scratch: ")]
        self.assertEqual(printed[::2], printed[1::2], ended.err)
        return printed[::2]

    def test_only_device_reducescatter_enlarges_the_scratch_memory(self):
        self.assertEqual(self.scratch_of_starts("-e", "1M"), ["its own", "4194304", "its own"])
        self.assertEqual(self.scratch_of_starts("-e", "64K"), ["its own"])
        self.assertEqual(self.scratch_of_starts("-e", "1M", NVSHMEM_REDUCE_SCRATCH_SIZE="77"), ["77", "77", "77"])

    def printed_by_pes(self, count, *tests, **more):
        """What both PEs printed in their one start, of which each prints so many lines."""
        _, ended = self.bench(*self.PEER, *tests, STAND_IN_LINES=str(count), **more)
        return [line for line in ended.err.splitlines() if not line.startswith("NOTE:")]

    def test_shows_peer_output_grouped_by_pe(self):
        lines = [f"thread [{i},0,0] failed" for i in range(100)]
        self.assertEqual(self.printed_by_pes(100, "-t", "p"), 2 * lines)

    def test_shows_start_and_end_of_long_output(self):
        printed = self.printed_by_pes(10000, "-t", "p")
        self.assertLess(len("\n".join(printed)), 2 * 8192 + 200)
        for pe in range(2):
            of_pe = printed[pe * len(printed) // 2:(pe + 1) * len(printed) // 2]
            summaries = [i for i, line in enumerate(of_pe) if line.startswith("(")]
            self.assertEqual(len(summaries), 1, of_pe)
            head, tail = summaries[0], len(of_pe) - summaries[0] - 1
            self.assertGreater(min(head, tail), 50)
            self.assertEqual(of_pe, [f"thread [{i},0,0] failed" for i in range(head)] +
                             [f"(nvshmem PE {pe} printed {10000 - head - tail} more lines here)"] +
                             [f"thread [{i},0,0] failed" for i in range(10000 - tail, 10000)])

    def test_truncates_a_long_last_line(self):
        for more, shown in ({}, 4095), ({"STAND_IN_LAST_LINE_IS_CUT_OFF": "1"}, 4096):
            printed = self.printed_by_pes(10000, "-t", "p", STAND_IN_LAST_LINE="6000", **more)
            self.assertEqual([line for line in printed if "x" in line], 2 * [shown * "x"])
            self.assertEqual(len([line for line in printed if "more lines here" in line]), 2)

    def test_shows_peer_output_before_its_exit(self):
        printed = self.printed_by_pes(2, "-t", "get_host", STAND_IN_ENDS_IN_GET="1")
        # Of two starts: it starts again after it has ended.
        self.assertEqual(printed, 4 * ["thread [0,0,0] failed", "thread [1,0,0] failed"])

    def test_omits_a_missing_device_side_with_the_reason(self):
        files = [("/nonexistent", "cannot read /nonexistent"), (__file__, f"cannot load {__file__}: ")]
        if not os.path.exists(f"{BIN}/nvshmem_device.fatbin"):
            files.append(("", "this build of gdrkit has no nvshmem_device.fatbin; build it with -DGDRKIT_NVSHMEM="))
        for file, text in files:
            option = ("--nvshmem-device", file) if file else ()
            document, _ = self.bench(*self.PEER, *option, *cases("device_p", "device_signal_ping_pong"))
            self.assertEqual(series_of(document, "method"), ["gdrkit", "nvshmem", "gdrkit", "gdrkit"])
            self.assertEqual(len(document["notes"]), 1)
            self.assertTrue(document["notes"][0].startswith("nvshmem: GPU kernels are not measured: " + text), document)

    def test_a_library_that_cannot_be_loaded_is_noted(self):
        document, _ = self.bench("--peer", "nvshmem", "--nvshmem", "/nonexistent.so", "-t", "p")
        self.assertRegex(document["notes"][0], r"^start of nvshmem: nvshmem PE 0: cannot load /nonexistent\.so: .*; select "
                                               r"the file with --nvshmem$")
        self.assertEqual(series_of(document, "method"), ["gdrkit", "gdrkit"])


class ShmemBenchNccl(BenchTest):
    """The stand-in for NCCL of tests/transfer/nccl, in addition to the one for NVSHMEM."""
    PEER = ("--peer", "nccl", "--nccl", os.path.join(BIN, "..", "tests", "bin", "libstand_in_nccl.so"))
    SMALL = tuple("4K" if word == "1M" else word for word in QUICK)
    COLLECTIVES = ("broadcast", "fcollect", "alltoall", "reduce", "reducescatter")

    def test_collectives_of_all_libraries_are_measured(self):
        names = ["stream_" + name for name in self.COLLECTIVES]
        document, ended = self.bench(*self.PEER, *ShmemBenchPeer.PEER, *cases("stream_put_signal", *names), quick=self.SMALL)
        self.assertEqual(document["peer"], "nccl 2.28.9, nvshmem 9.8.7", ended.err)
        self.assertNotIn("notes", document)
        libraries = {}
        for series in document["series"]:
            libraries.setdefault(series["group"], []).append(series["method"])
        self.assertEqual(libraries, {
            "start": ["gdrkit", "nvshmem"], "stream_put_signal": ["gdrkit", "nvshmem"],
            **{name: ["gdrkit", "nccl", "nvshmem"] for name in names}
        })
        # Two PEs share 4 KiB.
        sizes = {point["x"] for series in document["series"] if series["group"] == "stream_reduce"
                 for point in series["points"]}
        self.assertEqual(sizes, {8, 64, 512, 2048})
        self.assertEqual(len([ratios for ratios in document["ratios"] if ratios["to"].endswith("/nccl")]), 5)

    def test_notes_an_nccl_error(self):
        document, _ = self.bench(*self.PEER, "-t", "stream_broadcast", quick=self.SMALL, STAND_IN_NCCL_FAILS="ncclBroadcast")
        self.assertEqual(document["notes"], ["broadcast from symmetric memory, synchronize, on a stream: nccl PE 0: NCCL: "
                                             "ncclBroadcast failed with 3 (internal error): the test lets ncclBroadcast "
                                             "fail"])
        self.assertEqual(series_of(document, "method"), ["gdrkit", "gdrkit"])

    def test_notes_a_missing_library_file(self):
        document, _ = self.bench("--peer", "nccl", "--nccl", "/nonexistent.so", "-t", "p")
        self.assertRegex(document["notes"][0], r"^start of nccl: nccl PE 0: cannot load NCCL \(/nonexistent.so: .*; "
                                               r"name the file with --nccl$")


class ShmemBenchUsage(Test):
    def test_rejects_invalid_arguments(self):
        self.assert_rejected(["shmem", "bench"], (
            (("-t", "put_hots"), "unknown name 'put_hots'; did you mean 'put_host'?"),
            (("--rounds", "0"), "--rounds 0 is out of range: use 1"), (("--pes", "65"), "--pes 65 is out of range: use 1 to 64"),
            (("-b", "64", "-e", "8"), "-b 64 is out of range: use 1 to 8 (-e)"), (("-b", "0"), "-b 0 is out of range: use 1"),
            (("--peer", "nvshmen"), "did you mean 'nvshmem'?"), (("--side", "devise"), "did you mean 'device'?")))

    def test_another_library_requires_a_gpu(self):
        for library in ("nvshmem", "nccl"):
            self.assert_failed(run("gdrkit", "shmem", "bench", "--peer", library, *QUICK), 77, f"--peer {library} requires GPUs")


class ShmemBenchProcesses(Test):
    def start(self):
        environment = {**os.environ, "GDRKIT_BACKEND": "emulated"}
        bench = subprocess.Popen([f"{BIN}/gdrkit", "shmem", "bench", "--json", "--rounds", "1000", "-n", "100000", "-t",
                                  "barrier_all", "--starts", "1"], env=environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(bench.kill)
        for line in bench.stderr:
            if "barrier_all" in line:
                break
        workers = [int(word) for word in self.read(f"/proc/{bench.pid}/task/{bench.pid}/children").split()]
        self.assertEqual(len(workers), 2)
        return bench, workers

    def test_reports_the_exit_of_a_pe(self):
        bench, workers = self.start()
        os.kill(workers[1], signal.SIGKILL)
        out, err = bench.communicate(timeout=60)
        self.assertEqual((bench.returncode, out), (1, ""))
        self.assertRegex(err, r"gdrkit shmem bench: gdrkit PE [01](: .*PE 1.*| has ended)")
        self.assertFalse(any(is_running(worker) for worker in workers))

    def test_pes_end_with_the_benchmark(self):
        bench, workers = self.start()
        bench.kill()
        bench.communicate(timeout=60)
        deadline = time.monotonic() + 30
        while any(is_running(worker) for worker in workers) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(any(is_running(worker) for worker in workers))


if __name__ == "__main__":
    unittest.main()
