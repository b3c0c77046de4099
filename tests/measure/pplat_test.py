#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""pplat in both fronts on the emulated device, where a host thread emulates the GPU kernel."""
import itertools
import os
import re
import unittest

from program import BANNER, FLOAT, Test, run

FLAG_ONLY = [r"We will measure the visibility of the flag value only\. Setting nblocks and nthreads to 1\."]
RESULT = [rf"Round-trip latency per iteration is \(min\) {FLOAT}, \(median\) {FLOAT} us", r"closing gdrdrv"]
FEW = ("-t", "100")


def head(mode, iterations, data=0, allocation="cuMemAlloc"):
    lines = BANNER + ([] if data else FLAG_ONLY) + [rf"Benchmark mode: {mode}", rf"gpu alloc fn: {allocation}"]
    if data:
        lines += [r"Measuring the latency of data \+ flag model\.",
                  rf"Running {iterations} iterations with data size {data} bytes and flag size 4 bytes\."]
    else:
        lines += [r"Measuring the visibility latency of the flag value\.",
                  rf"Running {iterations} iterations with flag size 4 bytes\."]
    side = "CPU" if mode.startswith("CPU") else "GPU"
    return lines + [r"", r".*polls its flag in (GPU|host) memory.*", rf"{side} does the time measurement\.", r""]


CPU_FIRST, GPU_FIRST = "CPU produces and GPU consumes", "GPU produces and CPU consumes"


class PplatLines(Test):
    def test_prints_defaults(self):
        ended = run("gdrcopy_pplat")
        self.assertEqual((ended.code, ended.err), (0, ""))
        self.assert_lines(ended.lines, head(CPU_FIRST, 1000) + RESULT)

    def test_accepts_data_blocks_threads_and_allocation(self):
        ended = run("gdrcopy_pplat", *FEW, "-s", "1020", "-B", "2", "-T", "64", "-a", "cuMemCreate", "-M", "wc")
        self.assertEqual((ended.code, ended.err), (0, ""))
        self.assert_lines(ended.lines, head(CPU_FIRST, 100, data=1020, allocation="cuMemCreate") + RESULT)
        self.assertIn("a GPU kernel (2 x 64 threads)", ended.out)

    def test_gpu_first_mode_prints_one_result(self):
        ended = run("gdrcopy_pplat", *FEW, "-m", "1", "-s", "64")
        self.assertEqual((ended.code, ended.err), (0, ""))
        self.assert_lines(ended.lines, head(GPU_FIRST, 100, data=64) + RESULT)

    def test_supports_every_location_in_both_modes(self):
        names = {"gpumem": "GPU memory", "hostmem": "host memory"}
        for mode, gpu_flag, cpu_flag, data in itertools.product("01", names, names, names):
            arguments = ("-m", mode, "-G", gpu_flag, "-C", cpu_flag, "-D", data, "-s", "128", *FEW)
            ended = run("gdrcopy_pplat", *arguments)
            self.assertEqual(ended.code, 0, (arguments, ended.err))
            self.assertIn(f"128 bytes of data in {names[data]}", ended.out)
            self.assertIn(f"the CPU polls its flag in {names[cpu_flag]}", ended.out)
            self.assertIn(f"polls its flag in {names[gpu_flag]} and", ended.out.replace(".\n", " and\n"))

    def test_iterations_are_raised_to_hundreds_with_a_warning(self):
        ended = run("gdrcopy_pplat", "-t", "0x65")
        self.assertEqual(ended.code, 0)
        self.assertRegex(ended.err, r"^WARNING: number of iterations 101 is not a multiple of 100\. Raised to 200\.\n$")
        self.assertIn("Running 200 iterations", ended.out)

    def test_accepts_timeouts(self):
        for seconds in ("0", "60"):
            self.assertEqual(run("gdrcopy_pplat", *FEW, "-u", seconds).code, 0)

    def test_errors_exit_with_1(self):
        for arguments, text in ((("-s", "6"), "ERROR: data_size must be divisible by 4."),
                                (("-s", "0x80000000"), "ERROR: data_size must be at most 1073741824"),
                                (("-t", "0"), "--iterations: 0 is out of range: use 1 to"), (("-t", "-5"), "--iterations: -5"),
                                (("-u", "-1"), "timeout"), (("-B", "0", "-s", "4"), "block"),
                                (("-T", "1025", "-s", "4"), "--threads: 1025 is out of range: use 1 to 1024"), (("-T", "0", "-s", "4"), "threads"),
                                (("-B", "60000", "-s", "4"), "this GPU runs only"),
                                (("-m", "2"), "Invalid benchmark mode '2'"), (("-G", "disk"), "'disk'"),
                                (("-C", "disk"), "'disk'"), (("-D", "disk"), "'disk'"),
                                (("-a", "odd"), "Unrecognized fn argument"),
                                (("-M", "odd"), "ERROR: invalid mapping_type 'odd'."),
                                (("-z",), "ERROR: invalid option"), (("-d", "5"), "")):
            ended = run("gdrcopy_pplat", *arguments)
            self.assertEqual(ended.code, 1, (arguments, ended.out))
            self.assertIn(text, ended.err, arguments)
            self.assertTrue(ended.err)

    def test_selects_one_of_several_emulated_devices(self):
        several = {"GDRKIT_BACKEND": "emulated", "GDRKIT_EMULATED_DEVICES": "3"}
        ended = run("gdrcopy_pplat", *FEW, "-d", "2", environment=several)
        self.assertEqual((ended.code, ended.err), (0, ""))
        gpus = [BANNER[1].replace("id:0", f"id:{ordinal}") for ordinal in range(3)]
        self.assert_lines(ended.lines[:5], [BANNER[0], *gpus, "selecting device 2"])
        self.assertEqual(run("gdrcopy_pplat", *FEW, "-d", "3", environment=several).code, 1)
        ended = run("gdrkit", "pplat", environment={**several, "GDRKIT_EMULATED_DEVICES": "many"})
        self.assertEqual(ended.code, 2)
        self.assertIn('invalid GDRKIT_EMULATED_DEVICES "many"; set a number from 1 to 16', ended.err)

    def test_help_is_on_stdout(self):
        ended = run("gdrcopy_pplat", "-h")
        self.assertEqual((ended.code, ended.err), (0, ""))
        self.assertRegex(ended.out, r"^Usage: .*gdrcopy_pplat")
        for option in "tuasBTmGCDM":
            self.assertRegex(ended.out, rf"(?m)^  -{option} ")


