#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit osu --engine mpi under mpirun of Open MPI and of MPICH, and its messages if they cannot run."""
import os
import shutil
import subprocess
import tempfile
import time
import unittest

from program import BIN, Test, run, run_pes

GDRKIT = os.path.join(BIN, "gdrkit")
PLUGINS = os.path.join(BIN, "..", "lib", "gdrkit")
PAIRS = ("latency", "bw", "bibw", "put_latency", "put_bw", "put_bibw", "get_latency", "get_bw")
COLLECTIVES = ("allreduce", "alltoall", "bcast", "allgather", "reduce", "gather", "scatter")
FEW = ("-i", "5", "-x", "1", "-W", "4", "--timeout", "60")
QUICK = ("-m", "4:64", *FEW)
# Open MPI rejects root, and more ranks than CPUs, unless these variables are set.
MPIRUN = {"openmpi": ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"), "mpich": ("mpirun.mpich",)}
PACKAGES = {"openmpi": "openmpi-bin and libopenmpi-dev", "mpich": "mpich and libmpich-dev"}
# Open MPI (4 and 5) does not start without an ssh client, although ranks of this machine do not use it: any program works.
NO_SSH = {"OMPI_MCA_plm_rsh_agent": "true", "PRTE_MCA_plm_ssh_agent": "true"}
OF_LAUNCHERS = ("GDRKIT_", "OMPI_", "PMI", "SLURM_")
# In Open MPI 5 waiting ranks yield only if there are fewer CPUs than ranks, but other processes may use the CPUs.
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}


def why_not(mpi):
    if shutil.which(MPIRUN[mpi][0]) is None:
        return f"no {MPIRUN[mpi][0]} (Debian: {PACKAGES[mpi]})"
    if not os.path.exists(os.path.join(PLUGINS, f"gdrkit_osu_{mpi}.so")):
        return f"gdrkit was built without a plug-in for {mpi} (Debian: {PACKAGES[mpi]})"
    return ""


def mpirun(mpi, ranks, *arguments, program=(GDRKIT,), **variables):
    return mpirun_of(mpi, ranks, *program, "osu", *arguments, "--engine", "mpi", **variables)


def mpirun_of(mpi, ranks, *words, **variables):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OF_LAUNCHERS)}
    # If two of Open MPI's mpirun start at the same time, both create the directory for the user's sessions, and one fails.
    with tempfile.TemporaryDirectory() as directory:
        return subprocess.run([*MPIRUN[mpi], "-n", str(ranks), *words],
                              env={**clean, **NO_SSH, **YIELD, "GDRKIT_BACKEND": "emulated", "TMPDIR": directory, **variables},
                              capture_output=True, text=True,
                              timeout=120, check=False, stdin=subprocess.DEVNULL)


def sizes_of(ended):
    return [int(line.split()[0]) for line in ended.stdout.splitlines() if line[:1].isdigit()]


