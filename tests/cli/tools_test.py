#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Runs the built program under all its names on the emulated device and compares its output with the documented format."""
import os
import re
import socket
import tempfile
import unittest

from program import BANNER, BIN, FLOAT, HAS_GPU, NOTE, Test, run, run_with_file_limit, run_without_space, subcommands


FAULTY = "../tests/faulty_sanity/"  # of faulty_sanity/


class Program(Test):
    def test_help_lists_every_subcommand(self):
        ended = self.run_ok("gdrkit", "--help")
        for name in subcommands():
            self.assertRegex(ended.out, rf"(?m)^  {name} ")

    def test_every_subcommand_has_help_with_an_example(self):
        for name in subcommands():
            ended = self.run_ok("gdrkit", name, "--help")
            self.assertRegex(ended.out, rf"(?m)^Example:\n  gdrkit {name}")
            # report and doctor open no device; bandwidth opens all, maps nothing.
            common = {"report": (), "bind": ("--dry-run",), "env": ("--format",), "topo": ("--json",), "snapshot": (),
                      "doctor": ("--json",), "bandwidth": ("--json", "--quiet"), "completion": ("SHELL",),
                      "run": ("--emulated", "--prefix", "--time-limit"), "shmem": ("info", "check", "bench"),
                      "nccl": ("--ngpus", "--datatype", "--json"), "osu": ("--window-size", "--engine", "--json"),
                      "perftest": ("--ib-dev", "--use_cuda", "--json")}
            for option in common.get(name, ("--device", "--backend", "--copy-kernel", "--json", "--quiet")):
                self.assertIn(option, ended.out, name)

    def test_wrong_usage_exits_with_2_and_the_reason(self):
        for arguments in ((), ("nothing",), ("copybw", "--nothing"), ("copylat", "--size", "many"),
                          ("copylat", "--copy-kernel", "nothing"), ("copybw", "-o", "2"), ("copylat", "-s", "0"),
                          ("copylat", "--pin-cost", "--pin-size", "0"), ("copylat", "--rounds", "5"),
                          ("copylat", "--raw", "--pin-size", "4096"), ("sanity", "--time-limit", "0"),
                          ("sanity", "-t", "nothing"), ("copybw", "extra")):
            ended = run("gdrkit", *arguments)
            self.assertEqual(ended.code, 2, (arguments, ended.out, ended.err))
            self.assertNotEqual(ended.err, "")

    def test_unwritable_help_is_an_error(self):
        for words in (["--help"], ["--version"], ["bench", "--help"], ["completion", "bash"]):
            self.assert_failed(run_without_space("gdrkit", *words), 1, "cannot write the output")

    def test_unwritable_output_is_reported_regardless_of_the_result(self):
        ended = run_without_space("gdrkit", "info", environment={})
        self.assertIn(ended.code, (1, 77))  # 77: only the emulated backend can run here
        self.assertIn("cannot write the output", ended.err)

    def test_names_without_the_prefix_use_the_gdrcopy_front(self):
        for name in ("sanity", "copybw", "copylat", "pplat", "apiperf"):
            link = self.path(name)
            os.symlink(os.path.join(BIN, "gdrkit"), link)
            self.assert_failed(run(link, "--quiet"), 1, pattern="[Ii]nvalid option")

    def test_a_missing_device_cannot_run(self):
        self.assertEqual(run("gdrkit", "copybw", "-d", "5").code, 77)
        self.assertEqual(run("gdrcopy_copybw", "-d", "5").code, 1)


