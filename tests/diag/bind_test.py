#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit bind: places on written machines, errors, and a real start on this machine's processors; machines with many processors."""
import json
import os
import pathlib
import re
import stat
import subprocess
import tempfile
import unittest

from doctor_runs import Lent, m
from named import NAMED
from parts import gpu_directories
from program import BIN, Test, run

RANKS = ("GDRKIT_SHMEM_LOCAL_INDEX", "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "PMI_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID",
         "LOCAL_RANK", "SLURM_LOCALID", "FLUX_TASK_LOCAL_ID", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "UCX_NET_DEVICES", "SLURM_STEP_GPUS",
         "SLURM_JOB_GPUS")
EVERYWHERE = {"/proc/self/status": m.status(processors="0-223")}
DGX = m.changed(NAMED["dgx-h100-ok"](), EVERYWHERE)


def bind(directory, *arguments, **variables):
    environment = {name: value for name, value in os.environ.items() if name not in RANKS}
    return subprocess.run([os.path.join(BIN, "gdrkit"), "bind", "--root", directory, *arguments], env={**environment, **variables},
                          capture_output=True, text=True, timeout=120, check=False)


def place(ended):
    """The lines of --dry-run by their first word."""
    return {line.split()[0]: line[9:] for line in ended.stdout.splitlines()}


def place_on(tree, *arguments, **variables):
    """Returns the place that --dry-run prints on a machine."""
    with Lent(tree) as directory:
        return place(bind(directory, "--dry-run", *arguments, **variables))


def own_cpus():
    return sorted(os.sched_getaffinity(0))


def as_list(cpus):
    return ",".join(str(cpu) for cpu in cpus)


class BindTest(Test):
    def assert_refused(self, ended, code, part):
        self.assertEqual((ended.returncode, ended.stdout), (code, ""))
        self.assertIn(part, ended.stderr)


class BindOrUnbound(Test):
    def test_or_unbound_starts_the_program_without_a_gpu(self):
        with tempfile.TemporaryDirectory() as directory:
            refused = bind(directory, "--gpu", "0", "--", "echo", "started")
            self.assertEqual((refused.returncode, refused.stdout), (77, ""))
            ended = bind(directory, "--gpu", "0", "--or-unbound", "--", "echo", "started")
            self.assertEqual((ended.returncode, ended.stdout), (0, "started\n"))
            self.assertEqual(ended.stderr, refused.stderr.rstrip("\n") + "; the program starts unbound\n")
            self.assertEqual(bind(directory, "--gpu", "0", "--or-unbound", "--dry-run", "--", "echo").returncode, 77)

    def test_gdrkits_launcher_takes_precedence(self):
        found = place_on(DGX, GDRKIT_SHMEM_LOCAL_INDEX="3", OMPI_COMM_WORLD_LOCAL_RANK="5")
        self.assertIn("GDRKIT_SHMEM_LOCAL_INDEX=3", found["gpu"])


