#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""tune on the emulated device, which has only the engine cpu."""
import json
import os
import tempfile
import unittest

from program import Test, run

KINDS = [(direction, memory) for direction in ("from_device", "to_device") for memory in ("pinned", "ordinary")]
PROFILE = "gdrkit engines 1\n" + "".join(f"{direction} {memory} 0 cpu cpu\n" for direction, memory in KINDS)


class Tune(Test):
    def test_measures_what_can_run_and_writes_the_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile")
            ended = run("gdrkit", "tune", "--output", path, "--json")
            self.assertEqual(ended.code, 0, ended.err)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), PROFILE)
            document = json.loads(ended.out)
            self.assertEqual((document["tool"], document["profile"], document["profile_path"]), ("tune", PROFILE, path))
            self.assertEqual(sorted(series["id"] for series in document["series"]),
                             sorted(f"engines/{direction}/{memory}/{pace}/cpu"
                                    for direction, memory in KINDS for pace in ("warm", "cold")))
            for series in document["series"]:
                self.assertTrue(all(point["value"] > 0 for point in series["points"]))
                self.assertGreaterEqual(len(series["points"]), 10)
            for engine in ("lanes", "copy_engine", "mover"):
                self.assertTrue(any(note.startswith(engine + " cannot run here: ") for note in document["notes"]))

    def test_text_has_a_row_for_each_size(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = run("gdrkit", "tune", "-o", os.path.join(folder, "profile"))
            self.assertEqual(ended.code, 0, ended.err)
            self.assertEqual(len([line for line in ended.lines if line.strip().startswith("65536 ")]), len(KINDS))
            self.assertIn("profile of", ended.lines[-1])

    def test_without_a_gpu_the_library_has_no_place_for_it(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = run("gdrkit", "tune", environment={"GDRKIT_BACKEND": "emulated", "XDG_CACHE_HOME": folder})
            self.assertEqual(ended.code, 77)
            self.assertIn("--output", ended.err)
            self.assertEqual(os.listdir(folder), [])

    def test_a_profile_that_cannot_be_written_is_said_before_anything_is_measured(self):
        ended = run("gdrkit", "tune", "-o", "/nonexistent/profile")
        self.assertEqual((ended.code, ended.out), (2, ""))


if __name__ == "__main__":
    unittest.main()
