#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The PTX in the tree: equal to the sources, for old drivers and GPUs, accepted by ptxas, and cheap where it polls.

Usage: gpu_ptx_test.py [CLASS]; ends with 77 after the reasons when every test of the class was skipped."""
import difflib
import io
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scripts"))
import gpu_ptx  # noqa: E402


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


class PtxText(unittest.TestCase):
    text = read("platform", "gpu_code", "gpu_kernels.ptx")

    def test_holds_every_gpu_kernel_of_the_list_and_no_other(self):
        files = re.findall(r'(?m)^#include "(.*)"$', read("platform", "gpu_code", "gpu_kernels.def"))
        listed = [name for file in files for name in re.findall(r"(?m)^GDRKIT_GPU_KERNEL\((\w+),", read(file))]
        self.assertTrue(listed)
        entries = re.findall(r"(?m)^\.visible \.entry gdrkit_(\w+)\(", self.text)
        self.assertEqual(sorted(entries), sorted(listed))

    def test_old_drivers_and_gpus_take_it(self):
        for image in gpu_ptx.IMAGES:
            with self.subTest(image=image):
                text = read(image)
                version = re.search(r"(?m)^\.version (\d+)\.(\d+)$", text).groups()
                self.assertLessEqual((int(version[0]), int(version[1])), (6, 5), "newer than the driver of CUDA 10.2")
                self.assertIn("\n.target sm_70\n", text)

    def test_the_mover_has_one_gpu_kernel(self):
        entries = re.findall(r"(?m)^\.visible \.entry (\w+)\(", read("lib/engine/mover/mover.ptx"))
        self.assertEqual(entries, ["gdrkit_mover"])

    def test_a_flag_alone_is_polled_by_little_more_than_its_load(self):
        body = re.search(r"(?ms)^\.visible \.entry gdrkit_ping_pong\(.*?^}", self.text).group(0)
        polls = [lines for _, lines in loops(body) if any("ld.relaxed.sys" in line for line in lines)]
        self.assertEqual(len(polls), 1, body)
        self.assertLessEqual(len(polls[0]), 6, "load, two comparisons, count, two branches")
        allowed = re.compile(r"(@%p\d+ |@!%p\d+ )?(ld\.relaxed\.sys|setp|add|bra\b|$)")
        for line in polls[0]:
            self.assertRegex(line, allowed)
        self.assertIn("st.relaxed.sys", body, "the answer")


class PtxIsThatOfTheSources(unittest.TestCase):
    def test_regenerated_text_is_the_same(self):
        for image in gpu_ptx.IMAGES:
            with self.subTest(image=image):
                text = read(image)
                release, recorded = gpu_ptx.release_of(tool("nvcc")), gpu_ptx.recorded_release(text)
                if release != recorded:
                    self.skipTest(f"nvcc {release} writes other text than nvcc {recorded}, which made the PTX in the tree")
                tool("ptxas")
                difference = "\n".join(difflib.unified_diff(text.splitlines(), gpu_ptx.compile_ptx(image).splitlines(),
                                                            "in the tree", "from the sources", lineterm=""))
                self.assertEqual(difference, "", 'run "./run ptx" and commit the result')


class PtxIsAccepted(unittest.TestCase):
    def test_by_ptxas_for_every_architecture(self):
        ptxas = tool("ptxas")
        architectures = gpu_ptx.architectures(ptxas)
        self.assertIn(90, architectures)
        for image in gpu_ptx.IMAGES:
            for architecture in architectures:
                with self.subTest(image=image, architecture=architecture):
                    self.assertEqual(gpu_ptx.accepts(ptxas, read(image), architecture), "")

    def test_ptxas_sees_what_is_too_new_for_the_version(self):
        older = gpu_ptx.with_version(PtxText.text, (5, 0), 70)
        self.assertIn("requires PTX ISA", gpu_ptx.accepts(tool("ptxas"), older, 90))


if __name__ == "__main__":
    report = io.StringIO()  # kept back: the reason of a skip must be the first line
    runner = unittest.TextTestRunner(stream=report, verbosity=2)
    result = unittest.main(testRunner=runner, exit=False).result
    if result.wasSuccessful() and result.testsRun == len(result.skipped):
        print("\n".join(sorted({reason for _, reason in result.skipped})))
        sys.exit(77)
    print(report.getvalue())
    sys.exit(0 if result.wasSuccessful() else 1)