class Info(Test):
    def test_text_lists_backends_copy_kernels_and_settings(self):
        ended = self.run_ok("gdrkit", "info")
        self.assertRegex(ended.lines[0], "^NOTE: .*emulated")
        self.assertRegex(ended.out, r"(?m)^gdrkit \d+\.\d+\.\d+, backend emulated$")
        self.assertRegex(ended.out, r"(?m)^  rm +(not )?usable")
        self.assertRegex(ended.out, r"(?m)^  emulated +usable, but only on request$")
        self.assertRegex(ended.out, r"chosen for copies to the device")
        lines = ended.lines[ended.lines.index("copy kernels, in order of preference") + 1:ended.lines.index("GPUs") - 1]
        self.assertEqual(len({re.search("usable|not on this CPU", line).start() for line in lines}), 1, lines)
        self.assertRegex(ended.out, r"(?m)^  GDRKIT_BACKEND=emulated$")

    def test_no_line_is_wider_than_110_columns(self):
        long = " ".join(["word"] * 40)
        for variables in ({"GDRKIT_BACKEND": "emulated", "GDRKIT_EMULATED_DEVICES": long}, {"GDRKIT_EMULATED_DEVICES": long}):
            ended = run("gdrkit", "info", environment=variables)
            self.assertIn("GDRKIT_EMULATED_DEVICES=word word", ended.out)
            for line in ended.lines:
                self.assertTrue(len(line) <= 110 or " " not in line.strip(), line)

    def test_reports_why_a_backend_is_unusable(self):
        document, _ = self.json_of("info")
        backends = {backend["name"]: backend for backend in document["backends"]}
        for backend in backends.values():
            self.assertEqual(backend["is_usable"], backend["reason"] == "")
            self.assertEqual(backend["is_usable"], backend["errno"] == 0)
        self.assertTrue(backends["emulated"]["is_usable"])
        self.assertFalse(backends["emulated"]["is_automatic"])
        self.assertEqual(document["backend"], "emulated")
        self.assertTrue(document["emulated"])
        self.assertEqual(document["settings"], {"GDRKIT_BACKEND": "emulated"})

    def test_selects_a_supported_copy_kernel_per_direction(self):
        document, _ = self.json_of("info")
        for field in ("is_chosen_to_device", "is_chosen_from_device"):
            chosen = [kernel for kernel in document["copy_kernels"] if kernel[field]]
            self.assertEqual(len(chosen), 1)
            self.assertTrue(chosen[0]["is_usable"])

    @unittest.skipIf(HAS_GPU, "there is a GPU")
    def test_exits_with_77_and_every_reason_if_nothing_is_usable(self):
        document, _ = self.json_of("info", code=77, environment={})
        self.assertEqual(document["backend"], "")
        self.assertFalse(document["ok"])
        self.assertIn("[rm] ", document["why_none"])
        self.assertTrue(document["missing"])
        ended = run("gdrkit", "info", environment={})
        self.assertEqual(ended.code, 77)
        self.assertIn("reason: ", ended.out)
        self.assertIn("set GDRKIT_BACKEND=emulated or pass --emulated", ended.out)

    def test_settings_of_symmetric_heaps_are_reported(self):
        heaps = {"GDRKIT_SHMEM_HEAP": "1.5G", "GDRKIT_SHMEM_HEAP_MAX": "2G", "NVSHMEM_SYMMETRIC_SIZE": "20m"}
        document, _ = self.json_of("info", environment={"GDRKIT_BACKEND": "emulated", **heaps})
        self.assertEqual(document["settings"], {"GDRKIT_BACKEND": "emulated", **heaps})


COPYBW_HEAD = BANNER + [
    r"testing size: 131072", r"rounded size: 131072", r"gpu alloc fn: cuMemAlloc", r"device ptr: [0-9a-f]+",
    r"map_d_ptr: 0x[0-9a-f]+", r"info\.va: [0-9a-f]+", r"info\.mapped_size: 131072", r"info\.page_size: 65536",
    r"info\.mapped: 1", r"info\.wc_mapping: [01]", r"page offset: 0", r"user-space pointer:0x[0-9a-f]+"]
TAIL = [r"unmapping buffer", r"unpinning buffer", r"closing gdrdrv"]


def copybw_test(size, offset=0, writes=20, reads=5):
    return [rf"writing test, size={size} offset={offset} num_iters={writes}", rf"write BW: {FLOAT}MB/s",
            rf"reading test, size={size} offset={offset} num_iters={reads}", rf"read BW: {FLOAT}MB/s"]


