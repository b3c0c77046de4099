# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit.shmem between processes: launchers' environments, mpi4py's communicators, teams, collectives, a PE that dies."""
import shutil
import subprocess
import sys
import tempfile

import pytest
from jobs import expect_each_once, run_all_well, run_job, run_ok

COLLECTIVES = """
import gdrkit.shmem as shmem, struct
with shmem.init() as job:
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    stream = shmem.Stream()
    def numbers(array):
        data = bytearray(array.nbytes)
        shmem.get(data, array, pe)
        return list(struct.unpack(f"={array.size}{array.element.character}", data))
    for on in (None, stream):
        source, target = shmem.zeros(n_pes * 2, "float64"), shmem.zeros(n_pes * 2, "float64")
        shmem.put(source, struct.pack(f"={n_pes * 2}d", *(10 * pe + i for i in range(n_pes * 2))), pe)
        shmem.reduce(target, source, "sum", stream=on)
        stream.synchronize()
        assert numbers(target) == [sum(10 * j + i for j in range(n_pes)) for i in range(n_pes * 2)]
        shmem.broadcast(target, source, 1, stream=on)
        stream.synchronize()
        assert numbers(target) == [10 + i for i in range(n_pes * 2)]
        shmem.alltoall(target, source, stream=on)
        stream.synchronize()
        assert numbers(target) == [10 * j + 2 * pe + k for j in range(n_pes) for k in range(2)]
        shmem.fcollect(target, source[0:2], stream=on)
        stream.synchronize()
        assert numbers(target) == [10 * j + k for j in range(n_pes) for k in range(2)]
        shmem.reducescatter(target[0:2], source, "max", stream=on)
        stream.synchronize()
        assert numbers(target[0:2]) == [10 * (n_pes - 1) + 2 * pe + k for k in range(2)]
        shmem.barrier_all(on)
        stream.synchronize()
        source.free()
        target.free()
    for wrong in (lambda: shmem.reduce(shmem.zeros(2, "int32"), shmem.zeros(2, "float32")),
                  lambda: shmem.fcollect(shmem.zeros(2, "int32"), shmem.zeros(2, "int32"))):
        try:
            wrong()
        except (TypeError, ValueError):
            continue
        raise AssertionError("a wrong collective was taken")
    last = shmem.world.split_strided(n_pes - 1, 1, 1)
    assert (last is None) == (pe != n_pes - 1)
    if last is not None:
        assert (last.my_pe, last.n_pes, last.translate_pe(0, shmem.world)) == (0, 1, pe)
        last.barrier()
        last.destroy()
    word = shmem.zeros(1, "uint64")
    if pe == 0:
        made = shmem.team_unique_id()
        for to in range(n_pes):
            shmem.store(word, made, to)
    shmem.barrier_all()
    backwards = shmem.Team.from_unique_id(shmem.load(word, pe), n_pes, n_pes - 1 - pe)
    assert (backwards.my_pe, backwards.translate_pe(0, shmem.world)) == (n_pes - 1 - pe, n_pes - 1)
    backwards.sync()
    backwards.destroy()
    word.free()
    row, column = shmem.world.split_2d(n_pes)
    assert row.my_pe == pe and column.n_pes == 1
    row.sync()
    stream.destroy()
    print("ok", pe)
"""

COMMUNICATOR = """
import os, time, gdrkit.shmem as shmem
class Communicator:  # what mpi4py's do, over a file
    def Get_rank(self): return int(os.environ["PE"])
    def Get_size(self): return int(os.environ["N_PES"])
    def bcast(self, data, root):
        path = os.environ["ID_FILE"]
        if self.Get_rank() == root:
            with open(path + ".new", "wb") as file: file.write(data)
            os.rename(path + ".new", path)
        deadline = time.monotonic() + 60
        while not os.path.exists(path) and time.monotonic() < deadline: time.sleep(0.01)
        with open(path, "rb") as file: return file.read()
with shmem.init(Communicator()):
    word = shmem.zeros(1, "int64")
    shmem.atomic(word, "add", 1 + shmem.my_pe(), 0)
    shmem.barrier_all()
    assert shmem.load(word, 0) == sum(range(1, shmem.n_pes() + 1))
    print("PE", shmem.my_pe(), "of", shmem.n_pes())
"""

