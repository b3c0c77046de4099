#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The run-time image's files, in a root with the nodes that CDI would pass: what works there, and the text of errors."""
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import container
from image import SOURCE, make_root
from program import IS_FULL, Test, main

sys.path[:0] = [os.path.join(SOURCE, "tests", directory) for directory in ("diag", "fixtures/machines")]

VERSION = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (x@y)  Mon Oct  6 20:18:32 UTC 2025\n"
EMULATED = {"GDRKIT_BACKEND": "emulated"}


class InContainerTest(Test):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="gdrkit-container-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        os.chmod(cls.directory, 0o755)
        cls.root = os.environ.get("GDRKIT_IMAGE_ROOT", "")
        if not cls.root:
            cls.root = os.path.join(cls.directory, "root")
            make_root(cls.root)

    def run_in(self, *command, **job):
        return container.run(self.root, *command, **job)

    def ok(self, *command, **job):
        ended = self.run_in(*command, **job)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout

    def reasons(self, **job):
        """Returns {backend: the reason why it cannot run}."""
        ended = self.run_in("gdrkit", "info", "--json", **job)
        self.assertIn(ended.returncode, (0, 77), ended.stderr)
        return {backend["name"]: backend["reason"] for backend in json.loads(ended.stdout)["backends"]}


class ImageInAContainer(InContainerTest):
    """Without any node, as in a pod that requests no GPU."""

    def test_info_reports_missing_parts_and_remedies(self):
        ended = self.run_in("gdrkit", "info")
        self.assertEqual(ended.returncode, 77, ended.stderr)
        reasons = self.reasons()
        self.assertIn("neither /proc/driver/nvidia/version nor /dev/nvidiactl exists", reasons["rm"])
        self.assertIn("--device /dev/gdrdrv", reasons["gdrdrv"])

    def test_the_emulated_device_works_for_an_ordinary_user_without_capabilities(self):
        status = self.ok("cat", "/proc/self/status")
        self.assertRegex(status, r"NoNewPrivs:\s+1")
        self.assertRegex(status, r"Uid:\s+65534" if os.getuid() == 0 else r"Uid:\s+0")
        document = json.loads(self.ok("gdrkit", "sanity", "--json", environment=EMULATED))
        self.assertEqual(document["failed"], 0)
        self.assertGreater(document["passed"], 20)

    def test_the_doctor_runs_and_detects_the_container(self):
        # The container inherits this process's limits, which are unlimited on some machines.
        ended = self.run_in("sh", "-c", "ulimit -S -l 64 && exec gdrkit doctor --json")
        self.assertIn(ended.returncode, (0, 1, 3), ended.stderr)
        found = {check["id"]: check["findings"] for check in json.loads(ended.stdout)["checks"]}
        self.assertIn("the variable container is set", found["ctr.caps"][0]["text"])
        self.assertEqual(found["ctr.caps"][0]["state"], "warn")
        self.assertEqual([(finding["state"], finding["text"]) for finding in found["lim.shm"]], [("fail", "has at most 64 MiB")])

    def test_drop_in_library_is_in_the_search_path(self):
        for name in ("libgdrapi.so", "libgdrapi.so.2", "libgdrkit.so.0", "libgdrkit_shmem.so.0"):
            ended = self.run_in("true", environment={"LD_PRELOAD": name})
            self.assertEqual((ended.returncode, ended.stderr), (0, ""), name)
        self.assertIn("cannot be preloaded", self.run_in("true", environment={"LD_PRELOAD": "libnone.so"}).stderr)


class NodesInAContainer(InContainerTest):
    """The nodes of a CDI specification. Fake nodes have no driver, so the first ioctl after the open fails."""

    def nodes_of(self, *names):
        """Returns {node: its fake} of these devices of a host with GPUs 2 and 10."""
        import cdi_test
        with tempfile.TemporaryDirectory() as host:
            cdi_test.plant_host(host, minors=(2, 10))
            _, made = cdi_test.specification_of(host)
        devices = {device["name"]: device["containerEdits"] for device in made["devices"]}
        return {node["path"]: "/dev/null" for name in names for node in devices[name]["deviceNodes"]}

    def test_only_the_passed_gpu_of_the_host_is_visible(self):
        nodes = self.nodes_of("gpu10")
        listed = self.ok("ls", "/dev", nodes=nodes, driver=VERSION).split()
        self.assertEqual([name for name in listed if name.startswith("nvidia")],
                         ["nvidia-uvm", "nvidia-uvm-tools", "nvidia10", "nvidiactl"])
        reason = self.reasons(nodes=nodes, driver=VERSION)["rm"]
        self.assertIn("RM_ALLOC of a client: Inappropriate ioctl", reason, "the control node was opened")

    def test_the_error_for_a_driver_without_nodes_has_a_remedy(self):
        reason = self.reasons(driver=VERSION)["rm"]
        self.assertIn("cannot open /dev/nvidiactl: the device file does not exist, although NVIDIA driver 580.159.04 is loaded", reason)
        self.assertIn("--gpus all", reason)
        self.assertIn("--device nvidia.com/gpu=all for CDI", reason)

    def test_a_node_without_permission_is_reported(self):
        nodes = self.nodes_of("gpu2", "gdrdrv")
        reasons = self.reasons(nodes=nodes, unusable=["/dev/nvidiactl", "/dev/gdrdrv"], driver=VERSION)
        self.assertIn("cannot open /dev/nvidiactl: Permission denied", reasons["rm"])
        self.assertIn("cannot open /dev/gdrdrv: Permission denied", reasons["gdrdrv"])

    def test_a_hidden_proc_is_reported_if_the_driver_does_not_respond(self):
        self.assertIn("make /proc/driver visible in this container", self.reasons(nodes=self.nodes_of("gpus"))["rm"])

    def test_gdrdrv_is_opened_if_it_is_passed(self):
        reason = self.reasons(nodes=self.nodes_of("gdrdrv"))["gdrdrv"]
        self.assertIn("cannot read the version of /dev/gdrdrv: the device file has the number", reason, "the node was opened")

    def test_tools_do_not_fall_back_to_the_emulated_device_if_a_gpu_was_passed(self):
        ended = self.run_in("gdrkit", "sanity", nodes=self.nodes_of("gpu2"), driver=VERSION)
        self.assertEqual(ended.returncode, 77, ended.stdout)
        self.assertIn("/dev/nvidia2", ended.stdout + ended.stderr)


