#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Runs the built program on the emulated device, and compares lines with expected ones."""
import copy
import glob
import json
import os
import re
import resource
import signal
import subprocess

from cases import DirectoryTest, main  # pylint: disable=unused-import

BIN = os.environ["GDRKIT_BIN"]
NOTE = r"NOTE: running on the emulated device, whose figures do not describe a GPU: .*"
BANNER = [NOTE, r"GPU id:0; name: gdrkit emulated device \(no GPU\); Bus id: [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}",
          r"selecting device 0"]
HAS_GPU = bool(glob.glob("/dev/nvidia[0-9]*"))
# Set by ./run test --full: adds tests that take long and rarely find more than the short ones.
IS_FULL = os.environ.get("GDRKIT_FULL") == "1"
FLOAT = r"[0-9.]+(?:e[+-][0-9]+)?"


class Ended:
    def __init__(self, process):
        self.code, self.err = process.returncode, process.stderr
        self.out = "" if process.stdout is None else process.stdout
        self.lines = self.out.splitlines()


def variables_with(environment=None):
    """Returns the variables of this process without gdrkit's own, and the given ones."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("GDRKIT_", "GDRCOPY_"))}
    return {**variables, **({"GDRKIT_BACKEND": "emulated"} if environment is None else environment)}


def run(program, *arguments, environment=None, **options):
    """Runs the program and returns how it ended. The options are those of subprocess.run."""
    path = program if os.path.isabs(program) else os.path.join(BIN, program)
    options = {"env": variables_with(environment), "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 500,
               **options}
    return Ended(subprocess.run([path, *arguments], check=False, **options))


def run_with_file_limit(limit_bytes, *arguments, stdout=subprocess.PIPE):
    """Runs gdrkit with a limit for the size of files. As in a shell, SIGXFSZ is not ignored. A program that does not check the limit ends without an error message."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    return Ended(subprocess.run([os.path.join(BIN, "gdrkit"), *arguments], env=variables_with(), stdout=stdout, stderr=subprocess.PIPE,
                                text=True, timeout=240, check=False, preexec_fn=limit))


