#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Recordings as archives: read as folders are, and made by gdrkit snapshot."""
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from doctor_test import Written, m
from program import BIN, Test, run, subcommands
from named import NAMED  # found because doctor_test put the machines' folder in the path

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


def snapshot(*arguments, environment=None):
    """An archive in bytes, and what was said of it."""
    variables = {"PATH": os.environ["PATH"]} if environment is None else environment
    ended = subprocess.run([os.path.join(BIN, "gdrkit"), "snapshot", *arguments, "-"], env=variables, capture_output=True,
                           timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout, ended.stderr.decode()


def members(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {"/" + member.name: tar.extractfile(member).read() if member.isfile() else None for member in tar}


class SnapshotRoundTrip(Test):
    def test_a_recording_of_every_machine_has_its_findings(self):
        machines = {**{name: make() for name, make in NAMED.items()}, "server": m.server(), "user": m.as_user(),
                    "virtual": m.virtual_machine(), "without": m.without_gpu()}
        for name, tree in machines.items():
            with self.subTest(name), Written(tree) as folder, tempfile.TemporaryDirectory() as other:
                archive, _ = snapshot("--root", folder)
                with open(other + "/x.tar", "wb") as file:
                    file.write(archive)
                self.assertEqual(findings(other + "/x.tar"), findings(folder))
                if name not in ("server", "legacy-conflict", "container-ok"):
                    continue
                self.assertEqual(snapshot("--root", other + "/x.tar")[0], archive, "a recording of a recording is itself")
                with tarfile.open(other + "/x.tar") as tar:
                    tar.extractall(other + "/unpacked", filter="data")
                self.assertEqual(findings(other + "/unpacked"), findings(folder))

    def test_this_machine_and_its_recording_are_alike(self):
        with tempfile.TemporaryDirectory() as other:
            ended = run("gdrkit", "snapshot", other + "/x.tar")
            self.assertEqual((ended.code, ended.err), (0, ""))
            self.assertIn("gdrkit doctor --root", ended.out)
            live, recorded = findings("/")[1], findings(other + "/x.tar")[1]
            for check in live:
                self.assertEqual([(f["state"], f["subject"]) for f in live[check]],
                                 [(f["state"], f["subject"]) for f in recorded[check]], check)

    def test_two_recordings_of_one_machine_are_the_same_bytes(self):
        with Written(m.server()) as folder:
            self.assertEqual(snapshot("--root", folder), snapshot("--root", folder))


class SnapshotList(Test):
    """What the checks look at, by a trace, is what a snapshot looks at."""

    @staticmethod
    def looked_at(folder, *arguments):
        """Paths below the folder: all that were looked at, and the files that were opened."""
        with tempfile.TemporaryDirectory() as other:
            trace = os.path.join(other, "trace")
            ended = subprocess.run(["strace", "-f", "-y", "-s", "4096", "-o", trace, "-e", "trace=newfstatat,openat",
                                    os.path.join(BIN, "gdrkit"), *arguments], capture_output=True, text=True, timeout=240,
                                   check=False, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
            if "ptrace" in ended.stderr.lower():
                raise unittest.SkipTest("this machine forbids tracing: " + ended.stderr.splitlines()[0])
            seen, opened = set(), set()
            with open(trace, encoding="utf-8", errors="replace") as file:
                for line in file:
                    found = re.search(r'(newfstatat|openat)\(\d+<(' + re.escape(folder) + r'[^>]*)>, "([^"]+)", (\S*)', line)
                    if found is None or found[3] == ".":
                        continue
                    path = found[2][len(folder):] + "/" + found[3]
                    seen.add(path)
                    if found[1] == "openat" and "O_PATH" not in found[4]:
                        opened.add(path)
        return seen, opened

    def test_the_list_names_all_that_the_checks_look_at(self):
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        commands = [("doctor",), ("topo",)] + [
            ("env", library) for library in ("nccl", "ucx", "nvshmem", "openmpi", "mvapich2")]
        names = subcommands()
        for machine in ("roce-bad", "container-bare", "vm-azure-8x"):
            with Written(NAMED[machine]()) as folder:
                recorded, contents = self.looked_at(folder, "snapshot", "--root", folder, "/dev/null")
                self.assertGreater(len(contents), 50)
                for command in commands:
                    if command[0] not in names:
                        continue
                    seen, opened = self.looked_at(folder, *command, "--root", folder)
                    with self.subTest(f"{machine}: {command}"):
                        self.assertEqual(sorted(opened - contents), [], "add these to tools/snapshot/paths.def")
                        self.assertEqual(sorted(seen - recorded), [], "add these to tools/snapshot/paths.def")

    def test_list_prints_every_path(self):
        ended = run("gdrkit", "snapshot", "--list")
        self.assertEqual(ended.code, 0)
        with open(os.path.join(os.path.dirname(__file__), "../../tools/snapshot/paths.def"), encoding="utf-8") as file:
            patterns = re.findall(r'^GDRKIT_PATH\(\w+, "([^"]+)"', file.read(), re.M)
        self.assertGreater(len(patterns), 40)
        for pattern in patterns:
            self.assertIn(" " + pattern + "\n", ended.out)


class SnapshotContent(Test):
    def test_of_the_environment_only_known_variables_and_no_secrets(self):
        harmless = {"NCCL_DEBUG": "INFO", "UCX_TLS": "rc,cuda", "SLURM_LOCALID": "3", "OMPI_MCA_btl": "self"}
        secrets = {"AWS_SECRET_ACCESS_KEY": "canary-1", "SLURM_JWT": "canary-2", "NVIDIA_API_KEY": "canary-3",
                   "CUDA_REGISTRY_TOKEN": "canary-4", "DATABASE_URL": "canary-5", "NCCL_PASSWORD": "canary-6",
                   "PMIX_SECURITY_CREDENTIAL": "canary-7", "HOME": "/canary-8", "USER": "canary-9",
                   "MY_NCCL_DEBUG": "canary-10", "HF_TOKEN": "canary-11", "SSH_AUTH_SOCK": "canary-12"}
        archive, _ = snapshot(environment={**harmless, **secrets})
        environ = members(archive)["/proc/self/environ"].split(b"\0")
        self.assertEqual(sorted(environ), sorted([b""] + [f"{n}={v}".encode() for n, v in harmless.items()]))
        for text in (b"canary", b"HF_TOKEN", b"API_KEY"):
            self.assertNotIn(text, archive)

    def test_home_is_named_when_a_file_of_a_library_is_in_it(self):
        with tempfile.TemporaryDirectory() as home:
            self.assertNotIn(home.encode(), snapshot(environment={"HOME": home, "NCCL_DEBUG": "INFO"})[0])
            with open(home + "/.nccl.conf", "w", encoding="ascii") as file:
                file.write("NCCL_IB_HCA=mlx5_0\n")
            with open(home + "/diary", "w", encoding="ascii") as file:
                file.write("canary\n")
            archive, _ = snapshot(environment={"HOME": home})
            self.assertEqual(members(archive)["/proc/self/environ"], f"HOME={home}\0".encode())
            self.assertEqual(members(archive)[home + "/.nccl.conf"], b"NCCL_IB_HCA=mlx5_0\n")
            self.assertNotIn(b"canary", archive)

    def test_processes_and_descriptors_are_not_in_it(self):
        archive, _ = snapshot()
        for path in members(archive):
            self.assertNotRegex(path, r"^/proc/(\d+|self/fd)(/|$)")
            self.assertNotIn(path, ("/dev/stdin", "/dev/stdout", "/dev/fd"))

    def test_what_could_not_be_read_is_told(self):
        guid = "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0"
        with Written(m.changed(m.server(), {guid: m.UNREADABLE, "/etc/modules-load.d/large.conf": "x" * (1 << 22) + "\n"})) as folder:
            archive, told = snapshot("--root", folder)
        listed = members(archive)["/gdrkit-recording"].decode()
        self.assertIn(f"unreadable {guid}\n", listed)
        self.assertIn("unreadable /etc/modules-load.d/large.conf\n", listed)
        self.assertRegex(told, r"[1-9]\d* of them not readable")

    def test_files_without_a_size_are_read_to_their_end(self):
        text = members(snapshot()[0])["/proc/cpuinfo"]
        with open("/proc/cpuinfo", "rb") as file:
            self.assertEqual(text.count(b"processor"), file.read().count(b"processor"))


class SnapshotFile(Test):
    def test_a_file_that_is_there_stays_without_force(self):
        with Written(m.server()) as folder, tempfile.TemporaryDirectory() as other:
            path = other + "/x.tar"
            with open(path, "w", encoding="ascii") as file:
                file.write("mine")
            ended = run("gdrkit", "snapshot", "--root", folder, path)
            self.assertEqual((ended.code, ended.out), (2, ""))
            self.assertIn("--force", ended.err)
            with open(path, encoding="ascii") as file:
                self.assertEqual(file.read(), "mine")
            self.assertEqual(run("gdrkit", "snapshot", "--root", folder, path, "--force").code, 0)
            self.assertTrue(tarfile.is_tarfile(path))
            self.assertEqual(os.listdir(other), ["x.tar"])

    def test_wrong_usage_is_2_a_full_disk_1_and_no_recording_4(self):
        with tempfile.TemporaryDirectory() as other:
            for arguments in ((), ("a", "b"), ("/nowhere/at/all/x.tar",), (other,), ("--root",)):
                ended = run("gdrkit", "snapshot", *arguments)
                self.assertEqual((ended.code, ended.out), (2, ""), arguments)
                self.assertNotEqual(ended.err, "", arguments)
            ended = run("gdrkit", "snapshot", "--root", "/nowhere", other + "/x.tar")
            self.assertEqual((ended.code, os.listdir(other)), (4, []))
        with Written(m.server()) as folder:
            self.assertEqual(run("gdrkit", "snapshot", "--root", folder, "/dev/full").code, 1)

    def test_an_output_that_did_not_arrive_is_a_failure(self):
        with Written(m.server()) as folder, open("/dev/full", "wb") as full:
            ended = subprocess.run([os.path.join(BIN, "gdrkit"), "snapshot", "--root", folder, "-"], stdout=full,
                                   stderr=subprocess.PIPE, text=True, timeout=240, check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("could not be written", ended.stderr)


if __name__ == "__main__":
    unittest.main()
