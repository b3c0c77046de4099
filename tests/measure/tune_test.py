#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""tune on the emulated device, which has only the engine cpu; the others are emulated."""
import json
import os
import unittest

from program import BIN, Test, run

KINDS = [(direction, memory) for direction in ("from_device", "to_device") for memory in ("pinned", "ordinary")]
PROFILE = "gdrkit engines 1\n" + "".join(f"{direction} {memory} 0 cpu cpu\n" for direction, memory in KINDS)
PLAYED = os.path.join(os.path.dirname(BIN), "tests", "bin", "libplayed_engines.so")


def run_played(path, failure):
    variables = {"GDRKIT_BACKEND": "emulated", "LD_PRELOAD": PLAYED, "PLAYED_FAILURE": failure}
    return run("gdrkit", "tune", "-o", path, "--json", environment=variables)


class Tune(Test):
    def test_omits_an_engine_that_fails_later(self):
        path = self.file("profile")
        ended = run_played(path, "mover 1000")
        self.assertEqual(ended.code, 0, ended.err)
        document = json.loads(ended.out)
        self.assertRegex("\n".join(document["notes"]),
                         r"^copy engine 'mover' failed to copy \d+ bytes and is left out: .+$")
        self.assertEqual({series["id"].split("/")[-1] for series in document["series"]},
                         {"cpu", "lanes", "copy_engine"})
        for series in document["series"]:
            self.assertGreaterEqual(len(series["points"]), 10)
        self.assertNotIn("mover", path.read_text(encoding="utf-8"))

    def test_writes_no_profile_if_cpu_copies_fail(self):
        for failure, message in (("cpu 1000", r"copy engine 'cpu' failed to copy \d+ bytes: .*Input/output error"),
                              ("map_cpu 1", ".*Input/output error"), ("pin 1", ".*Cannot allocate memory"),
                              ("pin 3", ".*Cannot allocate memory")):
            with self.subTest(failure):
                ended = run_played(self.file("profile"), failure)
                self.assertEqual((ended.code, ended.out), (1, ""))
                self.assertRegex(ended.err, "\n" + message + "\n$")
                self.assertFalse(self.file("profile").exists())

    def test_measures_available_engines_and_writes_the_profile(self):
        path = self.file("profile")
        document, _ = self.json_of("tune", "--output", path)
        self.assertEqual(path.read_text(encoding="utf-8"), PROFILE)
        self.assertEqual((document["tool"], document["profile"], document["profile_path"]), ("tune", PROFILE, str(path)))
        self.assertEqual(sorted(series["id"] for series in document["series"]),
                         sorted(f"engines/{direction}/{memory}/{pace}/cpu"
                                for direction, memory in KINDS for pace in ("warm", "cold")))
        for series in document["series"]:
            self.assertTrue(all(point["value"] > 0 for point in series["points"]))
            self.assertGreaterEqual(len(series["points"]), 10)
        for engine in ("lanes", "copy_engine", "mover"):
            self.assertTrue(any(note.startswith(f"copy engine '{engine}' cannot run here: ") for note in document["notes"]))

    def test_text_has_a_row_for_each_size(self):
        ended = run("gdrkit", "tune", "-o", self.file("profile"))
        self.assertEqual(ended.code, 0, ended.err)
        self.assertEqual(len([line for line in ended.lines if line.strip().startswith("65536 ")]), len(KINDS))
        self.assertIn("profile of", ended.lines[-1])

    def test_requires_an_output_option_without_a_gpu(self):
        ended = run("gdrkit", "tune", environment={"GDRKIT_BACKEND": "emulated", "XDG_CACHE_HOME": self.directory})
        self.assertEqual(ended.code, 77)
        self.assertIn("--output", ended.err)
        self.assertEqual(os.listdir(self.directory), [])

    def test_an_unwritable_profile_is_reported_before_measuring(self):
        self.assert_wrong_usage(["tune"], [("-o", "/nonexistent/profile")])


if __name__ == "__main__":
    unittest.main()