def run_without_space(program, *arguments, environment=None):
    """Runs the program with an output that cannot be written."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        return run(program, *arguments, environment=environment, stdout=full)


def run_pes(pes, *arguments, environment=None):
    """Runs gdrkit with these arguments as the PEs of a job on emulated devices."""
    return run("gdrkit", "run", "-n", str(pes), "--emulated", "--", os.path.join(BIN, "gdrkit"), *arguments, environment=environment or {})


def wait_for(process, limit_s=60):
    """Waits for a process that was started with pipes. Kills it after the limit, and reports that in its error message."""
    note = ""
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        note = "\nHANGS"
    return Ended(subprocess.CompletedProcess(process.args, process.returncode, out, err + note))


def judged(compare):
    """Returns the result of a comparison. Repeats it up to five times while the noise is too large for a verdict (exit code 2)."""
    for _ in range(5):
        ended = compare()
        if ended.code != 2:
            break
    return ended


def slowed(document, factor):
    """Returns the result of a run that is `factor` times slower and has no noise. On a busy machine noise may hide any factor."""
    document = copy.deepcopy(document)
    for series in document["series"]:
        for point in series["points"]:
            scale = factor if series["better"] == "lower" else 1 / factor
            point["value"] = point["minimum"] = point["minimum"] * scale
            point["rounds"] = [point["value"]] * len(point["rounds"])
    return document


class Test(DirectoryTest):
    maxDiff = None

    def assert_lines(self, lines, patterns):
        """Checks that every line matches its pattern completely, and that there are no other lines."""
        for number, (line, pattern) in enumerate(zip(lines, patterns)):
            self.assertRegex(line, "^(?:" + pattern + ")$", f"line {number + 1} of\n" + "\n".join(lines))
        self.assertEqual(len(lines), len(patterns), "\n".join(lines))

    def run_ok(self, program, *arguments, environment=None):
        """Runs the program. Checks that it exits with 0 and prints no error message."""
        ended = run(program, *arguments, environment=environment)
        self.assertEqual((ended.code, ended.err), (0, ""), f"{program} {' '.join(arguments)}\n{ended.out}")
        return ended

    def assert_failed(self, ended, code, text="", pattern=r"\S"):
        """Checks the exit code, and that the error message contains the text and matches the pattern."""
        self.assertEqual(ended.code, code, ended.out + ended.err)
        self.assertIn(text, ended.err)
        self.assertRegex(ended.err, pattern)

    def assert_fits(self, lines):
        """Checks that only a line with a single long word is wider than 110 columns."""
        for line in lines:
            self.assertTrue(len(line) <= 110 or " " not in line.strip(), line)

    def assert_rejected(self, command, cases, environment=None, code=2):
        """Checks that the program rejects the arguments of each case with a message that contains the text of the case."""
        for arguments, text in cases:
            ended = run("gdrkit", *command, *arguments, environment=environment)
            self.assertEqual((ended.code, ended.out), (code, ""), arguments)
            self.assertIn(text, ended.err)

    def assert_documented_or_rejected(self, command, originals):
        """Checks each option of another program, "short:long" with one name empty if it is missing. Checks that the help has the option with these names, or that the option is rejected with a reason, with and without a value."""
        shown = run("gdrkit", command[0], "--help").out
        for original in originals:
            names = [dashes + name for dashes, name in zip(("-", "--"), original.split(":")) if name]
            entry = re.escape(", ".join(names))
            if any(re.search(rf"(?m)^ +(-\w, )?{re.escape(name)}[ ,\[\n]", shown) for name in names):
                self.assertRegex(shown, rf"(?m)^ +(-\w, )?{entry}[ ,\[\n]")
                continue
            for arguments in [(name, *value) for name in names for value in ((), ("17",))]:
                ended = run("gdrkit", *command, *arguments)
                self.assertEqual((ended.code, ended.out), (2, ""), arguments)
                self.assertRegex(ended.err, rf"^gdrkit {command[0]}: {entry} is not supported: \w.*; ")

    def assert_compares(self, document, compare):
        """Checks that compare(path of an earlier result) distinguishes slower runs from faster ones."""
        old = self.write("faster.json", json.dumps(slowed(document, 1e-6)))
        ended = judged(lambda: compare(old))
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("SLOWER", ended.out)
        self.assertIn("points are slower beyond the noise", ended.out)
        old = self.write("slower.json", json.dumps(slowed(document, 1e6)))
        ended = judged(lambda: compare(old))
        # 2: on emulated devices the noise may be too large for a verdict.
        self.assertIn(ended.code, (0, 2), ended.out + ended.err)
        self.assertRegex(ended.out, r"(?m)^faster ")
        self.assertNotIn("SLOWER", ended.out)

    def assert_wrong_usage(self, command, cases):
        """Checks that the program rejects the arguments of each case with a message, before any output."""
        for arguments in cases:
            ended = run("gdrkit", *command, *arguments)
            self.assertEqual((ended.code, ended.out), (2, ""), arguments)
            self.assertNotEqual(ended.err, "", arguments)

    def json_of(self, *arguments, code=0, program="gdrkit", environment=None):
        ended = run(program, *arguments, "--json", environment=environment)
        self.assertEqual(ended.code, code, ended.err)
        return json.loads(ended.out), ended


def list_of(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli", name)
    with open(path, encoding="utf-8") as file:
        return file.read()


def subcommands():
    """Returns the names in cli/subcommands.def."""
    return re.findall(r"(?m)^GDRKIT_SUBCOMMAND\((\w+),", list_of("subcommands.def"))


def other_names():
    """Returns the names in cli/other_names.def with their subcommands."""
    return re.findall(r"(?m)^GDRKIT_OTHER_NAME\((\w+), (\w+)\)", list_of("other_names.def"))