class Copybw(Test):
    def test_lines(self):
        ended = self.run_ok("gdrcopy_copybw", "-w", "20", "-r", "5")
        self.assert_lines(ended.lines, COPYBW_HEAD + copybw_test(131072) + TAIL)

    def test_sweep_stops_below_the_size(self):
        ended = run("gdrcopy_copybw", "-l", "-c", "100", "-w", "20", "-r", "5")
        tests = [line for size in (1, 2, 4, 8, 16, 32) for line in copybw_test(size)]
        self.assert_lines(ended.lines, COPYBW_HEAD + tests + TAIL)

    def test_offset_and_rounding_and_hexadecimal(self):
        ended = self.run_ok("gdrcopy_copybw", "-s", "0x3e8", "-c", "10", "-o", "12", "-w", "20", "-r", "5", "-a", "cuMemCreate")
        self.assertIn("testing size: 1000\nrounded size: 65536\ngpu alloc fn: cuMemCreate\n", ended.out)
        self.assert_lines(ended.lines[-7:], copybw_test(10, 12) + TAIL)

    def test_option_errors(self):
        for arguments, text in ((("-o", "2"), "ERROR: offset must be multiple of 4 bytes"),
                                (("-o", "4"), "ERROR: offset + copy size run past the end of the buffer"),
                                (("-c", "200000"), "ERROR: offset + copy size run past the end of the buffer"),
                                (("-M", "odd"),
                                 "ERROR: invalid mapping_type 'odd'. Valid options: default, wc, cache, device."),
                                (("-a", "odd"), "Unrecognized fn argument"),
                                (("-z",), "ERROR: invalid option")):
            self.assert_failed(run("gdrcopy_copybw", *arguments), 1, text + "\n")

    def test_help_is_on_stdout(self):
        ended = self.run_ok("gdrcopy_copybw", "-h")
        self.assertRegex(ended.out, r"^Usage: .*gdrcopy_copybw")

    def test_an_unavailable_mapping_type_fails_by_assertion(self):
        ended = run("gdrcopy_copybw", "-M", "cache")
        self.assert_failed(ended, 1, pattern=r'(?m)^gdr_map_v2: .*\(95\)$')
        self.assertIn("does not support this mapping type", ended.err)
        self.assertRegex(ended.err, r'(?m)^Assertion ".*" failed at \w+\.cpp:\d+$')

    def test_prints_the_gdrkit_table(self):
        ended = self.run_ok("gdrkit", "copybw", "--size", "1000", "--write-iterations", "5", "--read-iterations", "5")
        self.assertRegex(ended.lines[0], "^" + NOTE + "$")
        self.assertRegex(ended.lines[-1], rf"^ +1000 +{FLOAT} +{FLOAT}  yes$")

    def test_a_forced_copy_kernel_is_used(self):
        document, _ = self.json_of("copybw", "--copy-kernel", "scalar", "-s", "100", "-w", "5", "-r", "5")
        self.assertEqual((document["store_kernel"], document["load_kernel"]), ("scalar", "scalar"))


def table(name, iterations, sizes, tabs, warning=False):
    lines = [r"", rf"{name} num iters for each size: {iterations}"]
    if warning:
        lines.append(r"WARNING: Measuring the API invocation overhead as observed by the CPU\. .*"
                     r"GPU internal visibility\.")
    lines.append("Test " + "\t" * tabs + r" Size\(B\) \t Median Time\(us\) \t Min\. Time\(us\)")
    return lines + [rf"{name} \t {size:8d} \t +{FLOAT} \t +{FLOAT}" for size in sizes]


class Copylat(Test):
    SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    HEAD = BANNER + [r"device ptr: 0x[0-9a-f]+", r"allocated size: 65536", r"gpu alloc fn: cuMemAlloc"]
    MAPPING = [r"", r"map_d_ptr: 0x[0-9a-f]+", r"info\.va: [0-9a-f]+", r"info\.mapped_size: 65536",
               r"info\.page_size: 65536", r"info\.mapped: 1", r"info\.wc_mapping: [01]",
               r"page offset: 0", r"user-space pointer: 0x[0-9a-f]+",
               r"use cold cache: no"]

    def tables(self, writes, reads):
        return (table("gdr_copy_to_mapping", writes, self.SIZES, 3, warning=True) +
                table("gdr_copy_from_mapping", reads, self.SIZES, 3))

    def test_lines(self):
        ended = self.run_ok("gdrcopy_copylat", "-s", "256", "-w", "200", "-r", "30")
        self.assert_lines(ended.lines, self.HEAD + self.MAPPING + self.tables(200, 30) + TAIL)

    def test_lines_with_the_drivers_copies(self):
        ended = run("gdrcopy_copylat", "-c", "-s", "256", "-w", "100", "-r", "30")
        driver = table("cuMemcpy_H2D", 100, self.SIZES, 2) + table("cuMemcpy_D2H", 30, self.SIZES, 2)
        self.assert_lines(ended.lines, self.HEAD + driver + self.MAPPING + self.tables(100, 30) + TAIL)

    def test_rows_are_aligned_like_printf(self):
        ended = run("gdrcopy_copylat", "-s", "1", "-w", "100", "-r", "100")
        rows = [line for line in ended.lines if re.match(r"gdr_copy_(to|from)_mapping \t", line)]
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertRegex(row, r"^gdr_copy_(to|from)_mapping \t {8}1 \t [ 0-9]{6}\.[0-9]{4} \t [ 0-9]{6}\.[0-9]{4}$")

    def test_iterations_are_raised_with_a_warning(self):
        ended = run("gdrcopy_copylat", "-s", "1", "-w", "150", "-r", "30")
        self.assertEqual(ended.code, 0)
        self.assertRegex(ended.err, r"^WARNING: .*150.*200")
        self.assertIn("gdr_copy_to_mapping num iters for each size: 200\n", ended.out)

    def test_cold_cache_requires_a_cached_mapping(self):
        ended = run("gdrcopy_copylat", "-C", "-s", "64")
        self.assert_failed(ended, 1, "ERROR: -C affects only cached mappings; omit -C, or use -M cache\n")

    def test_option_errors(self):
        for arguments, text in ((("-M", "odd"), "ERROR: invalid mapping_type 'odd'."),
                                (("-a", "odd"), "Unrecognized fn argument"),
                                (("-z",), "ERROR: invalid option"), (("--raw",), "ERROR: invalid option")):
            self.assert_failed(run("gdrcopy_copylat", *arguments), 1, text)


