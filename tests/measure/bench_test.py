#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Runs `gdrkit bench` on the emulated device: its measurements, outputs, omissions and errors."""
import csv
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import unittest

from program import BIN, NOTE, Test, run, run_without_space, variables_with

TINY = ("bench", "--quick", "--sizes", "8,4096", "--rounds", "3")
POINT = {"x": (int, float), "value": (int, float), "noise": (int, float), "minimum": (int, float),
         "operations_per_round": int, "rounds": list}
SERIES = ("id", "group", "title", "operation", "direction", "method", "x_name", "y_name", "unit", "better", "control")
LISTED = pathlib.Path(__file__).resolve().parents[2] / "measure/bench/measure/methods.def"
METHODS = re.findall(r"^GDRKIT_COPY_METHOD\((\w+)\)", LISTED.read_text(encoding="ascii"), re.M)
SLOW_COPIES = os.path.join(os.path.dirname(BIN), "tests", "bin", "libslow_copies.so")
TWO = {"GDRKIT_BACKEND": "emulated", "GDRKIT_EMULATED_DEVICES": "2"}
STEPS = {"open", "first_pin", "pin", "map", "pin_and_map", "unmap", "unpin", "close", "mmap_munmap"}


class Bench(Test):
    def check_schema(self, document):
        self.assertEqual((document["schema_version"], document["tool"], document["emulated"]), (2, "bench", True))
        for field in ("version", "date", "backend", "machine", "place", "clock", "machine_noise", "settings"):
            self.assertIn(field, document)
        ids = [series["id"] for series in document["series"]]
        self.assertEqual(len(ids), len(set(ids)))
        for series in document["series"]:
            for field in SERIES:
                self.assertIsInstance(series[field], str, series["id"])
            self.assertIn(series["control"], ids + [""])
            self.assertTrue(series["points"], series["id"])
            for point in series["points"]:
                for field, kind in POINT.items():
                    self.assertIsInstance(point[field], kind, series["id"])
                self.assertGreaterEqual(len(point["rounds"]), 3, series["id"])
                self.assertLessEqual(point["minimum"], point["value"], series["id"])
                self.assertGreater(point["minimum"], 0, series["id"])

    def test_json_contains_every_copy_method_and_cost(self):
        document, ended = self.json_of(*TINY, "--only", "copies,costs")
        self.check_schema(document)
        self.assertTrue(document["ok"])
        ids = {series["id"] for series in document["series"]}
        for direction in ("to_device", "from_device"):
            self.assertLessEqual({f"copies/{direction}/{method}" for method in METHODS}, ids)
        self.assertLessEqual({f"costs/{step}" for step in STEPS}, ids)
        for series in document["series"]:
            if series["group"].startswith("copies/"):
                self.assertEqual([point["x"] for point in series["points"]], [8, 4096], series["id"])
        self.assertRegex(ended.err, "^" + NOTE)

    def test_measures_threads_a_busy_gpu_and_two_gpus(self):
        document, _ = self.json_of(*TINY, "--only", "threads,busy_gpu,busy_bus,gpus", environment=TWO)
        self.check_schema(document)
        self.assertTrue(document["ok"], document.get("notes"))
        series = {one["id"]: one for one in document["series"]}
        cpus = document["machine"]["cpu_count"]
        for direction in ("to_device", "from_device"):
            for size in (8, 4096):
                threads = series[f"threads/{direction}/{size}/mapping"]
                self.assertEqual((threads["unit"], threads["better"]), ("GB/s", "higher"))
                self.assertEqual(threads["points"][0]["x"], 1)
                self.assertEqual(threads["points"][-1]["x"], min(cpus, 64))
            for section, condition in (("busy_gpu", {"gpu": "busy"}), ("busy_bus", {"bus": "busy"})):
                for method in ("mapping", "raw", "memcpy_async_pinned"):
                    self.assertEqual(series[f"{section}/{direction}/{method}"]["conditions"], condition)
            for which in ("first", "second", "both"):
                mapping, raw = (series[f"gpus/{direction}/{which}/{method}"] for method in ("mapping", "raw"))
                self.assertEqual([point["x"] for point in mapping["points"]], [8, 4096])
                self.assertEqual([point["x"] for point in raw["points"]], [8, 4096])
                self.assertEqual(mapping["control"], raw["id"])
        self.assertTrue(any("host thread emulates" in note for note in document["notes"]))

    def test_reports_a_single_gpu_without_failing(self):
        document, _ = self.json_of(*TINY, "--only", "gpus,costs")
        self.assertTrue(any("fewer than two GPUs" in note for note in document["notes"]), document["notes"])
        ended = run("gdrkit", *TINY, "--only", "gpus")
        self.assertEqual(ended.code, 77)
        self.assertIn("fewer than two GPUs", ended.err)

    def test_table_describes_the_results_in_the_files(self):
        json_path, csv_path = self.file("out.json"), self.file("out.csv")
        ended = run("gdrkit", *TINY, "--only", "copies,costs,gpus", "--json", json_path, "--csv", csv_path)
        self.assertEqual(ended.code, 0, ended.err)
        self.assertRegex(ended.out, "^" + NOTE + r"\s+The\s+values are those of ordinary memory ")
        self.assertRegex(ended.out, r"(?m)^copies to device, .*emulated: .*without a GPU")
        self.assertRegex(ended.out, r"(?m)^ +4 KiB( +[0-9.]+){6}$")
        self.assertNotIn("by the driver", ended.out.split("note: ")[0], "no driver took part")
        document = json.loads(json_path.read_text(encoding="utf-8"))
        self.check_schema(document)
        rows = list(csv.DictReader(csv_path.read_text(encoding="utf-8").splitlines()))
        points = [(series["id"], point["x"], point["value"]) for series in document["series"]
                  for point in series["points"]]
        self.assertEqual(len(rows), len(points))
        for row, (name, x, value) in zip(rows, points):
            self.assertEqual((row["series"], float(row["x"])), (name, x))
            self.assertAlmostEqual(float(row["value"]) / value, 1, places=6)
        self.assertEqual(sorted(os.listdir(self.directory)), ["out.csv", "out.json"])

    def test_prints_progress_on_stderr_unless_quiet(self):
        self.assertIn("copies: ", run("gdrkit", *TINY, "--only", "copies").err)
        ended = run("gdrkit", *TINY, "--quiet", "--only", "costs")
        self.assertEqual(ended.err, "")

    def test_help_shows_examples_and_real_defaults_only(self):
        ended = run("gdrkit", "bench", "--help")
        self.assertEqual(ended.code, 0)
        self.assertIn("--compare old.json", ended.out)
        for wrong in ("=0", "{", "[]", "--part", "--trial-of", "--cpu"):
            self.assertNotIn(wrong, ended.out.replace("[FILE]", "").replace("--device GPU=0", ""))

    def test_wrong_usage_exits_with_2_before_measuring(self):
        self.assert_rejected(["bench"], (
            (("--rounds", "1"), "rounds"), (("extra",), "extra"),
            (("--json", "/no/such/directory/out.json"), "/no/such/directory/out.json"), (("--csv", "/"), "directory"),
            (("--csv", ""), "--csv"), (("--json", ""), "--json"), (("--compare", ""), "--compare")))

    def test_omits_sizes_without_enough_memory(self):
        limit = 2 << 30
        ended = run("gdrkit", "bench", "--sizes", "4096,1G", "--rounds", "3", "--only", "copies", "--json",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual(ended.code, 0, ended.err)
        document = json.loads(ended.out)
        self.check_schema(document)
        left_out = [note for note in document["notes"] if note.startswith("left out: copies ")]
        self.assertEqual(len(left_out), 2, document["notes"])
        self.assertTrue(all("1 GiB: " in note for note in left_out), left_out)
        for series in document["series"]:
            self.assertEqual([point["x"] for point in series["points"]], [4096], series["id"])

    def test_unwritable_output_is_an_error(self):
        for arguments in ((), ("--json",)):
            ended = run_without_space("gdrkit", *TINY, "--only", "costs", *arguments)
            self.assertEqual(ended.code, 1, arguments)
            self.assertRegex(ended.err, "cannot write|written")
        ended = run("gdrkit", *TINY, "--only", "costs", "--json", "/dev/full")
        self.assertEqual(ended.code, 1)
        self.assertIn("/dev/full", ended.err)

    def test_interrupted_run_keeps_the_old_file(self):
        path = self.file("out.json")
        path.write_text("old", encoding="utf-8")
        with subprocess.Popen([os.path.join(BIN, "gdrkit"), "bench", "--json", path], env=variables_with(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            process.stderr.readline()  # it has begun to measure
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(path.read_text(encoding="utf-8"), "old")
        self.assertEqual(os.listdir(self.directory), ["out.json"])

    def test_sizes_other_than_powers_of_two_have_no_raw_loop(self):
        document, _ = self.json_of("bench", "--quick", "--sizes", "1000", "--rounds", "3", "--only", "copies")
        self.assertNotIn("raw", {series["method"] for series in document["series"]})
        self.assertTrue(any("powers of two" in note for note in document["notes"]), document["notes"])


class BenchCompare(Test):
    ONLY = (*TINY, "--only", "copies")
    recorded = {}

    def record(self, *arguments):
        """A result of these arguments, measured once for all tests, in old.json."""
        arguments = arguments or self.ONLY
        if arguments not in self.recorded:
            ended = run("gdrkit", *arguments, "--json", self.file("old.json"))
            self.assertEqual(ended.code, 0, ended.err)
            self.recorded[arguments] = self.file("old.json").read_text(encoding="utf-8")
        document = json.loads(self.recorded[arguments])
        self.write(document, "old.json")
        return document

    def write(self, document, name="new.json"):
        self.file(name).write_text(json.dumps(document), encoding="utf-8")

    @staticmethod
    def points(document):
        return [point for series in document["series"] for point in series["points"]]

    def compare_files(self, *arguments):
        return run("gdrkit", "bench", "--compare", self.file("old.json"), "--with", self.file("new.json"), *arguments)

    def steady(self):
        """A recorded document whose figures leave no doubt."""
        document = self.record()
        document["machine_noise"]["lost_share"] = 0
        for point in self.points(document):
            point["rounds"] = [1000 + point["x"] + number % 2 for number in range(21)]
            point["value"] = point["rounds"][0]
        self.write(document, "old.json")
        return document

    def slow_down(self, document, name, x, factor):
        for series in document["series"]:
            for point in series["points"]:
                if (series["id"], point["x"]) == (name, x):
                    point["rounds"] = [value * factor for value in point["rounds"]]
                    point["value"] *= factor

    def test_identical_files_are_not_a_regression(self):
        self.write(self.steady())
        ended = self.compare_files()
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn("4 points", ended.out)
        self.assertIn("nothing is slower beyond the noise", ended.out)

    def test_exits_with_1_and_reports_the_slower_size(self):
        document = self.steady()
        self.slow_down(document, "copies/from_device/mapping", 4096, 1.1)
        self.write(document)
        ended = self.compare_files()
        self.assertEqual(ended.code, 1, ended.out)
        self.assertRegex(ended.out, r"(?m)^SLOWER +copies/from_device/mapping at 4096 .*\+10\.0 %")
        self.assertIn("1 of 4 points are slower", ended.out)

    def test_unmeasured_rounds_prevent_a_verdict(self):
        for rounds, why in (([0] * 21, "21 of 21 rounds not above 0"), ([], "no rounds"),
                            ([-1008] * 21, "21 of 21 rounds not above 0")):
            document = self.steady()
            point = next(series for series in document["series"]
                         if series["id"] == "copies/to_device/mapping")["points"][0]
            point["rounds"] = rounds
            self.write(document)
            ended = self.compare_files()
            self.assertEqual(ended.code, 2, ended.out)
            self.assertIn(f"1 point cannot be judged: copies/to_device/mapping at 8 ({why} in the new result)", ended.out)
            self.assertRegex(ended.out, r"NO VERDICT: .*\n  copies to the device up to 4 KiB: 1 of 2 cannot be judged")
            self.assertNotIn("nothing is slower beyond the noise", ended.out)
            self.slow_down(document, "copies/from_device/mapping", 4096, 1.5)
            self.write(document)
            self.assertEqual(self.compare_files().code, 1, "a known regression takes precedence over unknown points")
            for each in self.points(document):
                each["rounds"] = rounds
            self.write(document)
            self.assertEqual(self.compare_files().code, 2)

    def test_detects_a_tenfold_slowdown_on_a_busy_machine(self):
        document = self.steady()
        document["machine_noise"]["lost_share"] = 0.8
        for point in self.points(document):
            point["rounds"] = [10 + 4 * (number % 5) for number in range(21)]
            point["value"] = 18
        self.write(document, "old.json")
        self.slow_down(document, "copies/to_device/mapping", 8, 10)
        self.write(document)
        ended = self.compare_files()
        self.assertEqual(ended.code, 1, ended.out)
        self.assertRegex(ended.out, "(?m)^SLOWER +copies/to_device/mapping at 8 ")

    def test_reports_a_slower_baseline_without_a_regression(self):
        document = self.steady()
        self.slow_down(document, "copies/to_device/memcpy_pinned", 8, 3)
        self.write(document)
        ended = self.compare_files()
        self.assertEqual(ended.code, 0, ended.out)
        self.assertRegex(ended.out, "baselines that changed .*copies/to_device/memcpy_pinned at 8")

    def test_lists_missing_points_unless_excluded(self):
        document = self.steady()
        for series in document["series"]:
            series["points"] = series["points"][:1]
        self.write(document)
        self.assertRegex(self.compare_files().out, "only in the old result: .*copies/to_device/mapping at 4096")
        self.assertNotIn("only in the old", self.compare_files("--sizes", "8").out)
        ended = run("gdrkit", *self.ONLY[:2], "--sizes", "4096", "--rounds", "3", "--only", "copies", "--compare",
                    self.file("old.json"))
        self.assertNotIn("only in the old", ended.out)

    def test_exits_with_2_without_common_points(self):
        self.record()
        ended = run("gdrkit", *TINY[:2], "--sizes", "64", "--rounds", "3", "--only", "copies", "--compare", self.file("old.json"))
        self.assertEqual(ended.code, 2, ended.out)
        self.assertIn("it has no values for the requested sections and sizes", ended.err)
        self.assertNotIn("copies:", ended.err, "detected before anything is measured")

    def test_escapes_terminal_commands_in_results(self):
        document = self.steady()
        document["settings"]["effort"] = "\x1b]0;title\x07\u009b2J\x1b[31m"
        document["machine"]["driver_version"] = "\x1b[2J"
        self.write(document)
        for ended in (self.compare_files(), self.compare_files("--force"),
                      run("gdrkit", *self.ONLY, "--compare", self.file("\x1b[2J.json"))):
            self.assertNotRegex(ended.out + ended.err, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")
            self.assertIn("?[2J" if ended.code == 2 else "?2J", ended.out + ended.err)

    def test_rejects_another_machine_unless_forced(self):
        document = self.record()
        document["machine"]["gpu_name"] = "another GPU"
        self.write(document, "old.json")
        ended = run("gdrkit", *self.ONLY, "--compare", self.file("old.json"))
        self.assertEqual(ended.code, 2)
        self.assertRegex(ended.err, "another GPU.*--force")
        self.assertNotIn("copies:", ended.err)
        ended = run("gdrkit", *self.ONLY, "--compare", self.file("old.json"), "--force")
        self.assertIn(ended.code, (0, 1, 2), ended.err)
        self.assertIn("4 points", ended.out)

    def test_other_files_exit_with_2_and_a_description(self):
        document = self.record()
        for content, text in ((json.dumps(document)[:5000], "not a JSON document"), ("", "empty"), ("[]", "should be an object"),
                              (json.dumps({**document, "schema_version": 1}), "schema_version 1"),
                              (json.dumps({**document, "tool": "pplat"}), "result of 'gdrkit pplat'"),
                              (json.dumps({**document, "series": [{"id": 5}]}), "series"), (None, "cannot open")):
            self.file("damaged.json").unlink(missing_ok=True)
            if content is not None:
                self.file("damaged.json").write_text(content, encoding="utf-8")
            ended = run("gdrkit", *self.ONLY, "--compare", self.file("damaged.json"))
            self.assertEqual(ended.code, 2, (text, ended.err))
            self.assertIn(text, ended.err)
            self.assertIn("damaged.json", ended.err)
            self.assertNotIn("--force", ended.err)
            self.assertNotIn("copies:", ended.err)

    def test_json_is_valid_with_a_comparison(self):
        self.record()
        ended = run("gdrkit", *self.ONLY, "--json", "--compare", self.file("old.json"))
        self.assertIn(ended.code, (0, 1, 2))
        self.assertEqual(json.loads(ended.out)["tool"], "bench")
        self.assertIn("compared with", ended.err)

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "one CPU leaves no choice")
    def test_it_measures_on_the_cpu_of_the_old_result(self):
        document = self.record()
        self.assertEqual(document["settings"]["processes"], "3")
        for cpu in sorted(os.sched_getaffinity(0))[:2]:
            document["place"]["cpu"] = cpu
            self.write(document, "old.json")
            ended = run("gdrkit", *self.ONLY, "--json", self.file("new.json"), "--compare", self.file("old.json"))
            self.assertIn(ended.code, (0, 1, 2), ended.err)
            self.assertEqual(json.loads(self.file("new.json").read_text(encoding="utf-8"))["place"]["cpu"], cpu)
        document["place"]["cpu"] = 8000
        self.write(document, "old.json")
        ended = run("gdrkit", *self.ONLY, "--compare", self.file("old.json"))
        self.assertIn("cannot use CPU 8000, on which the old result was measured", " ".join(ended.out.split()))

    def test_processes_divide_the_rounds_on_one_cpu(self):
        part, ended = self.json_of(*self.ONLY, "--quiet", "--part", "1/3", "--cpu", str(min(os.sched_getaffinity(0))))
        self.assertEqual(ended.err, "", "the note on the emulated device is the whole run's")
        self.assertEqual(part["place"]["cpu"], min(os.sched_getaffinity(0)))
        for series in part["series"]:
            self.assertEqual([len(point["rounds"]) for point in series["points"]], [1, 1])
        trial, _ = self.json_of(*self.ONLY, "--trial-of", "copies to_device 4 KiB")
        for series in trial["series"]:
            self.assertIn("/to_device/", series["id"])
            self.assertEqual([(point["x"], len(point["rounds"])) for point in series["points"]], [(4096, 6)])
        for wrong in ("3/3", "-1/3", "1", "x/y"):
            self.assertEqual(run("gdrkit", *self.ONLY, "--part", wrong).code, 2)

    def test_detects_a_slowdown(self):
        """A slowdown that is too large for any machine's noise; scripts/prove_compare.sh measures small ones."""
        arguments = ("bench", "--quick", "--sizes", "4096,65536", "--only", "copies")
        self.record(*arguments)
        slow = {"GDRKIT_BACKEND": "emulated", "LD_PRELOAD": SLOW_COPIES, "SLOW_COPIES": "65536:200:to_device"}
        ended = run("gdrkit", *arguments, "--compare", self.file("old.json"), environment=slow)
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertRegex(ended.out, "(?m)^SLOWER +copies/to_device/mapping at 65536 ")


if __name__ == "__main__":
    unittest.main()
