#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit doctor --watch on a directory whose files are changed between two polls."""
import json
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import unittest

from doctor_runs import Lent, Written, m, run_on
from program import BIN, Test, run

PORT = "/sys/class/infiniband/mlx5_0/ports/1/"
COUNTERS = {PORT + "counters/symbol_error": "7\n", PORT + "counters/port_xmit_data": "1000\n", PORT + "hw_counters/out_of_buffer": "1\n",
            m.NIC + "/aer_dev_correctable": "RxErr 0\nTOTAL_ERR_COR 0\n"}


class Watched:
    """The doctor watching `tree`; change() writes files, and next_poll() returns the first poll that reports something."""

    def __init__(self, tree, *arguments, is_json=True):
        self.written = Written(tree)
        self.directory = self.written.name
        self.process = subprocess.Popen(
            [os.path.join(BIN, "gdrkit"), "doctor", "--root", self.directory, "--watch", "0.05", *(["--json"] if is_json else []), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.start = self.line() if is_json else self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self.written.cleanup()

    def line(self):
        return json.loads(self.process.stdout.readline())

    def change(self, changes):
        for path, text in changes.items():
            if text is None:
                os.rename(self.directory + path, self.directory + "/gone")  # atomically, like a device that disappears
                shutil.rmtree(self.directory + "/gone")
                continue
            # A poll sees the old or the new content, never a mixture.
            with open(self.directory + path + ".new", "w", encoding="ascii") as file:
                file.write(text)
            os.rename(self.directory + path + ".new", self.directory + path)

    def next_poll(self):
        while True:
            line = self.line()
            if line["event"] != "look" or any(line[what] for what in ("grown", "reset", "vanished", "links")):
                return line

    def end(self, number=signal.SIGINT):
        """The last line, and the exit code."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        assert not err, err
        return out.splitlines()[-1], self.process.returncode


class DoctorWatch(Test):
    def test_reports_a_growing_error_rate_and_exits_with_1(self):
        with Watched(m.changed(m.server(), COUNTERS)) as watched:
            self.assertEqual((watched.start["event"], "mlx5_0" in watched.start["devices"]), ("start", True))
            watched.change({PORT + "counters/symbol_error": "10\n"})
            poll = watched.next_poll()
            grown = poll["grown"][0]
            self.assertEqual((grown["device"], grown["port"], grown["counter"], grown["kind"], grown["by"]),
                             ("mlx5_0", "1", "symbol_error", "error", 3))
            self.assertAlmostEqual(grown["per_second"], 3 / poll["seconds"])
            watched.change({m.NIC + "/aer_dev_correctable": "RxErr 2\nTOTAL_ERR_COR 2\n"})
            self.assertEqual([(g["device"], g["counter"], g["by"]) for g in watched.next_poll()["grown"]], [("0000:04:00.0", "aer_correctable", 2)])
            line, code = watched.end()
        end = json.loads(line)
        self.assertEqual((code, end["event"], end["exit_code"]), (1, "end", 1))
        self.assertEqual([(e["device"], e["counter"], e["by"]) for e in end["errors"]],
                         [("0000:04:00.0", "aer_correctable", 2), ("mlx5_0", "symbol_error", 3)])

    def test_traffic_and_stress_are_reported_but_are_not_errors(self):
        with Watched(m.changed(m.server(), COUNTERS)) as watched:
            watched.change({PORT + "counters/port_xmit_data": "2000\n"})
            self.assertEqual([(g["counter"], g["kind"]) for g in watched.next_poll()["grown"]], [("port_xmit_data", "traffic")])
            watched.change({PORT + "hw_counters/out_of_buffer": "2\n"})
            self.assertEqual([(g["counter"], g["kind"]) for g in watched.next_poll()["grown"]], [("out_of_buffer", "stress")])
            line, code = watched.end(signal.SIGTERM)
        self.assertEqual((code, json.loads(line)["errors"]), (0, []))

    def test_treats_a_shrinking_counter_as_reset(self):
        with Watched(m.changed(m.server(), COUNTERS)) as watched:
            watched.change({PORT + "counters/symbol_error": "0\n"})
            poll = watched.next_poll()
            self.assertEqual((poll["grown"], poll["reset"]), ([], [{"device": "mlx5_0", "port": "1", "counter": "symbol_error"}]))
            watched.change({PORT + "counters/symbol_error": "1\n"})
            self.assertEqual(watched.next_poll()["grown"][0]["by"], 1)

    def test_reports_link_changes_except_of_idle_gpus(self):
        with Watched(m.server()) as watched:
            for path, file, value, address, is_worse in ((m.GPU, "current_link_speed", "2.5 GT/s PCIe\n", "0000:03:00.0", False),
                                                         (m.NIC, "current_link_speed", "16.0 GT/s PCIe\n", "0000:04:00.0", True),
                                                         (m.GPU, "current_link_width", "8\n", "0000:03:00.0", True),
                                                         (m.NIC, "current_link_speed", "32.0 GT/s PCIe\n", "0000:04:00.0", False)):
                watched.change({f"{path}/{file}": value})
                self.assertEqual([(link["address"], link["is_worse"]) for link in watched.next_poll()["links"]], [(address, is_worse)])
            self.assertEqual(watched.end()[1], 0)

    def test_reports_a_device_that_disappears(self):
        with Watched(m.changed(m.server(), COUNTERS)) as watched:
            watched.change({"/sys/class/infiniband/mlx5_0": None})
            self.assertEqual(watched.next_poll()["vanished"], ["mlx5_0"])
            line, code = watched.end()
        self.assertEqual((code, json.loads(line)["vanished"]), (1, ["mlx5_0"]))

    def test_text_matches_json(self):
        with Watched(m.changed(m.server(), COUNTERS), is_json=False) as watched:
            self.assertRegex(watched.start, r"^watching \d+ counters and 3 links, every 0\.05 s; Ctrl-C ends\n")
            watched.change({PORT + "counters/symbol_error": "8\n"})
            while "no counter grew" in (line := watched.process.stdout.readline()):
                pass
            self.assertRegex(line, r"^\d\d:\d\d:\d\d FAIL mlx5_0:1 symbol_error \+1 \([0-9.]+/s\)\n$")
            line, code = watched.end()
        self.assertRegex(line, r"^\d+ polls? in [0-9.]+ s: mlx5_0:1 symbol_error \+1$")
        self.assertEqual(code, 1)

    def test_count_limits_the_samples(self):
        ended = run_on(m.changed(m.server(), COUNTERS), "doctor", "--watch", "0.02", "--count", "3")
        self.assertEqual(ended.code, 0)
        self.assertEqual(sum("no counter grew" in line for line in ended.lines), 3)
        self.assertRegex(ended.lines[-1], r"^3 polls in [0-9.]+ s: no error counter grew$")

    def test_exits_if_there_is_nothing_to_watch(self):
        ended = run_on({"/etc/hostname": "x\n"}, "doctor", "--watch", "1")
        self.assertEqual((ended.code, ended.out), (77, ""))
        self.assertIn("found no adapter counters, no PCIe error counters and no PCIe links in /sys", ended.err)

    def test_an_archive_and_invalid_values_are_rejected(self):
        with Lent(m.server()) as directory, tempfile.TemporaryDirectory() as other:
            archive = os.path.join(other, "machine.tar")
            with tarfile.open(archive, "w") as file:
                file.add(directory, ".")
            self.assert_rejected(["doctor", "--watch", "1", "--count", "1"], [(("--root", archive), "cannot watch a recording")])
            self.assert_wrong_usage(["doctor", "--root", directory, "--watch"], (
                ("0",), ("-1",), ("soon",), ("nan",), ("inf",), ("1s",), ("90000",), ("1", "--count", "-1"), ("1", "--prom"),
                ("1", "--only", "acs*"), ("1", "--strict"), ("1", "--level", "probe"), ("1", "--short")))
        self.assertEqual(run("gdrkit", "doctor", "--count", "3").code, 2)


if __name__ == "__main__":
    unittest.main()