class CopylatRaw(Test):
    def test_every_row_has_rounds_and_a_limit(self):
        document, _ = self.json_of("copylat", "--raw", "-s", "70000", "--rounds", "5", "--batch-us", "50")
        raw = document["raw"]
        sizes = [1 << shift for shift in range(17)]
        self.assertEqual([(row["direction"], row["size_bytes"]) for row in raw["rows"]],
                         [("to_device", size) for size in sizes] + [("from_device", size) for size in sizes])
        over = 0
        for row in raw["rows"]:
            for side in ("library", "raw"):
                rounds = sorted(row[f"{side}_rounds_ns"])
                self.assertEqual(len(rounds), 5)
                self.assertGreater(rounds[0], 0)
                self.assertAlmostEqual(row[f"{side}_median_ns"], rounds[2])
            self.assertAlmostEqual(row["ratio"], row["library_median_ns"] / row["raw_median_ns"])
            self.assertAlmostEqual(row["single_ratio"], row["library_single_median_ns"] / row["raw_single_median_ns"])
            self.assertAlmostEqual(row["difference_ns"], row["library_median_ns"] - row["raw_median_ns"])
            self.assertFalse(row["is_judged_by_singles"])
            self.assertAlmostEqual(row["limit_ns"], max(1.05 * row["raw_median_ns"], row["raw_median_ns"] + 10))
            self.assertEqual(row["is_within_limit"], row["library_median_ns"] <= row["limit_ns"])
            over += not row["is_within_limit"]
        self.assertEqual(raw["rows_over_limit"], over)
        self.assertEqual(document["ok"], over == 0)
        self.assertEqual(document["tables"], [])

    def test_raw_kind_accepts_gdrcopys_sequence(self):
        document, _ = self.json_of("copylat", "--raw", "--raw-kind", "gdrcopy", "-s", "64", "--rounds", "3", "--batch-us", "50")
        self.assertEqual(document["raw"]["kind"], "gdrcopy")
        self.assertEqual(len(document["raw"]["rows"]), 14)
        for row in document["raw"]["rows"]:
            self.assertEqual(row["is_judged_by_singles"], row["direction"] == "from_device")
            side = "single_median_ns" if row["is_judged_by_singles"] else "median_ns"
            self.assertAlmostEqual(row["limit_ns"], max(1.05 * row["raw_" + side], row["raw_" + side] + 10))
            self.assertEqual(row["is_within_limit"], row["library_" + side] <= row["limit_ns"])

    def test_text_has_a_verdict_a_row_and_a_summary(self):
        ended = self.run_ok("gdrkit", "copylat", "--raw", "-s", "16", "--rounds", "3", "--batch-us", "50")
        rows = [line for line in ended.lines if re.match(r"(to|from)_device +\d", line)]
        self.assertEqual(len(rows), 10)
        for row in rows:
            self.assertRegex(row, rf"^\w+ +\d+ +{FLOAT} +{FLOAT} +{FLOAT} +{FLOAT} +-?{FLOAT} +(?:{FLOAT} +)?(ok|OVER THE LIMIT)$")
        self.assertRegex(ended.out, r"(?m)^\d+ of 10 sizes within the limit \(emulated device: .*\)$")

    def test_pin_cost(self):
        document, _ = self.json_of("copylat", "--pin-cost", "--pin-size", "100000", "--pin-repeats", "10")
        self.assertEqual([cost["content"] for cost in document["pin_cost"]], ["varied", "zeros"])
        for cost in document["pin_cost"]:
            self.assertEqual((cost["size_bytes"], cost["repeats"]), (131072, 10))
            for call in ("pin", "map", "pin_and_map", "unmap", "unpin"):
                figures = cost[call]
                self.assertLessEqual(figures["minimum_us"], figures["median_us"])
                self.assertLessEqual(figures["median_us"], figures["p99_us"])
        self.assertEqual(document["tables"], [])
        self.assertNotIn("raw", document)