class BindPlaces(BindTest):
    def test_eight_ranks_get_14_cores_and_the_nearest_adapter(self):
        with Lent(DGX) as directory:
            for rank in range(8):
                ended = bind(directory, "--dry-run", OMPI_COMM_WORLD_LOCAL_RANK=str(rank))
                self.assertEqual(ended.returncode, 0, ended.stderr)
                found = place(ended)
                first = 14 * rank
                self.assertEqual(found["cpus"], f"{first}-{first + 13},{first + 112}-{first + 125}")
                self.assertEqual(found["memory"], f"node {rank // 4}")
                self.assertEqual(found["adapter"], f"mlx5_{rank}:1, PIX")
                self.assertEqual(found["set"], f"UCX_NET_DEVICES=mlx5_{rank}:1")

    def test_json_matches_the_text(self):
        with Lent(DGX) as directory:
            arguments = ("--dry-run", "--gpu", "4", "--reserve-irq")
            text = place(bind(directory, *arguments))
            ended = bind(directory, *arguments, "--json", "--", "app", "-x")
            document = json.loads(ended.stdout)
            self.assertEqual((document["schema"], document["root"]), ("gdrkit.bind/1", directory))
            self.assertEqual(f"{document['gpu']} {document['pci_address']}, by {document['chosen_by']}", text["gpu"])
            self.assertEqual((document["cpus"], document["reserved"]), (text["cpus"], text["free"]))
            self.assertEqual(f"node {document['memory_node']}", text["memory"])
            self.assertEqual(f"{document['adapter']}, {document['nearness']}", text["adapter"])
            self.assertEqual([f"{name}={value}" for name, value in document["set"].items()], [text["set"]])
            self.assertEqual(document["program"], ["app", "-x"])
            with tempfile.TemporaryDirectory() as other:
                ended = bind(directory, *arguments, f"--json={other}/place.json")
                self.assertEqual(place(ended), text)
                self.assertEqual(json.loads(pathlib.Path(other, "place.json").read_text(encoding="utf-8")), {**document, "program": []})

    def test_a_reserved_core_is_the_first_of_the_slice(self):
        found = place_on(DGX, "--reserve-irq", "--gpu", "4")
        self.assertEqual((found["free"], found["cpus"]), ("56,168", "57-69,169-181"))

    def test_divides_a_subset_of_cpus_and_rejects_a_disjoint_set(self):
        for processors, gpu, cpus in (("0-7,112-119", "1", "2-3,114-115"), ("50-60", "0", "50"), ("50-60", "3", "54-55")):
            with Lent(m.changed(DGX, {"/proc/self/status": m.status(processors=processors)})) as directory:
                self.assertEqual(place(bind(directory, "--dry-run", "--gpu", gpu))["cpus"], cpus)
                if processors != "50-60":
                    self.assert_refused(bind(directory, "--dry-run", "--gpu", "5"), 1,
                                        "this process may not use any of the CPUs near the GPU (56-111,168-223)")

    def test_keeps_variables_that_are_set(self):
        self.assertNotIn("set", place_on(DGX, "--gpu", "0", UCX_NET_DEVICES="all"))
        self.assertNotIn("set", place_on(DGX, "--gpu", "0", "--no-env"))
        self.assertNotIn("set", place_on(m.changed(DGX, {"/etc/ucx/ucx.conf": "UCX_NET_DEVICES=all\n"}), "--gpu", "0"))

    def test_ucx_selects_between_equally_near_adapters(self):
        found = place_on(m.server(), "--gpu", "0")
        self.assertIn("PIX", found["adapter"])
        self.assertNotIn("set", found)

    def test_only_the_gpus_of_the_container_are_counted(self):
        address = gpu_directories(DGX)[5].rsplit("/", 1)[1]
        tree = {**DGX, f"/proc/driver/nvidia/gpus/{address}/information": "Model: NVIDIA H100\nGPU UUID: \t GPU-5\n"}
        with Lent(tree) as directory:
            found = place(bind(directory, "--dry-run", LOCAL_RANK="0"))
            ended = bind(directory, "--dry-run", LOCAL_RANK="1")
        self.assertTrue(found["gpu"].startswith("GPU5 " + address), found)
        self.assertEqual(found["cpus"], "56-111,168-223")
        self.assertEqual(ended.returncode, 2)