class MpiTest(Test):
    """Tests for every MPI; a subclass has its name, and the line of its version."""
    mpi = ""
    version = ""

    def setUp(self):
        if reason := why_not(self.mpi):
            self.skipTest(reason)

    def run_ranks(self, ranks, *arguments, **options):
        ended = mpirun(self.mpi, ranks, *arguments, **options)
        self.assertEqual(ended.returncode, 0, f"{arguments} {ended.stdout} {ended.stderr}")
        return ended

    def test_every_test_of_two_ranks_has_correct_data(self):
        for name in PAIRS:
            for places in ((), ("D", "D"), *((("H", "D"),) if name == "latency" else ())):
                ended = self.run_ranks(2, name, *places, "-c", "-m", "4:32K", *FEW)
                self.assertEqual((ended.stdout.count("Pass"), sizes_of(ended)), (14, [4 * 2 ** i for i in range(14)]), name)
        for name in ("bw", "bibw"):
            ended = self.run_ranks(2, name, "-c", "-b", "multiple", *QUICK)
            self.assertEqual(ended.stdout.count("Pass"), 5, name)
        self.assertEqual(sizes_of(self.run_ranks(2, "fop_latency", *FEW)), [8])

    def test_runs_on_four_ranks(self):
        for name in ("mbw_mr", "multi_lat", *COLLECTIVES):
            ended = self.run_ranks(4, name, "-c", "-m", "4:16", "-i", "2", "-x", "0", "-W", "4")  # few: ranks poll, and there are few CPUs
            self.assertEqual((ended.stdout.count("Pass"), sizes_of(ended)), (3, [4, 8, 16]), name)
        self.assertRegex(self.run_ranks(4, "barrier", *FEW).stdout, r"(?m)^# Avg Latency\(us\)\n +[0-9]+\.[0-9]{2}$")

    def test_reports_an_invalid_number_of_ranks(self):
        ended = mpirun(self.mpi, 3, "latency")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("latency requires exactly 2 ranks, not 3; use mpirun -n 2 gdrkit osu ...", ended.stderr)

    def test_runs_plain_loops(self):
        """The baseline for measurements runs."""
        for name in ("latency", "bw", "put_latency", "put_bw", "allreduce"):
            ended = mpirun_of(self.mpi, 2, os.path.join(BIN, "..", "tests", "bin", f"mpi_loops_{self.mpi}"), name, "8", "10")
            self.assertEqual((ended.returncode, sizes_of(ended)), (0, [1, 2, 4, 8]), ended.stderr)

    def test_it_prints_its_name(self):
        text = self.run_ranks(2, "latency", *QUICK).stdout
        self.assertRegex(text, r"(?m)^# OSU MPI Latency Test v7\.5 \(gdrkit [0-9.]+, engine mpi\)$")
        self.assertRegex(text, r"(?m)^# Path: " + self.version + r", without CUDA support$")

    def test_uses_a_custom_plugin(self):
        """As docs/transfers.md describes for another MPI of the user."""
        plugin = self.path("own.so")
        source = self.run_ok("gdrkit", "osu", "--mpi-plugin-source").out
        built = subprocess.run([f"mpicc.{self.mpi}", "-O2", "-shared", "-fPIC", "-o", plugin, "-x", "c", "-"], input=source,
                               capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((built.returncode, built.stderr), (0, ""))
        self.run_ranks(2, "bw", "-c", *QUICK, "--mpi-plugin", plugin)

    def peer_that(self, signal):
        """Rank 1 gets the signal in the middle of a long run: the run ends soon, without help."""
        mine = 'case "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" in 1) exec timeout -s ' + signal + ' 5 "$@";; *) exec "$@";; esac'
        begin = time.monotonic()
        ended = mpirun(self.mpi, 2, "latency", "-m", "4:4", "-i", "100000000", "--timeout", "6",
                       program=("sh", "-c", mine, "sh", GDRKIT))
        self.assertNotEqual(ended.returncode, 0)
        self.assertLess(time.monotonic() - begin, 60)
        return ended.stderr

    def test_reports_a_killed_rank(self):
        self.peer_that("KILL")

    def test_reports_a_silent_rank(self):
        self.assertIn("rank 0 of 2: latency of 4 bytes with rank 1 did not complete within 6 s; see the output of the other ranks",
                      self.peer_that("STOP"))


class OsuOpenMpi(MpiTest):
    mpi = "openmpi"
    version = r"Open MPI v[0-9.]+"

    def test_runs_over_tcp(self):
        # Open MPI 5 uses the loopback interface, which may be the only one, only if it is named.
        with_tcp = mpirun("openmpi", 2, "latency", "-c", *QUICK, OMPI_MCA_pml="ob1", OMPI_MCA_btl="tcp,self", OMPI_MCA_btl_tcp_if_include="lo")
        self.assertEqual((with_tcp.returncode, with_tcp.stdout.count("Pass")), (0, 5), with_tcp.stderr)


class OsuMpich(MpiTest):
    mpi = "mpich"
    version = r"MPICH Version: *[0-9.]+"


class OsuMpiRefusals(Test):
    LAUNCHER = "no MPI launcher started this process; start the ranks with mpirun or srun, for example: mpirun -n 2 gdrkit osu latency --engine mpi"

    def test_reports_a_missing_launcher(self):
        ended = run("gdrkit", "osu", "latency", "--engine", "mpi")
        self.assert_failed(ended, 77, self.LAUNCHER)
        self.assertEqual(ended.err.count("\n"), 1)

    def test_reports_a_launcher_without_mpi(self):
        self.assert_failed(run_pes(2, "osu", "latency", "--engine", "mpi"), 77, self.LAUNCHER)

    def test_reports_an_mpi_without_launcher_support(self):
        if reason := why_not("openmpi"):
            self.skipTest(reason)
        ended = run_pes(2, "osu", "latency", "--engine", "mpi", "--mpi-plugin", os.path.join(PLUGINS, "gdrkit_osu_openmpi.so"))
        self.assert_failed(ended, 77, pattern=r"gdrkit osu: Open MPI v[0-9.]+ reports only one rank; start two or more ranks with the mpirun of Open MPI v[0-9.]+\n")

    def test_reports_unusable_plugins(self):
        for plugin, text in (("/nonexistent.so", "cannot load /nonexistent.so: "),
                             (os.path.join(BIN, "..", "tests", "bin", "libstand_in_nccl.so"), "is not a plug-in of gdrkit; to build one for your MPI: gdrkit osu --mpi-plugin-source | mpicc ")):
            ended = run_pes(2, "osu", "latency", "--engine", "mpi", "--mpi-plugin", plugin)
            # Nothing was started: otherwise an MPI with its own PMIx could load that of the processes.
            self.assertEqual((ended.code, ended.out), (77, ""), plugin)
            self.assertIn(text, ended.err)

    def test_reports_a_missing_plugin_for_this_mpi(self):
        """As installed on a machine where gdrkit was built without that MPI."""
        program = self.path("bin", "gdrkit")
        os.mkdir(self.path("bin"))
        shutil.copy(GDRKIT, program)
        shutil.copytree(os.path.join(BIN, "..", "lib"), self.path("lib"), symlinks=True, ignore=shutil.ignore_patterns("gdrkit"))
        for variable, packages in (("OMPI_COMM_WORLD_", PACKAGES["openmpi"]), ("PMI_", PACKAGES["mpich"])):
            ended = run("gdrkit", "run", "-n", "2", "--emulated", "--", "env", f"{variable}RANK=0", f"{variable}SIZE=2", program,
                        "osu", "allreduce", "--engine", "mpi", environment={})
            self.assert_failed(ended, 77, pattern="gdrkit was built without a plug-in for .*" + packages, text=(
                "gdrkit osu --mpi-plugin-source | mpicc -O2 -shared -fPIC -o gdrkit_osu_mpi.so -x c - (then add --mpi-plugin"))


if __name__ == "__main__":
    unittest.main()