class Sanity(Test):
    def test_all_pass_or_are_waived_with_a_reason(self):
        document, ended = self.json_of("sanity", "-e")
        bad = [test for test in document["tests"] if test["result"] == "failed"]
        self.assertEqual(bad, [], ended.err)
        self.assertTrue(document["ok"])
        self.assertEqual(document["total"], len(document["tests"]))
        self.assertEqual(document["total"], document["passed"] + document["waived"])
        waived = {test["name"]: test["reason"] for test in document["tests"] if test["result"] == "waived"}
        for name, reason in waived.items():
            self.assertTrue(reason, name)
        original = {"basic_v2_forcepci_cumemalloc", "basic_v2_forcepci_vmmalloc", "basic_with_tokens",
                    "data_validation_mix_mappings_cumemalloc", "data_validation_v2_forcepci_cumemalloc"}
        by_machine = {name for name in waived if name.startswith(("copy_kernel_", "polling_freshness_"))}
        self.assertEqual(set(waived) - by_machine, original | {"mapping_goes_to_the_gpu_that_owns_it"})
        self.assertEqual(sum(test["list"] == "original" for test in document["tests"]), 36)
        self.assertEqual(document["tests"][-1]["name"], "leakage_pin_pages_fork_cumemalloc")


class FileSizeLimit(Test):
    def test_device_memory_error_reports_the_limit(self):
        ended = run_with_file_limit(1 << 16, "copylat", "-s", "1M")
        self.assert_failed(ended, 1, "the file size limit of this process is 65536 bytes; raise the limit (ulimit -f unlimited)")

    def test_output_beyond_the_file_size_limit_is_an_error(self):
        with tempfile.TemporaryFile() as file:
            ended = run_with_file_limit(100, "completion", "bash", stdout=file)
        self.assert_failed(ended, 1, "cannot write the output")


class SanityRunner(Test):
    def test_summary(self):
        ended = self.run_ok("gdrcopy_sanity", "-t", "basic_cumemalloc", "-t", "basic_v2_forcepci_vmmalloc")
        self.assert_lines(ended.lines, [NOTE, r"Total: 2, Passed: 1, Failed: 0, Waived: 1", r"",
                                        r"List of waived tests:", r"    basic_v2_forcepci_vmmalloc"])

    def test_verbose_markers_are_on_stderr(self):
        ended = run("gdrcopy_sanity", "-v", "-t", "basic_cumemalloc", "-t", "basic_v2_forcepci_vmmalloc")
        self.assert_lines(ended.err.splitlines(),
                          [r"&&&& RUNNING basic_cumemalloc", r"&&&& PASSED basic_cumemalloc",
                           r"&&&& RUNNING basic_v2_forcepci_vmmalloc", r"&&&& WAIVED basic_v2_forcepci_vmmalloc",
                           r"     FORCE_PCIE unsupported.*"])

    def test_no_summary(self):
        ended = self.run_ok("gdrcopy_sanity", "-s", "-t", "basic_cumemalloc")
        self.assert_lines(ended.lines, [NOTE])

    def test_list(self):
        ended = self.run_ok("gdrcopy_sanity", "-l")
        self.assertEqual(ended.lines[0], "List of all available tests:")
        blank = ended.lines.index("")
        self.assertEqual(ended.lines[1].strip(), "attributes_sanity")
        self.assertGreater(blank, 1 + 36)
        self.assertEqual([line.strip() for line in ended.lines[blank + 1:]],
                         ["List of all available extended tests:", "leakage_pin_pages_fork_cumemalloc"])

    def test_invalid_option(self):
        self.assert_failed(run("gdrcopy_sanity", "-z"), 1, "Invalid option\n")

    def test_unknown_test_exits_with_22(self):
        self.assert_failed(run("gdrcopy_sanity", "-t", "nothing"), 1, "Error: Encountered an error or a test failure with status=22\n")

    def test_a_wrong_byte_in_the_memory_is_reported(self):
        ended = run(FAULTY + "gdrcopy_sanity", "-t", "passes", "-t", "fails")
        self.assertEqual(ended.code, 1)
        self.assert_lines(ended.lines, [NOTE, r"Total: 2, Passed: 1, Failed: 1, Waived: 0", r"",
                                        r"List of failed tests:", r"    fails"])
        self.assertRegex(ended.err, r'(?m)^Assertion ".*" failed at faulty_tests\.cpp:\d+: the injected wrong byte was found$')
        self.assertIn("Error: Encountered an error or a test failure with status=1\n", ended.err)

    def test_reports_crashes_and_hangs_with_a_reason(self):
        document, _ = self.json_of("sanity", "-t", "crashes", "-t", "hangs", "-t", "is_waived", "--time-limit", "1", code=1,
                                   program=FAULTY + "gdrkit")
        reasons = {test["name"]: (test["result"], test["reason"]) for test in document["tests"]}
        self.assertEqual(reasons["is_waived"], ("waived", "it always is"))
        self.assertEqual(reasons["crashes"][0], "failed")
        self.assertNotEqual(reasons["crashes"][1], "")
        self.assertEqual(reasons["hangs"], ("failed", "timed out after 1 s and was terminated"))
        self.assertFalse(document["ok"])

    def test_prints_every_verdict_with_its_reason(self):
        ended = self.run_ok(FAULTY + "gdrkit", "sanity", "-t", "passes", "-t", "is_waived")
        self.assertRegex(ended.out, r"(?m)^PASSED passes +[0-9.]+ s$")
        self.assertRegex(ended.out, r"(?m)^WAIVED is_waived +[0-9.]+ s  it always is$")


