#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit osu and programs of libgdrkit_shmem under other launchers: torchrun, srun, mpirun around mpi4py."""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from free_ports import free_ports  # pylint: disable=wrong-import-position
import slurm_cluster  # pylint: disable=wrong-import-position
from program import BIN, IS_FULL, Test, wait_for

GDRKIT = os.path.join(BIN, "gdrkit")
SHMEM_LIBRARY = os.path.join(BIN, "..", "lib", "libgdrkit_shmem.so.0")
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's mpi4py
QUICK = ("-m", "4:64", "-i", "5", "-x", "1", "-W", "4", "--timeout", "60")
OF_LAUNCHERS = ("GDRKIT_", "OMPI_", "PMI", "SLURM_", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_")

# A PE that prints its rank in mpi4py and in libgdrkit_shmem.
WHO_AM_I = """
import ctypes, os, sys
from mpi4py import MPI
shmem = ctypes.CDLL(sys.argv[1])
status = shmem.gdrkit_shmem_init(None)
assert status == 0, status
line = f"{MPI.COMM_WORLD.Get_rank()} of {MPI.COMM_WORLD.Get_size()}: PE {shmem.gdrkit_shmem_my_pe()} of {shmem.gdrkit_shmem_n_pes()}\\n"
os.write(1, line.encode())  # one write, because lines of ranks must not mix
shmem.gdrkit_shmem_barrier_all()
shmem.gdrkit_shmem_finalize()
"""


def clean_environment(**variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OF_LAUNCHERS)}
    return {**kept, "GDRKIT_BACKEND": "emulated", **variables}


class Torchrun(Test):
    """torchrun's interface to its workers is their environment."""

    def run_workers(self, ranks, *arguments, **changes):
        port = str(free_ports(2))
        workers = []
        for rank in range(ranks):
            variables = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
                         "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "none",
                         "TORCHELASTIC_RESTART_COUNT": "0", **changes}
            workers.append(subprocess.Popen([GDRKIT, *arguments], env=clean_environment(**variables), stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return [wait_for(worker, 120) for worker in workers]

    def test_the_workers_are_the_ranks(self):
        for ranks, arguments in ((2, ("latency", "--engine", "shmem")), (3, ("allreduce", "--engine", "shmem"))):
            ended = self.run_workers(ranks, "osu", *arguments, *QUICK, "-c")
            self.assertEqual([(worker.code, worker.err) for worker in ended], [(0, "")] * ranks)
            self.assertEqual(ended[0].out.count("Pass"), 5)
            self.assertEqual([worker.out for worker in ended[1:]], [""] * (ranks - 1))

    def test_reports_conflicting_variables(self):
        for changes, text in (({"RANK": "7"}, "the PE number (RANK=7) must be less than the number of PEs (WORLD_SIZE=2)"),
                              ({"MASTER_PORT": "http"}, "invalid MASTER_PORT=http; use a number from 0")):
            for worker in self.run_workers(2, "osu", "latency", "--engine", "shmem", *QUICK, **changes):
                self.assertNotEqual(worker.code, 0)
                self.assertIn(text, worker.err)


class TorchrunItself(Test):
    def test_it_starts_the_ranks(self):
        if shutil.which("torchrun") is None:
            self.skipTest("no torchrun (PyPI: torch)")
        ended = subprocess.run(["torchrun", "--nproc-per-node", "2", "--master-port", str(free_ports(2)), "--no-python", GDRKIT, "osu",
                                "latency", "--engine", "shmem", *QUICK, "-c"], env=clean_environment(), capture_output=True, text=True,
                               timeout=240, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual((ended.returncode, ended.stdout.count("Pass")), (0, 5), ended.stderr)


class MpiForPython(Test):
    def test_pe_equals_the_rank_of_mpi4py(self):
        if subprocess.run([PYTHON, "-c", "import mpi4py"], capture_output=True, check=False).returncode != 0:
            self.skipTest(f"{PYTHON} has no mpi4py (Debian: python3-mpi4py)")
        if shutil.which("mpirun.openmpi") is None:
            self.skipTest("no mpirun.openmpi (Debian: openmpi-bin)")
        # TMPDIR: separate from another mpirun that starts at the same time
        ended = subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "3", PYTHON, "-c", WHO_AM_I,
                                SHMEM_LIBRARY], env=clean_environment(TMPDIR=self.directory), capture_output=True, text=True,
                               timeout=120, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(sorted(ended.stdout.split("\n")), ["", "0 of 3: PE 0 of 3", "1 of 3: PE 1 of 3", "2 of 3: PE 2 of 3"])


class Srun(Test):
    def test_the_tasks_of_a_step_are_the_ranks(self):
        if not IS_FULL:
            self.skipTest("starts a Slurm cluster of one node: ./run test --full")
        why_not = slurm_cluster.why_not()
        if why_not:
            self.skipTest(why_not)
        with slurm_cluster.OneNode() as cluster:
            for more in cluster.process_management:
                ended = cluster.srun("-n", "2", *more, GDRKIT, "osu", "latency", "--engine", "shmem", *QUICK, "-c",
                                     environment=clean_environment())
                self.assertEqual((ended.returncode, ended.stdout.count("Pass")), (0, 5), f"{more}: {ended.stderr}")


if __name__ == "__main__":
    unittest.main()