class DeniedCallsInAContainer(InContainerTest):
    """System calls that docker's seccomp profile denies, and memfd_create, which stricter profiles deny."""

    def test_programs_work_despite_denied_calls(self):
        calls = [("sanity",), ("info",), ("topo",), ("run", "-n", "2", "--emulated", "--", "gdrkit", "shmem", "check",
                                                                 "-t", "identity")]
        if IS_FULL:
            calls += [("copylat",), ("bench", "--quick"), ("apiperf",), ("bandwidth", "-b", "1")]
        for call in calls:
            with self.subTest(call[0]):
                self.ok("gdrkit", *call, refused=container.DOCKERS_DENIALS, environment=EMULATED)

    def test_the_doctor_runs_at_every_level(self):
        for level in ("quick", "probe"):
            ended = self.run_in("gdrkit", "doctor", "--level", level, refused=container.DOCKERS_DENIALS)
            self.assertIn(ended.returncode, (0, 1, 3), ended.stderr)
            self.assertIn("checks, root /", ended.stdout)

    def test_denied_memory_files_are_reported(self):
        refused = {**container.DOCKERS_DENIALS, "memfd_create": errno.EPERM}
        for command in (("copylat",), ("run", "-n", "2", "--emulated", "--", "gdrkit", "shmem", "check", "-t", "identity")):
            ended = self.run_in("gdrkit", *command, refused=refused, environment=EMULATED)
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn("seccomp profile", ended.stdout + ended.stderr)
            self.assertIn("memfd_create", ended.stdout + ended.stderr)


class KubernetesInAContainer(InContainerTest):
    """The commands of the examples, run as the kubelet does."""

    def setUp(self):
        try:
            import manifests
        except ImportError:
            self.skipTest("PyYAML not found (Debian: python3-yaml)")
        self.pods = {file: manifests.pod_of(document) for file, document in manifests.documents() if manifests.pod_of(document)}

    def test_the_pods_commands_run(self):
        commands = {tuple(self.pods[file]["containers"][0]["command"]) for file in ("no-module.yaml", "gdrdrv.yaml")}
        self.assertEqual(commands, {("gdrkit", "sanity")})  # other tests run this, with and without denied calls
        for command in commands if IS_FULL else ():
            self.assertNotIn("FAILED", self.ok(*command, environment=EMULATED))

    def test_variables_of_the_job_start_two_pes(self):
        pe = self.pods["one-gpu-each.yaml"]["containers"][0]
        variables = {entry["name"]: entry.get("value", "from a field") for entry in pe["env"]}
        variables["GDRKIT_SHMEM_TOKEN"] = "0123456789abcdef0123456789abcdef"
        variables["GDRKIT_SHMEM_ROOT"] = "127.0.0.1:" + variables["GDRKIT_SHMEM_ROOT"].rpartition(":")[2]
        both = 'GDRKIT_SHMEM_PE=1 "$@" & GDRKIT_SHMEM_PE=0 "$@"; first=$?; wait $! && exit $first'
        self.assertIn("2 PEs on", self.ok("sh", "-c", both, "sh", *pe["command"], "-t", "identity", environment={**variables, **EMULATED}))

    def test_the_daemon_writes_metrics_of_its_host_until_it_is_terminated(self):
        from doctor_prom_test import parse
        from doctor_runs import Lent, m
        pod = self.pods["doctor.yaml"]["containers"][0]
        metrics = os.path.join(self.directory, "metrics")
        os.makedirs(metrics, exist_ok=True)
        os.chmod(metrics, 0o777)
        with Lent(m.server()) as host:
            subprocess.run(["chmod", "-R", "a+rX", host], check=True)
            mounts = [(host, "/host", False), (metrics, "/metrics", True)]
            words = container.command_for(self.root, *pod["command"], mounts=mounts, is_root=pod["securityContext"]["runAsUser"] == 0,
                                          environment={**{entry["name"]: entry["value"] for entry in pod["env"]}, "INTERVAL_S": "1"})
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as daemon:
                path, seen = os.path.join(metrics, "gdrkit.prom"), set()
                limit = time.monotonic() + 60
                while len(seen) < 2 and time.monotonic() < limit and daemon.poll() is None:
                    if os.path.exists(path):
                        seen.add(os.stat(path).st_ino)
                        with open(path, encoding="ascii") as file:
                            found = parse(file.read())
                    time.sleep(0.05)
                daemon.terminate()
                output = daemon.communicate(timeout=30)[0]
        self.assertEqual(daemon.returncode, 0, output)
        self.assertEqual(len(seen), 2, "each write must replace the whole file: " + output)
        self.assertEqual(found["gdrkit_doctor_devices"][1][(("kind", "gpu"),)], 1)
        self.assertGreater(len(found["gdrkit_doctor_check"][1]), 90)


if __name__ == "__main__":
    if why := container.why_not():
        print(why)
        sys.exit(77)
    main()