class Json(Test):
    RUNS = {"info": (), "sanity": ("-t", "basic_cumemalloc"), "copybw": ("-s", "4096", "-w", "5", "-r", "5"),
            "copylat": ("-s", "64", "-w", "5", "-r", "5", "-c")}

    def check(self, tool, document, ended):
        self.assertEqual(document["schema_version"], 2)
        self.assertEqual(document["tool"], tool)
        self.assertIs(document["emulated"], True)
        self.assertEqual(document["backend"], "emulated")
        self.assertIs(document["ok"], True)
        self.assertRegex(document["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(set(document["machine"]),
                         {"cpu_model", "cpu_count", "os_release", "gpu_name", "gpu_pci_address", "driver_version"})
        self.assertEqual(document["machine"]["os_release"], os.uname().release)
        name = socket.gethostname()
        if len(name) > 4:
            self.assertNotIn(name, ended.out)

    def test_all_tools_write_json_in_both_fronts(self):
        for tool, arguments in self.RUNS.items():
            document, ended = self.json_of(tool, *arguments)
            self.check(tool, document, ended)
            if tool != "info":
                self.assertRegex(ended.err, "^" + NOTE)
                document, ended = self.json_of(*arguments, program="gdrcopy_" + tool)
                self.check(tool, document, ended)

    def test_contains_the_measurements(self):
        document, _ = self.json_of("copybw", *self.RUNS["copybw"])
        self.assertEqual([result["size_bytes"] for result in document["results"]], [4096])
        self.assertTrue(all(result["is_verified"] and result["write_mib_per_s"] > 0 for result in document["results"]))
        document, _ = self.json_of("copylat", *self.RUNS["copylat"])
        self.assertEqual([(table["copies_by"], table["direction"]) for table in document["tables"]],
                         [(by, direction) for by in ("driver", "mapping")
                          for direction in ("to_device", "from_device")])
        for found in document["tables"]:
            self.assertEqual([row["size_bytes"] for row in found["rows"]], [1, 2, 4, 8, 16, 32, 64])
            self.assertTrue(all(0 < row["minimum_us"] <= row["median_us"] for row in found["rows"]))


class DeviceChoice(Test):
    @unittest.skipIf(HAS_GPU, "there is a GPU")
    def test_forced_backend_has_no_fallback(self):
        for arguments in (("copybw",), ("copylat", "--pin-cost"), ("sanity", "-t", "basic_cumemalloc")):
            self.assert_rejected(arguments, ((("--backend", "rm"), "'rm'"),), environment={}, code=77)
        for name in ("gdrcopy_copybw", "gdrcopy_copylat", "gdrcopy_sanity"):
            self.assertEqual(run(name, environment={"GDRKIT_BACKEND": "rm"}).code, 1)


if __name__ == "__main__":
    unittest.main()
