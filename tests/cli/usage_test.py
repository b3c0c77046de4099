#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Help, version and the errors of a mistyped command line, of every subcommand and under GDRCopy's names."""
import glob
import os
import re
import socket
import subprocess
import unittest

from program import BIN, Test, run, subcommands

WIDTH = 110
GDRCOPY = sorted(os.path.basename(path) for path in glob.glob(os.path.join(BIN, "gdrcopy_*")))
# Words that our docs and texts never use. "alone" and similar words are sometimes right.
PRIVATE_WORDS = r"\b(predecessor|yardstick|plant(ed)?|sentences?|faces?|is no|are no|nobody|becomes a program)\b"


# Options that need another option, and options that accept 0.
NEEDED = {("copylat", "rounds"): ("--raw",), ("copylat", "batch-us"): ("--raw",), ("copylat", "pin-size"): ("--pin-cost",),
          ("copylat", "pin-repeats"): ("--pin-cost",), ("doctor", "count"): ("--watch", "1"),
          ("bind", "gpu"): ("--dry-run",)}
REQUIRED = {("run", "number"), ("bind", "gpu")}
ZERO_HAS_A_MEANING = {
    ("bind", "gpu"), ("copybw", "offset"), ("pplat", "timeout"), ("pplat", "data-size"), ("apiperf", "warm-up"), ("doctor", "expect-gpus"),
    ("doctor", "count"), ("nccl", "minbytes"), ("nccl", "warmup_iters"), ("osu", "warmup"),
    ("osu", "validation-warmup"), ("perftest", "gid-index"), ("perftest", "margin"), ("perftest", "inline_size"),
    ("perftest", "tclass"), ("perftest", "flow_label"),
    ("perftest", "sl"), ("perftest", "qp-timeout"), ("perftest", "use_cuda"), ("run", "grace"), ("shmem bench", "singles"), ("shmem bench", "bulk")}


def helps():
    yield "gdrkit --help", run("gdrkit", "--help")
    for name in subcommands():
        yield f"gdrkit {name} --help", run("gdrkit", name, "--help")
    for name in GDRCOPY:
        yield f"{name} -h", run(name, "-h")


class Help(Test):
    def test_every_help_fits_110_columns_in_plain_words(self):
        for name, ended in helps():
            self.assertEqual((ended.code, ended.err), (0, ""), name)
            for line in ended.lines:
                self.assertLessEqual(len(line), WIDTH, f"{name}: {line}")
            self.assertNotRegex(ended.out, PRIVATE_WORDS, name)

    def test_shows_default_sizes_with_units(self):
        self.assertRegex(run("gdrkit", "copylat", "--help").out, r"-s, --size SIZE +largest copy \(default: 16M\)")
        # Options before --help do not change them.
        self.assertIn("(default: 16M)", run("gdrkit", "copylat", "--size", "4", "--help").out)

    def test_help_shows_the_syntax_of_the_json_file(self):
        for name, text in (("copylat", "--json [FILE]"), ("bench", "--csv [FILE]"), ("doctor", "--json[=FILE]"),
                           ("env", "--json[=FILE]")):
            self.assertIn(text, run("gdrkit", name, "--help").out, name)

    def test_omits_hidden_options(self):
        self.assertNotIn("plant", run("gdrkit", "bench", "--help").out)


class Version(Test):
    def test_every_command_prints_the_same_line(self):
        line = run("gdrkit", "--version").out
        self.assertRegex(line, r"^gdrkit \d+\.\d+\.\d+\n$")
        for command in [("gdrkit", name) for name in subcommands()] + [(name,) for name in GDRCOPY]:
            ended = run(*command, "--version")
            self.assertEqual((ended.code, ended.out, ended.err), (0, line, ""), command)
        self.assertEqual(len(GDRCOPY), 5)