class BindChoice(BindTest):
    def setUp(self):
        written = Lent({**DGX, **{f"/proc/driver/nvidia/gpus/{path.rsplit('/', 1)[1]}/information": f"GPU UUID: \t GPU-{index}abc\n"
                                  for index, path in enumerate(gpu_directories(DGX))}})
        self.directory = written.__enter__()
        self.addCleanup(written.__exit__)

    def gpu(self, **variables):
        ended = bind(self.directory, "--dry-run", **variables)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return place(ended)["gpu"].split()[0]

    def test_constrained_slurm_job_is_bound_near_its_gpu(self):
        job = {"SLURM_LOCALID": "0", "SLURM_STEP_GPUS": "5", "SLURM_JOB_GPUS": "5", "CUDA_VISIBLE_DEVICES": "0"}
        found = place(bind(self.directory, "--dry-run", **job))
        self.assertEqual((found["gpu"].split()[0], found["adapter"].split(",")[0]), ("GPU5", "mlx5_5:1"))
        self.assertIn("SLURM_LOCALID=0 in SLURM_STEP_GPUS=5", found["gpu"])
        self.assertEqual(self.gpu(**{**job, "SLURM_LOCALID": "2", "SLURM_STEP_GPUS": "4,5,6,7", "CUDA_VISIBLE_DEVICES": "0,1,2,3"}), "GPU6")
        self.assertEqual(self.gpu(**{**job, "CUDA_VISIBLE_DEVICES": "GPU-5abc"}), "GPU5")

    def test_conflicting_variables_leave_the_program_unbound(self):
        for variables, part in (({"SLURM_STEP_GPUS": "1,2", "CUDA_VISIBLE_DEVICES": "1"}, "only those of SLURM_STEP_GPUS=1,2"),
                                ({"SLURM_STEP_GPUS": "5", "CUDA_VISIBLE_DEVICES": "3"}, "is not in SLURM_STEP_GPUS=5")):
            with self.subTest(variables):
                self.assert_refused(bind(self.directory, "--dry-run", SLURM_LOCALID="0", **variables), 2, part)
            unbound = bind(self.directory, "--or-unbound", "--", "env", SLURM_LOCALID="0", **variables)
            self.assertEqual(unbound.returncode, 0, unbound.stderr)
            self.assertNotIn("UCX_NET_DEVICES", unbound.stdout)

    def test_container_counts_gpus_with_device_nodes(self):
        tree = m.changed(DGX, {f"/dev/nvidia{index}": None for index in range(8) if index not in (3, 6)})
        for index, path in enumerate(gpu_directories(tree)):
            tree[f"/proc/driver/nvidia/gpus/{path.rsplit('/', 1)[1]}/information"] = f"GPU UUID: \t GPU-{index}\nDevice Minor: \t {index}\n"
        with Lent(tree) as directory:
            self.assertEqual(place(bind(directory, "--dry-run", LOCAL_RANK="0"))["gpu"].split()[0], "GPU3")
            self.assertEqual(place(bind(directory, "--dry-run", LOCAL_RANK="0", CUDA_VISIBLE_DEVICES="1"))["gpu"].split()[0], "GPU6")
            self.assertIn("only 2 GPUs", bind(directory, "--dry-run", LOCAL_RANK="2").stderr)
            self.assertIn("cannot open", bind(directory, "--dry-run", LOCAL_RANK="0", CUDA_VISIBLE_DEVICES="GPU-5").stderr)

    def test_rejects_ranks_beyond_the_gpus_unless_wrapping_is_enabled(self):
        for variables, part in (({"LOCAL_RANK": "8"}, "only 8 GPUs"),
                                ({"LOCAL_RANK": "1", "CUDA_VISIBLE_DEVICES": "0"}, "only 1 GPU (CUDA_VISIBLE_DEVICES)"),
                                ({}, "cannot find the local rank"), ({"LOCAL_RANK": "x"}, "is not a rank"),
                                ({"LOCAL_RANK": "0", "CUDA_VISIBLE_DEVICES": ""}, "hides all GPUs"),
                                ({"LOCAL_RANK": "0", "CUDA_VISIBLE_DEVICES": "MIG-1"}, "--gpu N")):
            with self.subTest(variables):
                self.assert_refused(bind(self.directory, "--dry-run", **variables), 2, part)
        self.assertEqual(place(bind(self.directory, "--dry-run", "--wrap", LOCAL_RANK="9"))["gpu"].split()[0], "GPU1")

    def test_rejects_wrong_usage(self):
        for arguments, part in ((("--gpu", "8", "--dry-run"), "this machine has 8 GPUs, numbered from 0"),
                                (("--gpu", "-1", "--dry-run"), "8 GPUs, numbered from 0"),
                                (("--gpu", "0", "echo"), "'echo' before --"), (("--gpu", "0"), "the program is missing"),
                                (("--gpu", "0", "--"), "the program is missing"), (("--unknown", "--", "echo"), "--unknown")):
            with self.subTest(arguments):
                self.assert_refused(bind(self.directory, *arguments), 2, part)
        self.assertEqual(bind("/nothing/there", "--gpu", "0", "--dry-run").returncode, 4)

    def test_reports_conflicting_launchers(self):
        ended = bind(self.directory, "--dry-run", SLURM_LOCALID="0", OMPI_COMM_WORLD_LOCAL_RANK="2")
        self.assertEqual(place(ended)["gpu"].split()[0], "GPU2")
        self.assertIn("using OMPI_COMM_WORLD_LOCAL_RANK=2, not SLURM_LOCALID=0", ended.stderr)

    def test_exits_with_77_without_a_gpu(self):
        with Lent(m.without_gpu()) as directory:
            self.assert_refused(bind(directory, "--dry-run", LOCAL_RANK="0"), 77, "found no NVIDIA GPU among")