class PplatOwnFace(Test):
    def assert_count(self, ended, way, count):
        """All iterations were made, or the tool reports that a busy machine left too little time."""
        made = int(re.search(rf"(?m)^{way} +(\d+)( +[0-9.]+){{2}}( +(?:[0-9.]+|-)){{2}} +[0-9.]+$", ended.out).group(1))
        if f"\nstopped before all {count} iterations: a round trip took too long here" in ended.out:
            self.assertTrue(0 < made < count, ended.out)
        else:
            self.assertEqual(made, count, ended.out)

    def test_prints_table_and_histogram(self):
        ended = run("gdrkit", "pplat", "--iterations", "500")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertRegex(ended.out, r"(?m)^by +count +min +median +p99 +p99\.9 +max$")
        self.assert_count(ended, "mapping", 500)
        self.assertNotIn("raw", ended.out)
        bins = [line for line in ended.lines if re.match(r"^ *[0-9.]+ to +[0-9.]+ us +\d+( #+)?$", line)]
        self.assertEqual(len(bins), 10, ended.out)
        self.assertRegex(ended.out, r"(?m)^on CPU \d+|not bound")

    def test_raw_is_measured_in_the_same_rounds(self):
        ended = run("gdrkit", "pplat", "--iterations", "403", "--raw", "--data-size", "260")
        self.assertEqual(ended.code, 0, ended.err)
        self.assert_count(ended, "raw", 403)
        self.assertRegex(ended.out, r"(?m)^ratio of medians, mapping to raw: [0-9.]+, .*(?i:limit) of 1\.05 "
                                    r"\(emulated device: does not describe\s")
        ended = run("gdrkit", "pplat", "--iterations", "100", "--raw", "--mode", "1", "--quiet")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertRegex(ended.out, r"(?m)^by +launches +min +median$")

    def test_json(self):
        document, _ = self.json_of("pplat", "--iterations", "200", "--raw", "--data-size", "60", "--gpu-flag", "hostmem")
        self.assertEqual((document["schema_version"], document["tool"], document["ok"]), (2, "pplat", True))
        self.assertEqual([series["id"] for series in document["series"]], ["ping_pong/mapping", "ping_pong/raw"])
        self.assertEqual(document["series"][0]["control"], "ping_pong/raw")
        self.assertGreater(document["raw"]["ratio"], 0)
        self.assertEqual((document["settings"]["gpu_flag"], document["settings"]["cpu_flag"]), ("hostmem", "hostmem"))
        for series in document["series"]:
            self.assertEqual((series["operation"], series["unit"], series["x_name"]), ("ping_pong", "us", "size_bytes"))
            point, = series["points"]
            self.assertEqual(point["x"], 64)
            if not document["is_cut_short"]:
                self.assertEqual((point["single"]["count"], len(point["rounds"])), (200, 20))
            self.assertLessEqual(point["single"]["minimum"], point["single"]["p50"])
            self.assertLessEqual(point["single"]["p99"], point["single"]["p999"])
        document, _ = self.json_of(*FEW, program="gdrcopy_pplat")
        self.assertEqual(document["series"][0]["points"][0]["single"]["count"], 100)
        self.assertNotIn("raw", document)

    def test_accepts_numa_nodes(self):
        ended = run("gdrkit", "pplat", "--no-bind", "--iterations", "50")
        self.assertEqual(ended.code, 0, ended.err)
        if os.path.isdir("/sys/devices/system/node"):
            ended = run("gdrkit", "pplat", "--numa", "all", "--iterations", "50")
            self.assertEqual(ended.code, 0, ended.err)
            self.assertIn("round trip, 4 bytes", ended.out)

    def test_wrong_usage_exits_with_2(self):
        self.assert_wrong_usage(["pplat"], (
            ("--data-size", "6"), ("--iterations", "0"), ("--iterations", "many"), ("--mode", "2"), ("--gpu-flag", "disk"),
            ("--cpu-flag", "disk"), ("--data", "disk"), ("--timeout", "-1"), ("--blocks", "0"), ("--threads", "2000"),
            ("--allocation", "odd"), ("--mapping-type", "odd"), ("--data-size", "4", "--blocks", "100000"), ("--nothing",),
            ("--numa", "all", "--raw"), ("--raw", "--gpu-flag", "hostmem"), ("--copy-kernel", "nothing")))


if __name__ == "__main__":
    unittest.main()