class Errors(Test):
    def test_writes_each_line_with_one_call(self):
        """Each line is one write(2), so the lines of two processes do not mix: each write to such a socket is one message."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        word = "x" * 20000
        with ours, theirs:
            ended = subprocess.run([os.path.join(BIN, "gdrkit"), word], stderr=theirs, timeout=120, check=False)
            theirs.close()
            messages = list(iter(lambda: ours.recv(1 << 20), b""))
        self.assertEqual(ended.returncode, 2)
        self.assertIn(word, messages[0].decode())
        self.assertEqual([message[-1:] for message in messages], [b"\n"] * len(messages), messages)


class DidYouMean(Test):
    def test_subcommands(self):
        for word, meant in (("copylatt", "copylat"), ("docter", "doctor"), ("bnech", "bench"), ("snap", "snapshot"),
                            ("--verison", "--version")):
            self.assert_failed(run("gdrkit", word), 2, f"'{word}'; did you mean '{meant}'?")
        ended = run("gdrkit", "nothing")
        self.assertEqual(ended.code, 2)
        self.assertNotIn("did you mean", ended.err)
        self.assertLess(len(ended.err.splitlines()), 4, "an error message is not the help")

    def test_options_of_every_subcommand(self):
        for name in subcommands():
            self.assert_rejected([name], [(("--hlep",), "unknown option '--hlep'; did you mean '--help'?")])

    def test_values(self):
        self.assertIn("did you mean 'hostmem'?", run("gdrkit", "pplat", "--data", "hostmen").err)
        ended = run("gdrkit", "info", "--backend", "emulted")
        self.assertIn("unknown backend 'emulted' (GDRKIT_BACKEND); did you mean 'emulated'?", ended.err)


class Backend(Test):
    def test_every_tool_rejects_an_unknown_backend(self):
        for name in ("info", "sanity", "copybw", "copylat", "pplat", "apiperf", "bench"):
            for command, environment in (((name, "--backend", "nope"), None), ((name,), {"GDRKIT_BACKEND": "nope"})):
                self.assert_failed(run("gdrkit", *command, environment=environment), 2, pattern=r"'nope'.*; use one of .*emulated")
        self.assertEqual(run("gdrcopy_copybw", environment={"GDRKIT_BACKEND": "nope"}).code, 1)

    def test_tools_that_copy_reject_an_unknown_copy_kernel(self):
        environment = {"GDRKIT_BACKEND": "emulated", "GDRKIT_COPY_KERNEL": "quick"}
        for command in (("copybw",), ("bench", "--only", "costs"), ("sanity", "-t", "basic_cumemalloc")):
            self.assert_failed(run("gdrkit", *command, environment=environment), 2, pattern="'quick'; use one of .*scalar")
        self.assertEqual(run("gdrcopy_copybw", environment=environment).code, 1)


class Sizes(Test):
    OPTIONS = (("copylat", "--size"), ("copylat", "--pin-size"), ("copybw", "--size"), ("copybw", "--copy-size"),
               ("copybw", "--offset"), ("pplat", "--data-size"), ("apiperf", "--size"), ("bandwidth", "--bufferSize"),
               ("bench", "--sizes"))

    def test_reports_an_invalid_size_with_option_and_example(self):
        for name, option in self.OPTIONS:
            for text in ("many", "1MB", "1_000", "1.", "-1"):
                ended = run("gdrkit", name, f"{option}={text}")
                self.assert_failed(ended, 2, f"{option}: '{text}' is not a size", pattern="for example 64K")

    def test_units_are_powers_of_1024(self):
        for text in ("64K", "64k", "64KiB", "65536", "0x10000", "0.0625M"):
            document, _ = self.json_of("copybw", "-s", text, "-w", "1", "-r", "1")
            self.assertEqual([result["size_bytes"] for result in document["results"]], [65536], text)
        document, _ = self.json_of("bandwidth", "-b", "2M", "-t", "host_to_device_memcpy_ce", "-i", "1")
        self.assertEqual(document["settings"]["buffer_bytes"], str(2 << 20))
        document, _ = self.json_of("bandwidth", "-b", "2", "-t", "host_to_device_memcpy_ce", "-i", "1")
        self.assertEqual(document["settings"]["buffer_bytes"], str(2 << 20), "nvbandwidth counts MiB")

    def test_rejects_a_meaningless_zero(self):
        words = {"osu": ("latency",), "nccl": ("all_reduce",), "perftest": ("write_lat",)}
        parts = {"shmem": (("check",), ("bench",))}
        found = 0
        for name in subcommands():
            for part in parts.get(name, ((),)):
                tool = " ".join((name, *part))
                for option in re.findall(r"(?m)^ +(?:-\w, +)?--([\w-]+) (?:N|SIZE|US|S|SECONDS)\b", run("gdrkit", name, *part, "--help").out):
                    number = ("-n", "1") if name == "run" and option != "number" else ()
                    needed = number + NEEDED.get((tool, option), ()) + (("--", "true") if name == "run" else ())
                    # Without a GPU, so that accepted arguments start no measurement.
                    codes = [run("gdrkit", name, *part, *words.get(name, ()), *extra, *needed, environment={"CUDA_VISIBLE_DEVICES": ""}).code
                             for extra in ((), (f"--{option}=0",))]
                    found += 1
                    self.assertEqual(codes[1] == 2, (tool, option) not in ZERO_HAS_A_MEANING, (tool, option))
                    self.assertTrue(codes[0] != 2 or (tool, option) in REQUIRED, (tool, option, "is refused for another reason"))
        self.assertGreater(found, 50)

    def test_internal_default_values_are_rejected_on_the_command_line(self):
        self.assert_rejected(["osu", "latency"], [
            (("-i", "0"), "--iterations: '0' is not allowed here; omit the option to use the default")])

    def test_gdrcopy_names_reject_text_after_a_number(self):
        for name, option in (("gdrcopy_copylat", "-s"), ("gdrcopy_copybw", "-s"), ("gdrcopy_copybw", "-c"),
                             ("gdrcopy_copylat", "-w"), ("gdrcopy_pplat", "-t"), ("gdrcopy_apiperf", "-s")):
            for text in ("1M", "64K", "10x", ""):
                ended = run(name, option, text)
                self.assertEqual((ended.code, ended.out), (1, ""), (name, option, text))
                self.assertRegex(ended.err, rf"^ERROR: {option} {re.escape(text)}: .*not a number")


if __name__ == "__main__":
    unittest.main()
