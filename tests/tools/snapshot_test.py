#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Recordings as archives: read as folders are, made by gdrkit snapshot, compared by gdrkit doctor diff."""
import io
import json
import os
import subprocess
import tarfile
import tempfile
import unittest

from doctor_test import Written, m
from program import BIN, Test, run

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def packed(folder, archive, kind):
    with tarfile.open(archive, "w", format=FORMATS[kind]) as tar:
        tar.add(folder, ".")


def findings(root, *arguments):
    """Exit code and, for each check, its findings whole."""
    ended = run("gdrkit", "doctor", "--root", root, "--json", *arguments)
    assert ended.out, ended.err
    document = json.loads(ended.out)
    return ended.code, {check["id"]: check["findings"] for check in document["checks"]}


class SnapshotArchives(Test):
    def test_an_archive_is_examined_as_its_folder_is(self):
        for tree in (m.server(), m.as_user(), m.virtual_machine(), m.without_gpu()):
            with Written(tree) as folder, tempfile.TemporaryDirectory() as other:
                expected = findings(folder)
                for kind in FORMATS:
                    packed(folder, other + "/x.tar", kind)
                    self.assertEqual(findings(other + "/x.tar"), expected, kind)

    def test_gnu_tar_with_a_very_long_name(self):
        name = "/" + "n" * 200 + ".conf"
        tree = m.changed(m.server(), {"/etc/modules-load.d/gpu.conf": None, "/etc/modules-load.d" + name: "nvidia-peermem\n"})
        with Written(tree) as folder, tempfile.TemporaryDirectory() as other:
            expected = findings(folder)
            self.assertEqual({f["state"] for f in expected[1]["peer.autoload"]}, {"ok"})
            for kind in ("gnu", "pax"):
                packed(folder, other + "/x.tar", kind)
                self.assertEqual(findings(other + "/x.tar"), expected, kind)

    def test_a_damaged_archive_is_4_and_says_where(self):
        with Written(m.server()) as folder, tempfile.TemporaryDirectory() as other:
            path = other + "/x.tar"
            packed(folder, path, "ustar")
            with open(path, "rb") as file:
                whole = file.read()
            with tarfile.open(path) as tar:
                second = tar.getmembers()[1].offset
                end = max(member.offset_data + (member.size + 511) // 512 * 512 for member in tar.getmembers())
            cases = [(whole[:end], f"cut off at byte {end}"), (whole[:100], "cut off at byte 0"), (b"", "cut off at byte 0"),
                     (whole[:second] + b"?" + whole[second + 1:], f"checksum in the header at byte {second}"),
                     (b"\x1f\x8b" + whole, f"gzip -dc {path}"), (b"some words\n" * 100, "is no tar archive")]
            for content, words in cases:
                with open(path, "wb") as file:
                    file.write(content)
                ended = run("gdrkit", "doctor", "--root", path)
                self.assertEqual((ended.code, ended.out), (4, ""), words)
                self.assertIn(words, ended.err)

    def test_an_archive_that_leads_out_is_refused(self):
        with tempfile.TemporaryDirectory() as other:
            with tarfile.open(other + "/x.tar", "w") as tar:
                member = tarfile.TarInfo("../../etc/passwd")
                tar.addfile(member, io.BytesIO(b""))
            ended = run("gdrkit", "doctor", "--root", other + "/x.tar")
            self.assertEqual(ended.code, 4)
            self.assertIn("leads out of it", ended.err)

    def test_an_archive_from_a_pipe(self):
        with Written(m.server()) as folder, tempfile.TemporaryDirectory() as other:
            packed(folder, other + "/x.tar", "ustar")
            with open(other + "/x.tar", "rb") as file:
                ended = subprocess.run([os.path.join(BIN, "gdrkit"), "doctor", "--root", "/dev/stdin", "--strict"],
                                       input=file.read(), capture_output=True, timeout=240, check=False)
        self.assertEqual(ended.returncode, 0, ended.stderr)


if __name__ == "__main__":
    unittest.main()