MPI4PY = """
import gdrkit.shmem as shmem
from mpi4py import MPI
world = MPI.COMM_WORLD
odd_ones_backwards = world.Split(world.Get_rank() % 2, -world.Get_rank())
for communicator in (world, odd_ones_backwards):
    with shmem.init(communicator):
        assert (shmem.my_pe(), shmem.n_pes()) == (communicator.Get_rank(), communicator.Get_size())
        word = shmem.zeros(1, "int64")
        shmem.atomic(word, "add", 1 + world.Get_rank(), 0)
        shmem.barrier_all()
        assert shmem.load(word, 0) == communicator.allreduce(1 + world.Get_rank())
print(f"rank {world.Get_rank()} of {world.Get_size()}")
"""

DEATH = """
import os, sys, gdrkit, gdrkit.shmem as shmem
job = shmem.init()
word = shmem.zeros(1, "uint64")
if shmem.my_pe() == 1: os._exit(7)
try:
    shmem.signal_wait_until(word, "==", 1)
except gdrkit.Error as error:
    print(error, flush=True)
    os._exit(0 if "1" in error.strerror else 3)
"""

EXCEPTION = """
import gdrkit, gdrkit.shmem as shmem
with shmem.init():
    if shmem.my_pe() == 1: raise ValueError("this PE has enough")
    try:
        shmem.barrier_all()
    except gdrkit.Error as error:
        print("ended:", error, flush=True)
        import os; os._exit(0)
"""


def test_runs_collectives_on_teams():
    run_all_well(3, COLLECTIVES)


def test_mpi4py_communicator_starts_a_job(tmp_path, monkeypatch):
    monkeypatch.setenv("ID_FILE", str(tmp_path / "id"))
    outputs = run_all_well(2, COMMUNICATOR, torchrun=False)
    assert sorted(outputs) == ["PE 0 of 2\n", "PE 1 of 2\n"]


def test_runs_mpi4py_under_its_mpirun(monkeypatch):
    with tempfile.TemporaryDirectory() as directory:
        monkeypatch.setenv("TMPDIR", directory)  # apart from another mpirun that starts at the same time
        for agent in ("OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent"):
            monkeypatch.setenv(agent, "true")  # Open MPI does not start without an ssh client, which nothing here needs
        check_mpi4py()


def check_mpi4py():
    query = subprocess.run([sys.executable, "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"],
                           capture_output=True, text=True, timeout=60, check=False)
    if query.returncode != 0:
        pytest.skip("no mpi4py that finds an MPI: " + query.stderr.strip().split("\n")[-1])
    name, options = ("openmpi", ["--oversubscribe"]) if "Open MPI" in query.stdout else ("mpich", [])
    launcher = shutil.which("mpirun." + name) or shutil.which("mpirun")
    if launcher is None:
        pytest.skip("mpi4py finds an MPI, but its mpirun is not here")
    output = run_ok(launcher, *options, "-n", "4", sys.executable, "-c", MPI4PY, OMPI_ALLOW_RUN_AS_ROOT="1",
                    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", GDRKIT_BACKEND="emulated", GDRKIT_SHMEM_TIMEOUT_S="60")
    expect_each_once(output, [f"rank {rank} of 4" for rank in range(4)])


def test_all_ranks_report_the_error_of_rank_0(monkeypatch):
    from gdrkit import Error, shmem

    def fail():
        raise Error(99, "no network address to listen on")

    monkeypatch.setattr(shmem, "unique_id", fail)

    class Communicator:
        def __init__(self, rank, sent):
            self.rank, self.sent = rank, sent

        def Get_rank(self):
            return self.rank

        def Get_size(self):
            return 2

        def bcast(self, data, root):
            if self.rank == root:
                self.sent.append(data)
            return self.sent[0]

    sent = []
    for rank in range(2):
        with pytest.raises(Error, match="no network address") as caught:
            shmem.init(Communicator(rank, sent))
        assert caught.value.errno == 99


def test_killed_pe_ends_the_waits_of_others():
    codes, outputs = run_job(2, DEATH)
    assert codes == [0, 7], outputs


def test_exception_does_not_wait_for_other_pes():
    codes, outputs = run_job(2, EXCEPTION)
    assert codes == [0, 1], outputs
    assert "this PE has enough" in outputs[1] and "ended:" in outputs[0]
