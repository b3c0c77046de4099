#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Recordings as archives: read like directories, and written by gdrkit snapshot."""
import io
import json
import os
import pathlib
import pty
import re
import resource
import subprocess
import tarfile
import tempfile
import unittest

from doctor_runs import TOP, Lent, findings_of, m, run_on
from doctor_trace_test import Trace, why_no_trace
from program import Test, run, run_without_space
from named import NAMED  # tests/fixtures/machines, which doctor_runs makes known

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def packed(directory, archive, kind):
    with tarfile.open(archive, "w", format=FORMATS[kind]) as tar:
        tar.add(directory, ".")


# Python before 3.11.4 has no filters, later ones require one.
EXTRACTION = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


class SnapshotArchives(Test):
    def test_archive_has_the_same_findings_as_its_directory(self):
        for tree in (m.server(), m.as_user(), NAMED["vm-h200-1gpu"](), m.without_gpu()):
            with Lent(tree) as directory:
                expected = findings_of(directory)
                for kind in FORMATS:
                    packed(directory, self.file("x.tar"), kind)
                    self.assertEqual(findings_of(self.file("x.tar")), expected, kind)

    def test_reads_gnu_tar_with_a_very_long_name(self):
        name = "/" + "n" * 200 + ".conf"
        tree = m.changed(m.server(), {"/etc/modules-load.d/gpu.conf": None, "/etc/modules-load.d" + name: "nvidia-peermem\n"})
        with Lent(tree) as directory:
            expected = findings_of(directory)
            self.assertEqual({f["state"] for f in expected[1]["peer.autoload"]}, {"ok"})
            for kind in ("gnu", "pax"):
                packed(directory, self.file("x.tar"), kind)
                self.assertEqual(findings_of(self.file("x.tar")), expected, kind)

    def test_damaged_archive_exits_with_4_and_the_position(self):
        path = self.file("x.tar")
        with Lent(m.server()) as directory:
            packed(directory, path, "ustar")
        whole = path.read_bytes()
        with tarfile.open(path) as tar:
            second = tar.getmembers()[1].offset
            end = max(member.offset_data + (member.size + 511) // 512 * 512 for member in tar.getmembers())
        cases = [(whole[:end], f"truncated at byte {end}"), (whole[:100], "truncated at byte 0"), (b"", "truncated at byte 0"),
                 (whole[:second] + b"?" + whole[second + 1:], f"checksum in the header at byte {second}"),
                 (b"\x1f\x8b" + whole, f"gzip -dc {path}"), (b"some words\n" * 100, "as a tar archive: the file ")]
        for content, words in cases:
            path.write_bytes(content)
            ended = run("gdrkit", "doctor", "--root", path)
            self.assertEqual((ended.code, ended.out), (4, ""), words)
            self.assertIn(words, ended.err)

    def test_every_program_reads_a_recording_from_standard_input(self):
        def piped(content, *arguments):
            ended = run("gdrkit", *arguments, input=content, text=False)
            return ended.code, ended.out.decode("latin-1"), ended.err.decode()
        with Lent(m.server()) as directory:
            packed(directory, self.file("x.tar"), "ustar")
            archive = self.file("x.tar").read_bytes()
            for command in (["doctor", "--json"], ["topo", "--json"], ["env", "nccl", "--json"], ["bind", "--gpu", "0", "--dry-run"]):
                for root in ("-", "/dev/stdin"):
                    code, out, err = piped(archive, *command, "--root", root)
                    expected = run("gdrkit", *command, "--root", directory).out.replace(f'"{directory}"', f'"{root}"')
                    self.assertEqual((code, out), (0, expected), err)
            self.assertEqual(piped(archive, "snapshot", "--root", "-", "-")[:2], (0, snapshot("--root", directory)[0].decode("latin-1")))
            self.assertEqual(piped(archive, "doctor", "diff", "-", directory)[0], 0)
            code, out, err = piped(archive, "doctor", "diff", "-", "-")
            self.assertEqual((code, out), (2, ""))
            self.assertIn("cannot read two recordings", err)
        code, out, err = piped(b"", "doctor", "--root", "-")
        self.assertEqual((code, out), (4, ""))
        self.assertIn("truncated at byte 0", err)

    def test_a_terminal_is_rejected_as_a_recording(self):
        ours, theirs = pty.openpty()
        ended = run("gdrkit", "doctor", "--root", "-", stdin=theirs)
        os.close(ours)
        os.close(theirs)
        self.assertEqual(ended.code, 4)
        self.assertIn("from a terminal", ended.err)


def snapshot(*arguments, environment=None, codes=(0, 3)):
    """An archive in bytes, and the printed messages. Exit code 3: some files of this machine could not be read."""
    variables = {"PATH": os.environ["PATH"]} if environment is None else environment
    ended = run("gdrkit", "snapshot", *arguments, "-", env=variables, text=False)
    assert ended.code in codes, (ended.code, ended.err)
    return ended.out, ended.err.decode()


def members(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {"/" + member.name: tar.extractfile(member).read() if member.isfile() else None for member in tar}


class SnapshotRoundTrip(Test):
    def test_recording_keeps_the_findings_of_every_machine(self):
        machines = {**{name: make() for name, make in NAMED.items()}, "server": m.server(), "user": m.as_user(), "without": m.without_gpu()}
        for name, tree in machines.items():
            with self.subTest(name), Lent(tree) as directory:
                archive, _ = snapshot("--root", directory)
                self.file("x.tar").write_bytes(archive)
                self.assertEqual(findings_of(self.file("x.tar")), findings_of(directory))
                if name not in ("server", "legacy-conflict", "container-ok"):
                    continue
                self.assertEqual(snapshot("--root", self.file("x.tar"))[0], archive, "a recording of a recording is itself")
                with tarfile.open(self.file("x.tar")) as tar:
                    tar.extractall(self.file(name), **EXTRACTION)
                self.assertEqual(findings_of(self.file(name)), findings_of(directory))

    def test_this_machine_matches_its_recording(self):
        ended = run("gdrkit", "snapshot", self.file("x.tar"))
        self.assertEqual(ended.code, 3 if "could not be read" in ended.err else 0, ended.err)
        self.assertIn("gdrkit doctor --root", ended.out)
        live, recorded = findings_of("/")[1], findings_of(self.file("x.tar"))[1]
        for check in live:
            self.assertEqual([(f["state"], f["subject"]) for f in live[check]],
                             [(f["state"], f["subject"]) for f in recorded[check]], check)

    def test_two_recordings_of_one_machine_are_the_same_bytes(self):
        with Lent(m.server()) as directory:
            self.assertEqual(snapshot("--root", directory), snapshot("--root", directory))


class SnapshotList(Test):
    """The checks and a snapshot access the same files, according to a trace."""

    def accessed(self, directory, *arguments):
        """Returns the paths below the directory that were accessed, and those that were opened."""
        trace = Trace(arguments, self.directory, "newfstatat,openat", ("-y", "-s", "4096"))
        seen, opened = set(), set()
        for line in trace.lines:
            found = re.search(r'(newfstatat|openat)\(\d+<(' + re.escape(directory) + r'[^>]*)>, "([^"]+)", (\S*)', line)
            if found is None or found[3] == ".":
                continue
            path = found[2][len(directory):] + "/" + found[3]
            seen.add(path)
            if found[1] == "openat" and "O_PATH" not in found[4]:
                opened.add(path)
        return seen, opened

    def test_list_contains_all_accessed_files(self):
        if why := why_no_trace():
            self.skipTest(why)
        for machine in ("roce-bad", "container-bare", "gb300-datadirect"):
            with Lent(NAMED[machine]()) as directory:
                recorded, contents = self.accessed(directory, "snapshot", "--root", directory, "/dev/null")
                self.assertGreater(len(contents), 50)
                for command in (("doctor",), ("topo",), ("env", "nccl"), ("env", "ucx")):
                    seen, opened = self.accessed(directory, *command, "--root", directory)
                    with self.subTest(f"{machine}: {command}"):
                        self.assertEqual(sorted(opened - contents), [], "add these to the check's Advice::paths")
                        self.assertEqual(sorted(seen - recorded), [], "add these to the check's Advice::paths")

    def test_list_prints_every_path(self):
        ended = run("gdrkit", "snapshot", "--list")
        self.assertEqual(ended.code, 0)
        diag = pathlib.Path(TOP, "diag")
        patterns = []
        for source in (diag / "snapshot" / "paths.def", *diag.glob("doctor/checks/*.cpp")):
            patterns += re.findall(r'(?:^GDRKIT_PATH\(|RecordedPath::Kind::)\w+,\s*"([^"]+)"', source.read_text(encoding="utf-8"), re.M)
        self.assertGreater(len(patterns), 40)
        self.assertIn("/sys/kernel/security/lockdown", patterns)
        for pattern in patterns:
            self.assertIn(" " + pattern + "\n", ended.out)


class SnapshotContent(Test):
    def test_level_probe_adds_results_of_vendor_libraries_or_the_reason(self):
        self.assertIn("/gdrkit/nvml.json", members(snapshot("--level", "cuda")[0]))
        files = members(snapshot("--level", "probe")[0])
        for name in ("nvml", "verbs"):
            document = json.loads(files[f"/gdrkit/{name}.json"])
            self.assertEqual(document["schema"], f"gdrkit.{name}/1")
            self.assertTrue("outcome" not in document or document["reason"], document)
        self.assertNotIn("/gdrkit/verbs.json", members(snapshot()[0]))

    def test_records_known_variables_without_secrets(self):
        harmless = {"NCCL_DEBUG": "INFO", "UCX_TLS": "rc,cuda", "SLURM_LOCALID": "3", "OMPI_MCA_btl": "self"}
        secrets = {"AWS_SECRET_ACCESS_KEY": "canary-1", "SLURM_JWT": "canary-2", "NVIDIA_API_KEY": "canary-3",
                   "CUDA_REGISTRY_TOKEN": "canary-4", "DATABASE_URL": "canary-5", "NCCL_PASSWORD": "canary-6",
                   "PMIX_SECURITY_CREDENTIAL": "canary-7", "HOME": "/canary-8", "USER": "canary-9",
                   "MY_NCCL_DEBUG": "canary-10", "HF_TOKEN": "canary-11", "SSH_AUTH_SOCK": "canary-12",
                   "OMPI_MCA_oob_password": "canary-13"}
        archive, _ = snapshot(environment={**harmless, **secrets})
        environ = members(archive)["/proc/self/environ"].split(b"\0")
        self.assertEqual(sorted(environ), sorted([b""] + [f"{n}={v}".encode() for n, v in harmless.items()]))
        for text in (b"canary", b"HF_TOKEN", b"API_KEY"):
            self.assertNotIn(text, archive)

    def test_records_home_only_if_it_has_library_files(self):
        with tempfile.TemporaryDirectory() as home:
            self.assertNotIn(home.encode(), snapshot(environment={"HOME": home, "NCCL_DEBUG": "INFO"})[0])
            pathlib.Path(home, ".nccl.conf").write_text("NCCL_IB_HCA=mlx5_0\n", encoding="ascii")
            pathlib.Path(home, "diary").write_text("canary\n", encoding="ascii")
            archive, _ = snapshot(environment={"HOME": home})
            self.assertEqual(members(archive)["/proc/self/environ"], f"HOME={home}\0".encode())
            self.assertEqual(members(archive)[home + "/.nccl.conf"], b"NCCL_IB_HCA=mlx5_0\n")
            self.assertNotIn(b"canary", archive)

    def test_excludes_processes_and_descriptors(self):
        archive, _ = snapshot()
        for path in members(archive):
            self.assertNotRegex(path, r"^/proc/(\d+|self/fd)(/|$)")
            self.assertNotIn(path, ("/dev/stdin", "/dev/stdout", "/dev/fd"))

    def test_unreadable_files_are_reported(self):
        guid = "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0"
        with Lent(m.changed(m.server(), {guid: m.UNREADABLE, "/etc/modules-load.d/large.conf": "x" * (1 << 22) + "\n"})) as directory:
            archive, message = snapshot("--root", directory, codes=(3,))
        listed = members(archive)["/gdrkit-recording"].decode()
        self.assertIn(f"unreadable {guid}\n", listed)
        self.assertIn("unreadable /etc/modules-load.d/large.conf\n", listed)
        self.assertRegex(message, r"gdrkit snapshot: 2 of \d+ files could not be read: /etc/modules-load\.d/large\.conf, " + re.escape(guid) + "\n")
        with Lent(m.server()) as directory:
            self.assertNotIn("could not be read", snapshot("--root", directory, codes=(0,))[1])

    def test_recording_again_keeps_missing_files_missing(self):
        ended = run_on(m.changed(m.server(), {"/proc/self/limits": m.UNREADABLE}), "snapshot", self.file("x.tar"))
        self.assertEqual((ended.code, os.listdir(self.directory)), (3, ["x.tar"]))
        self.assertIn("1 of ", ended.err)
        again = run("gdrkit", "snapshot", "--root", self.file("x.tar"), self.file("y.tar"))
        self.assertEqual((again.code, again.err), (3, ended.err))

    def test_reads_files_without_a_size_to_the_end(self):
        text = members(snapshot()[0])["/proc/cpuinfo"]
        self.assertEqual(text.count(b"processor"), pathlib.Path("/proc/cpuinfo").read_bytes().count(b"processor"))


class SnapshotJson(Test):
    def test_json_matches_the_text(self):
        path = str(self.file("x.tar"))
        with Lent(m.as_user()) as directory:
            ended = run("gdrkit", "snapshot", "--root", directory, path)
            read, total, size = re.search(r"read (\d+) of (\d+) files; the archive has (\d+) bytes", ended.out).groups()
            document, again = self.json_of("snapshot", "--root", directory, "--redact", "--force", path, code=ended.code)
            self.assertEqual(document["schema"], "gdrkit.snapshot/1")
            self.assertEqual((document["root"], document["archive"], document["level"]), (directory, path, "quick"))
            self.assertTrue(document["is_redacted"])
            self.assertEqual((document["files"], document["files"] + len(document["missed"])), (int(read), int(total)))
            self.assertEqual(document["bytes"], os.path.getsize(path))
            self.assertEqual((document["exit_code"], again.err), (ended.code, ended.err))
            self.assertEqual(size, str(len(snapshot("--root", directory)[0])))

    def test_lists_unreadable_files(self):
        with Lent(m.changed(m.server(), {"/proc/self/limits": m.UNREADABLE})) as directory:
            document, _ = self.json_of("snapshot", "--root", directory, self.file("x.tar"), code=3)
        self.assertEqual(document["missed"], ["/proc/self/limits"])
        self.assertEqual(document["exit_code"], 3)

    def test_document_and_archive_are_two_files(self):
        path = self.file("x.tar")
        ended = run_on(m.server(), "snapshot", "-", "--json")
        self.assertEqual((ended.code, ended.out), (2, ""))
        self.assertIn("cannot write both the archive and --json to standard output", ended.err)
        ended = run_on(m.server(), "snapshot", path, f"--json={self.directory}/../{os.path.basename(self.directory)}/x.tar")
        self.assertEqual((ended.code, os.listdir(self.directory)), (2, []))
        ended = run_on(m.server(), "snapshot", path, f"--json={self.directory}/x.json")
        self.assertIn("the archive has", ended.out)
        document = json.loads(self.file("x.json").read_text(encoding="utf-8"))
        self.assertEqual(document["bytes"], path.stat().st_size)

    def test_list_as_json_matches_the_text(self):
        document, _ = self.json_of("snapshot", "--list")
        self.assertEqual(document["schema"], "gdrkit.snapshot-list/1")
        text = run("gdrkit", "snapshot", "--list").out
        listed = re.findall(r"(?m)^(content|name|setpci|variables) +(\S.*)\n +(.*)$", text)
        self.assertEqual([(path["kind"], path["pattern"], path["purpose"]) for path in document["paths"]], listed)
        self.assertEqual(text.splitlines()[-1].split(), document["variables"])


class SnapshotFile(Test):
    def test_keeps_an_existing_file_without_force(self):
        path = self.file("x.tar")
        path.write_text("mine", encoding="ascii")
        ended = run_on(m.server(), "snapshot", path)
        self.assertEqual((ended.code, ended.out), (2, ""))
        self.assertIn("--force", ended.err)
        self.assertEqual(path.read_text(encoding="ascii"), "mine")
        self.assertEqual(run_on(m.server(), "snapshot", path, "--force").code, 0)
        self.assertTrue(tarfile.is_tarfile(path))
        self.assertEqual(os.listdir(self.directory), ["x.tar"])

    def test_exit_codes_distinguish_usage_disk_and_recording_errors(self):
        self.assert_wrong_usage(["snapshot"], ((), ("a", "b"), ("/nowhere/at/all/x.tar",), (self.directory,), ("--root",)))
        ended = run("gdrkit", "snapshot", "--root", "/nowhere", self.file("x.tar"))
        self.assertEqual((ended.code, os.listdir(self.directory)), (4, []))
        self.assertEqual(run_on(m.server(), "snapshot", "/dev/full").code, 1)

    def test_failed_write_leaves_no_file(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        ended = run_on(m.server(), "snapshot", self.file("x.tar"), preexec_fn=limited)
        self.assertEqual((ended.code, ended.out, os.listdir(self.directory)), (1, "", []), ended.err)
        self.assertIn("cannot write " + self.directory, ended.err)

    def test_full_disk_leaves_no_file(self):
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", self.directory], capture_output=True, check=False).returncode != 0:
            self.skipTest("only root mounts a small file system")
        try:
            ended = run_on(m.server(), "snapshot", self.file("x.tar"))
            self.assertEqual((ended.code, os.listdir(self.directory)), (1, []))
            self.assertIn("No space left on device", ended.err)
        finally:
            subprocess.run(["umount", self.directory], check=True)

    def test_unwritable_output_is_an_error(self):
        with Lent(m.server()) as directory:
            ended = run_without_space("gdrkit", "snapshot", "--root", directory, "-")
        self.assertEqual(ended.code, 1)
        self.assertIn("cannot write the output", ended.err)


def states(found):
    return {check: [finding["state"] for finding in each] for check, each in found.items()}


class SnapshotRedaction(Test):
    SECRETS = {"host": "frost17", "domain": "cluster.example.org", "user": "wanda", "guid": "b83f:d203:0012:4c6e",
               "subnet": "2a01:04f8:0123:4567", "mac": "b8:3f:d2:12:4c:6e", "uuid": "d2a1f0c3-5b7e-4c19-9f0e-1a2b3c4d5e6f",
               "serial": "1653923001234", "address": "10.31.7.42", "public": "93.184.216.34", "short": "2a01:4f8:123::17",
               "job": "frost-train", "project": "/scratch/wanda-thesis", "card": "\x1b\x9d\x22\x31\x44\x5a\x66\x77"}

    def tree(self):
        s = self.SECRETS
        port = "/sys/class/infiniband/mlx5_0/ports/1"
        nvml = {"schema": "gdrkit.nvml/1", "outcome": "absent", "reason": f"GPU-{s['uuid']}, \"serial\": \"{s['serial']}\", {s['host']}"}
        space = bytearray(m.config(acs=0))
        space[0x140 + 2:0x140 + 4] = (1 | 0x300 << 4).to_bytes(2, "little")
        space[0x300:0x30c] = (0x0003 | 1 << 16).to_bytes(4, "little") + s["card"].encode("latin-1")
        environ = {"USER": s["user"], "HOME": "/home/" + s["user"], "SLURM_JOB_USER": s["user"], "SLURM_LOCALID": "0",
                   "SLURM_JOB_NAME": s["job"], "SLURM_SUBMIT_DIR": s["project"], "SLURM_NODELIST": s["host"] + "-[1-9]",
                   "NCCL_COMM_ID": s["address"] + ":4000", "NCCL_SOCKET_IFNAME": "mlx5_0", "UCX_TLS": "rc,cuda,sm,self"}
        log = (f"12.5 mlx5_core 0000:04:00.0: {s['host']} port guid {s['guid']}, mac {s['mac']}, {s['short']}\n"
               f"13.0 NVRM: GPU at PCI:0000:03:00: GPU-{s['uuid']}\n13.1 NVRM: GPU Board Serial Number: {s['serial']}\n"
               f"14.0 systemd: session of {s['user']} from {s['public']}, build wanda@{s['host']}.{s['domain']}\n")
        return m.changed(m.server(), {
            "/proc/sys/kernel/hostname": s["host"] + "." + s["domain"] + "\n", "/etc/hostname": s["host"] + "\n",
            "/sys/class/infiniband/mlx5_0/node_guid": s["guid"] + "\n", "/sys/class/infiniband/mlx5_0/node_desc": s["host"] + " mlx5_0\n",
            port + "/gids/0": "fe80:0000:0000:0000:" + s["guid"] + "\n", port + "/gids/1": s["subnet"] + ":" + s["guid"] + "\n",
            port + "/gids/2": "0000:0000:0000:0000:0000:ffff:0a1f:072a\n", port + "/gids/3": "0000:" * 7 + "0000\n",
            "/sys/class/net/ib0/address": s["mac"] + "\n", "/sys/class/net/enxb83fd2124c6e/address": s["mac"] + "\n",
            m.NIC + "/config": bytes(space),
            "/proc/cmdline": f"BOOT_IMAGE=/vmlinuz root=UUID={s['uuid']} ip={s['address']}:::: ro\n",
            "/proc/mounts": f"tmpfs /dev/shm tmpfs rw 0 0\n{s['host']}:/export {s['project']} nfs rw,addr={s['address']} 0 0\n",
            "/home/wanda/.nccl.conf": "NCCL_DEBUG=INFO\n", "/proc/self/environ": "".join(f"{n}={v}\0" for n, v in environ.items()),
            "/gdrkit/nvml.json": json.dumps(nvml) + "\n", "/gdrkit/kernel_log": log})

    def test_removes_original_identifiers_and_keeps_findings(self):
        with Lent(self.tree()) as directory:
            plain, _ = snapshot("--root", directory)
            archive, _ = snapshot("--root", directory, "--redact")
            again, _ = snapshot("--root", directory, "--redact")
            self.file("x.tar").write_bytes(archive)
            expected, found = findings_of(directory), findings_of(self.file("x.tar"))
        hidden = set(self.SECRETS.values()) | {"b83fd2124c6e", "0a1f:072a"}
        for secret in hidden - {"wanda-thesis"}:
            self.assertNotIn(secret.encode("latin-1"), archive, secret)
        for name in ("host", "user", "guid", "mac", "uuid", "serial", "address", "card"):
            self.assertIn(self.SECRETS[name].encode("latin-1"), plain, "the recording itself has it, or nothing was shown")
        self.assertNotEqual(archive, again, "each archive has a salt of its own")
        self.assertEqual((expected[0], states(expected[1])), (found[0], states(found[1])))

    def test_keeps_equality_and_format_of_identifiers(self):
        with Lent(self.tree()) as directory:
            files = {path: content.decode("latin-1").strip("\n") for path, content in
                     members(snapshot("--root", directory, "--redact")[0]).items() if content is not None}
        port = "/sys/class/infiniband/mlx5_0/ports/1/gids/"
        guid = files["/sys/class/infiniband/mlx5_0/node_guid"]
        self.assertRegex(guid, r"^([0-9a-f]{4}:){3}[0-9a-f]{4}$")
        self.assertEqual(files[port + "0"], "fe80:0000:0000:0000:" + guid)
        self.assertRegex(files[port + "1"], r"^2a01:([0-9a-f]{4}:){3}" + guid + "$")
        self.assertRegex(files[port + "2"], r"^(0000:){5}ffff:0a[0-9a-f]{2}:[0-9a-f]{4}$")
        self.assertEqual(files[port + "3"], "0000:" * 7 + "0000")
        host = files["/etc/hostname"]
        self.assertRegex(host, r"^host-[0-9a-f]{8}$")
        self.assertEqual(files["/sys/class/infiniband/mlx5_0/node_desc"], host + " mlx5_0")
        log = files["/gdrkit/kernel_log"]
        self.assertIn(guid, log)
        self.assertIn(f"0000:04:00.0: {host} port", log)
        self.assertIn(files["/sys/class/net/ib0/address"], log)
        uuid = re.search(r"root=UUID=([0-9a-f-]{36}) ", files["/proc/cmdline"])[1]
        self.assertIn("GPU-" + uuid, log)
        self.assertIn("GPU-" + uuid, files["/gdrkit/nvml.json"])
        number = [int(part) for part in re.search(r"ip=([0-9.]+):", files["/proc/cmdline"])[1].split(".")]
        self.assertEqual(files[port + "2"][-9:], "{:02x}{:02x}:{:02x}{:02x}".format(*number))
        self.assertEqual(len([path for path in files if re.match(r"^/sys/class/net/enx[0-9a-f]{12}/address$", path)]), 1)
        self.assertEqual(len([path for path in files if re.match(r"^/home/user-[0-9a-f]{8}/\.nccl\.conf$", path)]), 1)
        environ = dict(line.split("=", 1) for line in files["/proc/self/environ"].split("\0") if line)
        self.assertEqual((environ["UCX_TLS"], environ["SLURM_LOCALID"]), ("rc,cuda,sm,self", "0"))
        self.assertRegex(environ["SLURM_NODELIST"], "^redacted-[0-9a-f]{8}$")
        self.assertTrue(any(path.startswith(environ["HOME"] + "/") for path in files))
        self.assertEqual(files["/proc/mounts"], "tmpfs /dev/shm tmpfs rw 0 0")

    def test_redacts_other_spellings_and_files_with_nul_bytes(self):
        s = self.SECRETS
        bare = s["mac"].replace(":", "")
        library = b"\x7fELF\0/home/wanda/src/x.c\0end"
        tree = m.changed(self.tree(), {
            "/proc/cmdline": f"ro BOOTIF=01-{s['mac'].replace(':', '-')} mac={bare.upper()} nfsroot=fs1.{s['domain']}:/srv "
                             "rd.password=hunter2\n",
            "/sys/class/infiniband/mlx5_0/node_desc": s["host"].upper() + "-ib0 mlx5_0\n",
            "/etc/nccl.conf": f"NCCL_DEBUG_FILE=/scratch/{s['user']}_tmp/x\n# {s['address']}\n\0{s['host']} {s['mac']}\n",
            "/proc/self/mountinfo": f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n33 22 0:44 / /data rw - nfs filer.{s['domain']}:/x rw\n",
            "/proc/mounts": "filer9:/x / nfs rw 0 0\nfiler8:/y /a\\040/dev nfs rw 0 0\n",
            "/proc/net/route": "Iface\tDestination\tGateway\tFlags\nib0\t00000000\t01071F0A\t0003\n",
            "/proc/net/ipv6_route": "2a0104f80123456700000000000000a7 40 " + "0" * 32 + " 00 ib0\n",
            "/lib/x86_64-linux-gnu/libmlx5.so.1": library, "/etc/ld.so.conf": "/lib/x86_64-linux-gnu\n"})
        with Lent(tree) as directory:
            archive, _ = snapshot("--root", directory, "--redact")
        files = members(archive)
        for secret in (s["host"], s["user"], s["domain"], s["address"], bare, s["mac"].replace(":", "-"), "hunter2", "filer.", "filer8",
                       "01071f0a", "2a0104f801234567"):
            self.assertNotIn(secret.encode(), archive.lower(), secret)
        self.assertEqual(files["/proc/self/mountinfo"], b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n")
        self.assertIn(b"ib0\t00000000\t", files["/proc/net/route"], "the way out is still there")
        self.assertEqual(files["/lib/x86_64-linux-gnu/libmlx5.so.1"], library.replace(b"wanda", b"xxxxx"))

    def test_keeps_findings_of_other_machines(self):
        for name in ("roce-bad", "container-ok", "vm-azure-8x", "gb300-datadirect", "aws-p5-efa", "legacy-conflict"):
            with self.subTest(name), Lent(NAMED[name]()) as directory:
                self.file("x.tar").write_bytes(snapshot("--root", directory, "--redact")[0])
                expected, found = findings_of(directory), findings_of(self.file("x.tar"))
                self.assertEqual((expected[0], states(expected[1])), (found[0], states(found[1])))


class DoctorDiff(Test):
    def test_exits_with_0_if_equal_and_reports_drift_with_1(self):
        drifted = m.changed(m.server(), {m.NIC + "/current_link_width": "8\n", "/sys/module/gdrdrv/version": "2.3\n"})
        with Lent(m.server()) as one, Lent(m.server()) as same, Lent(drifted) as other:
            equal = run("gdrkit", "doctor", "diff", one, same)
            self.assertEqual((equal.code, equal.lines[-1]), (0, "0 differences"))
            ended = run("gdrkit", "doctor", "diff", one, other, "--json")
            document = json.loads(ended.out)
            text = run("gdrkit", "doctor", "diff", one, other)
        self.assertEqual((ended.code, document["schema"], text.code), (1, "gdrkit.doctor-diff/1", 1))
        found = {(each["id"], each["subject"]): each for each in document["differences"]}
        width = found[("pcie.width", "0000:04:00.0")]
        self.assertEqual([f["state"] for f in width["a"]], ["ok"])
        self.assertNotEqual([f["state"] for f in width["b"]], ["ok"])
        self.assertIn("2.3", found[("gdr.version", "gdrdrv")]["b"][0]["text"])
        self.assertIn("pcie.width 0000:04:00.0", text.lines)

    def test_facts_not_read_on_a_live_machine_are_not_differences(self):
        with Lent(m.server()) as one:
            document = json.loads(run("gdrkit", "doctor", "diff", "/", one, "--json").out)
            text = run("gdrkit", "doctor", "diff", one, "/")
        self.assertIn("gpu.mig", document["not_compared"])
        self.assertEqual({each["id"] for each in document["differences"]} & set(document["not_compared"]), set())
        self.assertIn(f"{len(document['not_compared'])} checks were not compared: add --level probe", text.lines)
        self.assertEqual(run("gdrkit", "doctor", "diff", one, "/", "--level", "deep").code, 2)

    def test_ignores_different_counter_values(self):
        counted = m.changed(m.server(), {m.GPU + "/aer_dev_correctable": "RxErr 3\nTOTAL_ERR_COR 3\n"})
        with Lent(m.server()) as one, Lent(counted) as other:
            self.assertEqual(run("gdrkit", "doctor", "diff", one, other, "--only", "pcie.aer").code, 0)

    def test_exit_codes_distinguish_usage_and_recording_errors(self):
        for arguments in (("a",), (), ("a", "b", "c"), ("/", "/", "--short")):
            self.assertEqual(run("gdrkit", "doctor", "diff", *arguments).code, 2, arguments)
        self.assertEqual(run("gdrkit", "doctor", "diff", "/nowhere", "/").code, 4)


if __name__ == "__main__":
    unittest.main()
