#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The bitcode in its archive is that of the sources. The PTX in the archive: the code of the sources, for old drivers and GPUs, accepted by ptxas, and cheap where it polls.

Usage: gpu_ptx_test.py [CLASS]; ends with 77 after the reasons when every test of the class was skipped."""
import difflib
import io
import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scripts"))
import gpu_bitcode  # noqa: E402
import gpu_ptx  # noqa: E402

PTX = gpu_ptx.read_archive()


def read(*path):
    with open(os.path.join(gpu_ptx.ROOT, *path), encoding="ascii") as file:
        return file.read()


def tool(name):
    try:
        return gpu_ptx.find_tool(name)
    except gpu_ptx.CannotRun as error:
        raise unittest.SkipTest(str(error)) from error


def loops(text):
    """(label, instructions) of each innermost loop: from a label to a branch back to it, no other label between."""
    for match in re.finditer(r"(?ms)^(\$L\w+):\n((?:(?!^\$L).)*?)\bbra(?:\.uni)? +\t?\1;", text):
        lines = [line.strip() for line in match.group(2).splitlines()]
        yield match.group(1), [line for line in lines if line and not line.startswith((".", "//"))]


def entries(text):
    return re.findall(r"(?m)^\.visible \.entry gdrkit_(\w+)\(", text)


class PtxText(unittest.TestCase):
    def test_each_gpu_kernel_of_the_list_has_a_separate_file(self):
        names = [name for name in gpu_ptx.IMAGES if name != "mover"]
        self.assertTrue(names)
        for name in names:
            with self.subTest(name=name):
                source = read("platform", "gpu_code", name + ".cu")
                self.assertEqual(re.findall(r"(?m)^extern \"C\" __global__ void .*\bgdrkit_(\w+)\(", source), [name])
                self.assertEqual(entries(PTX[name]), [name])
        self.assertEqual(sorted(PTX), sorted(["mover", *names]), "what nothing embeds")

    def test_ptx_targets_old_drivers_and_gpus(self):
        for image in gpu_ptx.IMAGES:
            with self.subTest(image=image):
                text = PTX[image]
                version = re.search(r"(?m)^\.version (\d+)\.(\d+)$", text).groups()
                self.assertLessEqual((int(version[0]), int(version[1])), (6, 5), "newer than the driver of CUDA 10.2")
                self.assertIn("\n.target sm_70\n", text)

    def test_the_mover_has_one_gpu_kernel(self):
        self.assertEqual(entries(PTX["mover"]), ["mover"])

    def test_polling_a_flag_without_data_adds_few_instructions(self):
        body = PTX["ping_pong"]
        polls = [lines for _, lines in loops(body) if any("ld.relaxed.sys" in line for line in lines)]
        self.assertEqual(len(polls), 1, body)
        self.assertLessEqual(len(polls[0]), 6, "load, two comparisons, count, two branches")
        allowed = re.compile(r"(@%p\d+ |@!%p\d+ )?(ld\.relaxed\.sys|setp|add|bra\b|$)")
        for line in polls[0]:
            self.assertRegex(line, allowed)
        self.assertIn("st.relaxed.sys", body, "the reply")

    def test_acquiring_poll_loads_only_the_flag(self):
        # The acquire load before has emptied the first-level cache: unchanged data would come from the second.
        found = 0
        for image in gpu_ptx.IMAGES:
            for label, lines in loops(PTX[image]):
                loads = [line for line in lines if re.search(r"\bld\.(?!param)", line)]
                if any("ld.acquire" in line for line in loads):
                    found += 1
                    self.assertEqual(len(loads), 1, f"{image} {label}: {loads}")
        self.assertGreater(found, 40)

    def test_comparison_of_code_ignores_names(self):
        text = PTX["gate"]
        does = gpu_ptx.what_it_does(text)
        self.assertEqual(set(does), {"", "gdrkit_gate"})
        self.assertGreater(sum(does["gdrkit_gate"].values()), 10)
        renamed = re.sub(r"%r(\d+)", lambda found: f"%r{int(found.group(1)) + 7}", text)
        renamed = re.sub(r"\$L__BB0_(\d+)", r"$L__BB0_\g<1>1", renamed) + "// a comment\n"
        self.assertNotEqual(renamed, text)
        self.assertEqual(gpu_ptx.what_it_does(renamed), does)
        loads = re.search(r"ld\.relaxed\.sys|ld\.acquire\.sys", text).group(0)
        self.assertNotEqual(gpu_ptx.what_it_does(text.replace(loads, "ld.volatile")), does)
        self.assertNotEqual(gpu_ptx.what_it_does(re.sub(r"(setp\.\w+\.\w+ .*), 0;", r"\1, 1;", text)), does)


class PtxIsThatOfTheSources(unittest.TestCase):
    def test_regenerated_code_is_equivalent(self):
        tool("ptxas"), tool("nvcc")
        unlike = set()
        for image, made in gpu_ptx.each_at_once(gpu_ptx.compile_ptx, gpu_ptx.IMAGES):
            if gpu_ptx.what_it_does(made) == gpu_ptx.what_it_does(PTX[image]):
                continue
            recorded, here = gpu_ptx.recorded_compiler(PTX[image]), gpu_ptx.recorded_compiler(made)
            if recorded != here:
                unlike.add(f"nvcc {here} makes other code than nvcc {recorded}, which made {image}")
                continue
            with self.subTest(image=image):
                difference = "\n".join(difflib.unified_diff(PTX[image].splitlines(), made.splitlines(), "in the archive",
                                                            "from the sources", lineterm=""))
                self.fail(f'run "./run ptx" and commit the result\n{difference}')
        if unlike:
            self.skipTest("; ".join(sorted(unlike)))


class BitcodeIsThatOfTheSources(unittest.TestCase):
    def test_regenerated_bitcode_is_the_same(self):
        if shutil.which(gpu_bitcode.COMPILER) is None:
            self.skipTest(f"no {gpu_bitcode.COMPILER}")
        recorded = gpu_bitcode.read_archive()
        if recorded["compiler.txt"].decode() != gpu_bitcode.compiler():
            self.skipTest(f"{recorded['compiler.txt'].decode()} made the bitcode, and {gpu_bitcode.compiler()} is here")
        self.assertTrue(gpu_bitcode.compile_all() == recorded, "run scripts/gpu_bitcode.py and commit the result")


class PtxIsAccepted(unittest.TestCase):
    def test_ptxas_accepts_old_and_new_architectures(self):
        ptxas = tool("ptxas")
        architectures = gpu_ptx.architectures(ptxas)
        self.assertIn(90, architectures)
        if "GDRKIT_FULL" not in os.environ:
            architectures = sorted({architectures[0], 90, architectures[-1]})
        pairs = [(image, architecture) for image in gpu_ptx.IMAGES for architecture in architectures]
        for pair, complaint in gpu_ptx.each_at_once(lambda pair: gpu_ptx.accepts(ptxas, PTX[pair[0]], pair[1]), pairs):
            with self.subTest(image=pair[0], architecture=pair[1]):
                self.assertEqual(complaint, "")

    def test_ptxas_rejects_code_newer_than_the_version(self):
        older = gpu_ptx.with_version(PTX["gate"], (5, 0), 70)
        self.assertIn("requires PTX ISA", gpu_ptx.accepts(tool("ptxas"), older, 90))


if __name__ == "__main__":
    report = io.StringIO()  # buffered: the reason of a skip must be the first line
    runner = unittest.TextTestRunner(stream=report, verbosity=2)
    result = unittest.main(testRunner=runner, exit=False).result
    if result.wasSuccessful() and result.testsRun == len(result.skipped):
        print("\n".join(sorted({reason for _, reason in result.skipped})))
        sys.exit(77)
    print(report.getvalue())
    sys.exit(0 if result.wasSuccessful() else 1)