class BindStart(BindTest):
    """A GPU near this machine's processors, from a recording."""

    def machine(self, cpus, node="0"):
        return m.changed(m.server(), {m.GPU + "/local_cpulist": as_list(cpus) + "\n", m.GPU + "/numa_node": node + "\n"})

    def start(self, *program, cpus=None, options=(), **variables):
        with Lent(self.machine(cpus or own_cpus())) as directory:
            return bind(directory, "--gpu", "0", *options, "--", *program, **variables)

    def test_program_runs_with_its_binding_and_arguments(self):
        cpu = own_cpus()[-1]
        ended = self.start("sh", "-c", 'grep Cpus_allowed_list /proc/self/status; shift; echo "$@"', "x", "x", "--gpu", "7", "--", "--help", cpus=[cpu])
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout.splitlines(), [f"Cpus_allowed_list:\t{cpu}", "--gpu 7 -- --help"])

    def test_returns_the_exit_code_of_the_program(self):
        self.assertEqual(self.start("sh", "-c", "exit 41").returncode, 41)

    def test_no_variable_of_cuda_is_set(self):
        self.assertNotIn("CUDA_VISIBLE_DEVICES", self.start("env").stdout)

    def test_exits_with_127_or_126_if_the_program_cannot_start(self):
        ended = self.start("/nothing/there")
        self.assertEqual(ended.returncode, 127)
        self.assertIn("/nothing/there", ended.stderr)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("x")
            file.flush()
            os.chmod(file.name, stat.S_IRUSR)
            self.assertEqual(self.start(file.name).returncode, 126)

    def test_disallowed_cpus_are_an_error_before_the_start(self):
        beyond = max(own_cpus()) + 1
        self.assert_refused(self.start("echo", "started", cpus=[beyond]), 1, f"any of the CPUs near the GPU ({beyond})")

    def test_program_starts_despite_unbindable_memory(self):
        with Lent(self.machine(own_cpus(), node="63")) as directory:
            ended = bind(directory, "--gpu", "0", "--", "echo", "started")
        self.assertEqual((ended.returncode, ended.stdout), (0, "started\n"))
        self.assertIn("cannot bind memory to NUMA node 63", ended.stderr)
        with Lent(m.changed(self.machine(own_cpus(), node="63"), {"/sys/devices/system/node/online": "0\n"})) as directory:
            self.assertEqual(bind(directory, "--gpu", "0", "--", "echo", "started").stderr, "")

    def test_json_of_a_program_that_starts_needs_a_file(self):
        self.assert_refused(self.start("echo", "started", options=("--json",)), 2, "cannot write JSON to standard output")
        with tempfile.TemporaryDirectory() as other:
            ended = self.start("echo", "started", options=(f"--json={other}/place.json",))
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "started\n", ""))
            self.assertEqual(json.loads(pathlib.Path(other, "place.json").read_text(encoding="utf-8"))["program"], ["echo", "started"])

    def test_print_writes_the_placement_to_stderr(self):
        ended = self.start("echo", "a b", options=("--print",))
        self.assertEqual(ended.stdout, "a b\n")
        self.assertIn("gpu      GPU0 0000:03:00.0, by --gpu", ended.stderr)
        self.assertIn("program  echo 'a b'", ended.stderr)


class ManyCpus(Test):
    def test_counts_more_cpus_than_a_cpu_set_can_hold(self):
        library = os.path.join(os.path.dirname(BIN), "tests", "bin", "libmany_cpus.so")
        ended = run("gdrkit", "info", environment={"GDRKIT_BACKEND": "emulated", "LD_PRELOAD": library})
        self.assertEqual(ended.code, 0, ended.err)
        self.assertEqual(re.findall(r"(\d+) CPUs,", ended.out), [str(len(os.sched_getaffinity(0)) + 1)])


if __name__ == "__main__":
    unittest.main()
