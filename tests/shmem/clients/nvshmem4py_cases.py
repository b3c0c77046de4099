#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Each part of nvshmem4py's API for the CPU, streams and collectives, on GPUs: one process for each GPU.

usage: nvshmem4py_cases.py [-n PES] (host | cupy | torch | all)    starts the processes, which join by a unique id
       mpirun -n PES nvshmem4py_cases.py (mpi | emulated_mpi)      joins by MPI
The loader chooses the library: LD_PRELOAD=<prefix>/lib/gdrkit/nvshmem/lib/libnvshmem_host.so.3 is gdrkit's, without it
the process has NVIDIA's. GDRKIT_BACKEND=emulated needs no GPU, but cuda_stub.c as libcuda.so.1. Prints a line for each
case and PE: ok, failed, or unsupported with the reason. Exits with 1 if a case failed, and with 77 if nvshmem4py or a GPU
is missing.
"""
import ctypes
import glob
import importlib.util
import os
import subprocess
import sys
import traceback

import numpy as np

ALL = []  # (group, function)
EMULATED = os.environ.get("GDRKIT_BACKEND") == "emulated"


class Unsupported(Exception):
    """The library rejected a function in the documented way."""


def case(group, needs_gpu=False):
    def add(function):
        if not (needs_gpu and EMULATED):
            ALL.append((group, function))
        return function
    return add


class Job:
    """This process's PE."""

    def __init__(self, nvshmem, device):
        self.core = nvshmem
        self.device = device
        self.stream = device.create_stream()
        self.pe, self.n_pes = nvshmem.my_pe(), nvshmem.n_pes()
        self.next, self.before = (self.pe + 1) % self.n_pes, (self.pe - 1) % self.n_pes
        self.buffers = []

    def buffer(self, size):
        """Returns symmetric memory, which is freed after the case. All PEs must call it."""
        self.buffers.append(self.core.buffer(size))
        return self.buffers[-1]

    def free_buffers(self):
        while self.buffers:
            self.core.free(self.buffers.pop(0))

    def end_stream(self, stream=None):
        """Waits until the stream of every PE has completed."""
        stream = stream or self.stream
        self.core.barrier_all(stream)
        stream.sync() if hasattr(stream, "sync") else stream.pt_stream.synchronize()


class EmulatedDevice:
    """What nvshmem4py and the cases use of cuda.core's Device and Stream, for gdrkit's emulated device."""

    def __init__(self, device_id):
        self.device_id = device_id

    def set_current(self):
        pass

    def create_stream(self):
        return self

    def sync(self):
        assert ctypes.CDLL("libgdrkit_shmem.so.0").gdrkit_shmem_stream_synchronize(None) == 0

    def __cuda_stream__(self):
        return 0, 0


def checked(result):
    if int(result[0]) != 0:
        raise RuntimeError(f"CUDA error {result[0]}")
    return result[1] if len(result) == 2 else result[1:]


def write(buffer, values):
    from cuda.bindings import runtime
    values = np.ascontiguousarray(values)
    if EMULATED:
        ctypes.memmove(int(buffer.handle), values.ctypes.data, values.nbytes)
        return
    to_device = runtime.cudaMemcpyKind.cudaMemcpyHostToDevice
    checked(runtime.cudaMemcpy(int(buffer.handle), values.ctypes.data, values.nbytes, to_device))
    checked(runtime.cudaDeviceSynchronize())


def read(buffer, dtype, count):
    from cuda.bindings import runtime
    values = np.empty(count, dtype)
    if EMULATED:
        ctypes.memmove(values.ctypes.data, int(buffer.handle), values.nbytes)
        return values
    to_host = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    checked(runtime.cudaMemcpy(values.ctypes.data, int(buffer.handle), values.nbytes, to_host))
    return values


def numbers(pe, count=1000, dtype="int32"):
    return (np.arange(count) + 100 * (pe + 1)).astype(dtype)


# The CPU and streams, with cuda.core's buffers and NumPy's arrays.

@case("host")
def queries(job):
    version = job.core.get_version()
    assert version.libnvshmem_version.startswith("3."), version
    assert isinstance(job.core.get_name(), str)
    assert int(job.core.query_thread()) in range(4)
    assert int(job.core.init_status()) >= 2
    assert job.core.ask_smem() >= 0
    assert job.core.team_n_pes(job.core.Teams.TEAM_WORLD) == job.n_pes
    assert job.core.team_my_pe(job.core.Teams.TEAM_SHARED) == job.pe
    assert job.core.team_n_pes(job.core.Teams.TEAM_NODE) == job.n_pes


@case("host")
def puts_and_gets(job):
    size = 4000
    target, source = job.buffer(size), job.buffer(size)
    for put in (job.core.put, job.core.put_nbi):
        write(target, np.zeros(1000, "int32"))
        write(source, numbers(job.pe))
        job.end_stream()
        put(target, source, remote_pe=job.next, stream=job.stream)
        job.core.quiet(stream=job.stream)
        job.end_stream()
        assert np.array_equal(read(target, "int32", 1000), numbers(job.before)), put.__name__
    for get in (job.core.get, job.core.get_nbi):
        write(target, np.zeros(1000, "int32"))
        job.end_stream()
        get(target, source, remote_pe=job.next, stream=job.stream)
        job.core.quiet(stream=job.stream)
        job.stream.sync()
        assert np.array_equal(read(target, "int32", 1000), numbers(job.next)), get.__name__
    job.end_stream()


@case("host")
def flush(job):
    target, source = job.buffer(64), job.buffer(64)
    write(source, numbers(1, 16))
    job.end_stream()
    job.core.put_nbi(target, source, remote_pe=job.next, stream=job.stream)
    try:
        job.core.flush(stream=job.stream)
    except RuntimeError as error:  # NVSHMEM before 3.8
        raise Unsupported(error) from error
    finally:
        job.end_stream()
        assert np.array_equal(read(target, "int32", 16), numbers(1, 16))


@case("host")
def signals(job):
    target, source, signal = job.buffer(4096), job.buffer(4096), job.buffer(8)
    write(source, numbers(job.pe))
    write(signal, np.zeros(1, "uint64"))
    job.end_stream()
    operation, comparison = job.core.SignalOp, job.core.ComparisonType
    expected = 0
    for put in (job.core.put_signal, job.core.put_signal_nbi):
        expected += 5
        put(target, source, signal, 5, operation.SIGNAL_ADD, remote_pe=job.next, stream=job.stream)
        job.core.signal_wait(signal, expected, comparison.CMP_EQ, stream=job.stream)
        job.core.quiet(stream=job.stream)
        job.stream.sync()
        assert np.array_equal(read(target, "int32", 1000), numbers(job.before)), put.__name__
        write(target, np.zeros(1000, "int32"))
        job.end_stream()
    job.core.signal_op(signal, 77, operation.SIGNAL_SET, remote_pe=job.next, stream=job.stream)
    job.core.signal_wait(signal, 77, comparison.CMP_GE, stream=job.stream)
    job.stream.sync()
    assert job.core.signal_fetch(signal) == 77
    job.end_stream()


@case("host")
def peer_buffers(job):
    buffer = job.buffer(4096)
    write(buffer, numbers(job.pe))
    job.end_stream()
    peer = job.core.get_peer_buffer(buffer, job.next)
    assert np.array_equal(read(peer, "int32", 1000), numbers(job.next))
    job.end_stream()


@case("host")
def collectives_of_buffers(job):
    count = 1024
    part = count // job.n_pes
    source, target = job.buffer(4 * count), job.buffer(4 * count * job.n_pes)
    small, whole = job.buffer(4 * part), job.buffer(4 * count)
    own = slice(job.pe * part, (job.pe + 1) * part)
    world = job.core.Teams.TEAM_WORLD
    for name, dtype in (("int32", "int32"), ("float", "float32")):
        of = [numbers(pe, count, dtype) for pe in range(job.n_pes)]
        write(source, of[job.pe])
        job.end_stream()
        for kind, dest, options, expected in (
                ("reduce", whole, {"op": "sum"}, sum(of)), ("reduce", whole, {"op": "max"}, np.maximum.reduce(of)),
                ("reducescatter", small, {"op": "sum"}, sum(of)[own]), ("fcollect", target, {}, np.concatenate(of)),
                ("alltoall", whole, {}, np.concatenate([one[own] for one in of])),
                ("broadcast", whole, {"root": job.n_pes - 1}, of[job.n_pes - 1])):
            job.core.collective_on_buffer(kind, world, dest, source, dtype=name, stream=job.stream, **options)
            job.end_stream()
            seen = read(dest, dtype, len(expected))
            assert np.array_equal(seen, expected), f"{kind} of {name}: {seen[:4]} instead of {expected[:4]}"
    for barrier in (job.core.barrier, job.core.sync):
        barrier(world, stream=job.stream)
    job.core.sync_all(stream=job.stream)
    job.end_stream()


@case("host")
def atomics(job):
    buffer = job.buffer(64)
    core = job.core
    for dtype in ("int32", "uint32", "int64", "uint64"):
        write(buffer, np.array([10 * (job.pe + 1), 7], dtype))
        job.end_stream()
        start = 10 * (job.next + 1)
        on = {"remote_pe": job.next, "dtype": dtype}
        assert core.atomic_fetch(buffer, **on) == start
        assert core.atomic_fetch_add(buffer, 5, **on) == start
        core.atomic_add(buffer, 1, **on)
        core.atomic_inc(buffer, **on)
        assert core.atomic_fetch_inc(buffer, **on) == start + 7
        assert core.atomic_swap(buffer, 12, **on) == start + 8
        assert core.atomic_compare_swap(buffer, 12, 3, **on) == 12
        assert core.atomic_compare_swap(buffer, 12, 4, **on) == 3
        core.atomic_set(buffer, 9, offset=1, **on)
        assert core.atomic_fetch(buffer, offset=1, **on) == 9
        assert core.atomic_fetch_or(buffer, 12, **on) == 3
        core.atomic_and(buffer, 6, **on)
        assert core.atomic_fetch_xor(buffer, 1, **on) == 6
        job.end_stream()
    write(buffer, np.array([1.5], "float32"))
    job.end_stream()
    assert core.atomic_swap(buffer, 2.5, remote_pe=job.next, dtype="float") == 1.5
    job.end_stream()
    assert core.atomic_fetch(buffer, remote_pe=job.pe, dtype="float") == 2.5
    job.end_stream()


def expect_sum_of_ranks(job, team):
    """Checks a sum over a team that contains all PEs."""
    source, target = job.buffer(64), job.buffer(64)
    write(source, np.full(16, job.pe + 1, "int32"))
    job.end_stream()
    job.core.collective_on_buffer("reduce", team, target, source, dtype="int32", op="sum", stream=job.stream)
    job.end_stream()
    assert read(target, "int32", 16)[3] == job.n_pes * (job.n_pes + 1) // 2


@case("host")
def teams(job):
    config = job.core.TeamConfig()
    config.version = (2 << 16) + 64
    config.num_contexts = 0
    world = job.core.Teams.TEAM_WORLD
    same = job.core.team_split_strided(world, 0, 1, job.n_pes, config, 0, new_team_name="SAME")
    assert job.core.team_n_pes(same) == job.n_pes
    assert job.core.team_translate_pe(same, job.pe, world) == job.pe
    last = job.core.team_split_strided(world, job.n_pes - 1, 1, 1, config, 0, new_team_name="LAST")
    assert (last is None) == (job.pe != job.n_pes - 1)
    # nvshmem4py 0.4.1 passes the arguments in another order than its bindings take them, so the row is always team 0.
    columns = job.core.TeamConfig()
    _, column = job.core.team_split_2d(world, job.n_pes, config, 0, columns, 0, new_team_name="GRID")
    assert job.core.team_n_pes(column) == 1
    assert isinstance(job.core.team_get_config(same).num_contexts, int)
    expect_sum_of_ranks(job, same)
    for team in ("SAME", "GRID_Y"):
        job.core.team_destroy(team)
    if last is not None:
        job.core.team_destroy("LAST")


@case("host", needs_gpu=True)
def registered_buffers(job):
    """Memory of cuMemCreate, which both libraries can register."""
    from cuda.bindings import driver
    from cuda.core import Buffer
    job.buffer(64)  # nvshmem4py makes its memory resource at the first allocation
    size = 4 << 20
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = job.device.device_id
    properties.requestedHandleTypes = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    memory = checked(driver.cuMemCreate(size, properties, 0))
    address = checked(driver.cuMemAddressReserve(size, 2 << 20, 0, 0))
    checked(driver.cuMemMap(address, size, 0, memory, 0))
    access = driver.CUmemAccessDesc()
    access.location = properties.location
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    checked(driver.cuMemSetAccess(address, size, [access], 1))
    external = Buffer.from_handle(int(address), size)
    write(external, numbers(job.pe))
    try:
        registered = job.core.register_external_buffer(external)
    except job.core.NvshmemError as error:
        raise Unsupported(error) from error
    job.end_stream()
    target = job.buffer(4000)
    job.core.get(target, registered, remote_pe=job.next, stream=job.stream)
    job.end_stream()
    assert np.array_equal(read(target, "int32", 1000), numbers(job.next))
    job.core.unregister_external_buffer(registered)


@case("host")
def teams_from_a_unique_id(job):
    """All PEs in the opposite order."""
    config = job.core.TeamConfig()
    word, gathered = job.buffer(8), job.buffer(8 * job.n_pes)
    made = job.core.get_team_unique_id()  # by every PE; all use that of PE 0
    write(word, np.array([ctypes.c_uint64.from_address(made.ptr).value], "uint64"))
    world = job.core.Teams.TEAM_WORLD
    job.core.collective_on_buffer("broadcast", world, word, word, dtype="int64", root=0, stream=job.stream)
    job.end_stream()
    config.uniqueid = int(read(word, "uint64", 1)[0])
    number = job.n_pes - 1 - job.pe
    team = job.core.team_init(config, 2, job.n_pes, number, new_team_name="BACKWARDS")
    assert job.core.team_my_pe(team) == number
    assert job.core.team_translate_pe(team, 0, world) == job.n_pes - 1
    write(word, np.array([job.pe], "uint64"))
    job.end_stream()
    job.core.collective_on_buffer("fcollect", team, gathered, word, dtype="int64", stream=job.stream)
    job.end_stream()
    assert list(read(gathered, "uint64", job.n_pes)) == list(reversed(range(job.n_pes)))
    job.core.team_destroy("BACKWARDS")


@case("host")
def multicast(job):
    buffer = job.buffer(2 << 20)
    try:
        job.core.get_multicast_buffer(job.core.Teams.TEAM_SHARED, buffer)
    except job.core.NvshmemError as error:
        raise Unsupported(error) from error
    finally:
        job.end_stream()


@case("host", needs_gpu=True)
def modules_without_nvshmem(job):
    """A module that does not use NVSHMEM: an error or success, but no crash."""
    from cuda.core import Program
    program = Program('extern "C" __global__ void nothing() {}', "c++")
    code = program.compile("cubin")
    try:
        job.core.library_init(job.core.NvshmemKernelObject.from_obj(code))
    except job.core.NvshmemError as error:
        raise Unsupported(error) from error


RING = """
#include <gdrkit/shmem_state.cuh>
using namespace gdrkit::shmem;
extern "C" __global__ void send(int* inbox, const int* outbox, uint64_t* signal, size_t bytes) {
  const int after = (state().pe + 1) % state().n_pes;
  put_signal(state(), inbox, outbox, bytes, signal, 1, GDRKIT_SHMEM_SIGNAL_SET, after, block());
  if (threadIdx.x == 0) signal_wait_until(state(), signal, GDRKIT_SHMEM_GE, 1);
}
"""


@case("host", needs_gpu=True)
def kernels_with_headers_of_gdrkit(job):
    """library_init with a GPU kernel that NVRTC compiles. GDRKIT_INCLUDE: the directory of gdrkit/shmem.h."""
    from cuda.core import LaunchConfig, Program, ProgramOptions, launch
    include = os.environ.get("GDRKIT_INCLUDE")
    if include is None or job.core.get_name() != "gdrkit":
        raise Unsupported("only with gdrkit's library and GDRKIT_INCLUDE")
    options = ProgramOptions(std="c++17", include_path=[include, os.path.join(include, "gdrkit", "detail", "nvrtc")])
    code = Program(RING, "c++", options).compile("cubin")
    library = job.core.NvshmemKernelObject.from_obj(code)
    job.core.library_init(library)
    inbox, outbox, signal = job.buffer(4000), job.buffer(4000), job.buffer(8)
    write(outbox, numbers(job.pe))
    write(signal, np.zeros(1, "uint64"))
    job.end_stream()
    launch(job.stream, LaunchConfig(grid=1, block=256), code.get_kernel("send"), int(inbox.handle), int(outbox.handle),
           int(signal.handle), np.uint64(4000))
    job.end_stream()
    assert np.array_equal(read(inbox, "int32", 1000), numbers(job.before))
    job.core.library_finalize(library)


@case("host")
def wrong_arguments(job):
    core = job.core
    buffer = job.buffer(64)
    for function in (lambda: core.put(buffer, 5, remote_pe=job.next, stream=job.stream),
                     lambda: core.get_peer_buffer(buffer, job.n_pes + 5),
                     lambda: core.collective_on_buffer("shuffle", 0, buffer, buffer, dtype="int32", stream=job.stream),
                     lambda: core.reduce(0, 5, 6, "sum", stream=job.stream)):
        try:
            function()
        except (core.NvshmemInvalid, core.NvshmemError):
            continue
        raise AssertionError("no error")


# CuPy's arrays.

@case("cupy", needs_gpu=True)
def arrays(job):
    import cupy
    core, count = job.core, 1000
    with cupy.cuda.Device(job.device.device_id):
        target, source = core.array((10, 100), dtype="float32"), core.array((10, 100), dtype="float32")
        source[:] = cupy.arange(count, dtype="float32").reshape(10, 100) + 1000 * job.pe
        target[:] = 0
        cupy.cuda.Device().synchronize()
        job.end_stream()
        core.put(target, source, remote_pe=job.next, stream=job.stream)
        job.end_stream()
        assert float(target[9, 99]) == 1000 * job.before + 999
        peer = core.get_peer_array(source, job.next)
        assert float(peer.sum()) == count * (count - 1) / 2 + 1000 * job.next * count
        signal = job.buffer(8)
        write(signal, np.zeros(1, "uint64"))
        cupy.cuda.Device().synchronize()
        job.end_stream()
        core.put_signal(target, source, signal, 1, core.SignalOp.SIGNAL_SET, remote_pe=job.pe, stream=job.stream)
        core.signal_wait(signal, 1, core.ComparisonType.CMP_EQ, stream=job.stream)
        core.get(source, source, remote_pe=job.pe, stream=job.stream)
        job.end_stream()
        assert float(target[9, 99]) == 1000 * job.pe + 999
        word = core.array((4,), dtype="int64")
        word[:] = job.pe
        cupy.cuda.Device().synchronize()
        job.end_stream()
        assert core.atomic_fetch_add(word, 3, remote_pe=job.next, offset=2) == job.next
        job.end_stream()
        assert int(word[2]) == job.pe + 3
        fortran, raw = core.array((4, 2), dtype="int32", morder="F"), core.bytearray((16,))
        assert fortran.shape == (4, 2) and raw.size == 16
        for array in (target, source, word, fortran, raw):
            core.free_array(array)


@case("cupy", needs_gpu=True)
def collectives_of_arrays(job):
    import cupy
    core, count, n = job.core, 64, job.n_pes
    world = core.Teams.TEAM_WORLD
    with cupy.cuda.Device(job.device.device_id):
        for dtype in ("float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
            arrays_ = source, same, part, whole = [core.array((elements,), dtype=dtype)
                                                   for elements in (count * n, count * n, count, count * n * n)]
            source[:] = cupy.arange(count * n) % 5 + job.pe + 1
            cupy.cuda.Device().synchronize()
            job.end_stream()
            plain = np.arange(count * n) % 5
            of = [(plain + pe + 1).astype(dtype) for pe in range(n)]
            own = slice(job.pe * count, (job.pe + 1) * count)
            for function, target, options, expected in (
                    (core.reduce, same, ("sum",), sum(of)), (core.reduce, same, ("min",), of[0]),
                    (core.reduce, same, ("max",), of[-1]), (core.reducescatter, part, ("sum",), sum(of)[own]),
                    (core.fcollect, whole, (), np.concatenate(of)),
                    (core.alltoall, same, (), np.concatenate([one[own] for one in of])),
                    (core.broadcast, same, (n - 1,), of[-1])):
                function(world, target, source, *options, stream=job.stream)
                job.end_stream()
                assert np.array_equal(cupy.asnumpy(target), expected), f"{function.__name__} {options} of {dtype}"
            for array in arrays_:
                core.free_array(array)


# PyTorch's tensors.

@case("torch", needs_gpu=True)
def tensors(job):
    import torch
    core, count = job.core, 1000
    torch.cuda.set_device(job.device.device_id)
    stream = core.NvshmemStream(torch.cuda.Stream())
    target, source = core.tensor((10, 100), dtype=torch.float32), core.tensor((10, 100), dtype=torch.float32)
    source.copy_(torch.arange(count, dtype=torch.float32).reshape(10, 100) + 1000 * job.pe)
    target.zero_()
    torch.cuda.synchronize()
    job.end_stream(stream)
    core.put(target, source, remote_pe=job.next, stream=stream)
    job.end_stream(stream)
    assert target[9, 99].item() == 1000 * job.before + 999
    peer = core.get_peer_tensor(source, job.next)
    assert peer.double().sum().item() == count * (count - 1) / 2 + 1000 * job.next * count
    core.get(target, source, remote_pe=job.pe, stream=stream)
    job.end_stream(stream)
    assert target[9, 99].item() == 1000 * job.pe + 999
    word = core.tensor((4,), dtype=torch.int32)
    word.fill_(job.pe)
    torch.cuda.synchronize()
    job.end_stream(stream)
    core.atomic_inc(word, remote_pe=job.next, offset=3)
    job.end_stream(stream)
    assert word.tolist() == [job.pe, job.pe, job.pe, job.pe + 1]
    raw = core.bytetensor((32,))
    assert raw.numel() == 32
    for tensor in (target, source, word, raw):
        core.free_tensor(tensor)


@case("torch", needs_gpu=True)
def collectives_of_tensors(job):
    import torch
    core, count, n = job.core, 64, job.n_pes
    torch.cuda.set_device(job.device.device_id)
    stream = core.NvshmemStream(torch.cuda.Stream())
    world = core.Teams.TEAM_WORLD
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.uint8):
        tensors_ = source, same, part, whole = [core.tensor((elements,), dtype=dtype)
                                                for elements in (count * n, count * n, count, count * n * n)]
        source.copy_((torch.arange(count * n) % 5 + job.pe + 1).to(dtype))
        torch.cuda.synchronize()
        job.end_stream(stream)
        of = [(torch.arange(count * n) % 5 + pe + 1).double() for pe in range(n)]
        own = slice(job.pe * count, (job.pe + 1) * count)
        for function, target, options, expected in (
                (core.reduce, same, ("sum",), sum(of)), (core.reduce, same, ("max",), of[-1]),
                (core.reducescatter, part, ("sum",), sum(of)[own]), (core.fcollect, whole, (), torch.cat(of)),
                (core.alltoall, same, (), torch.cat([one[own] for one in of])), (core.broadcast, same, (0,), of[0])):
            function(world, target, source, *options, stream=stream)
            job.end_stream(stream)
            assert torch.equal(target.cpu().double(), expected), f"{function.__name__} {options} of {dtype}"
        for tensor in tensors_:
            core.free_tensor(tensor)


# Both ways to join by MPI run one short case.

@case("mpi")
def sum_of_ranks(job):
    expect_sum_of_ranks(job, job.core.Teams.TEAM_WORLD)


def run_cases(job, group):
    failed = 0
    for its_group, function in ALL:
        if group not in ("all", its_group) or (group == "all" and its_group == "mpi"):
            continue
        try:
            function(job)
            result = "ok"
        except Unsupported as error:
            result = f"unsupported: {error}"
        except ImportError as error:
            result = f"skipped: {error}"
        except Exception as error:  # pylint: disable=broad-exception-caught
            failed += 1
            job.buffers.clear()  # the other PEs may not free theirs
            where = traceback.extract_tb(error.__traceback__)
            line = next(entry.lineno for entry in reversed(where) if entry.filename == __file__)
            result = f"failed: {type(error).__name__} {getattr(error, 'msg', error)} (line {line})"
        job.free_buffers()
        sys.stdout.write(f"PE {job.pe} {its_group}.{function.__name__}: {result}\n")
        sys.stdout.flush()
    return failed


def library_of(process_maps="/proc/self/maps"):
    with open(process_maps, encoding="utf-8") as maps:
        return sorted({line.split()[-1] for line in maps if "libnvshmem_host" in line})


def as_pe(group, start):
    """start(core, device): joins the job."""
    import nvshmem.core
    from cuda.core import Device
    job = start(nvshmem.core, EmulatedDevice if EMULATED else Device)
    if job.pe == 0:
        print(f"{job.core.get_name()} {job.core.get_version().libnvshmem_version}: {' '.join(library_of())}", flush=True)
    failed = run_cases(job, group)
    job.core.finalize()
    return 1 if failed else 0


def by_unique_id(rank, ranks):
    def start(core, device_of):
        unique_id = core.get_unique_id(empty=rank != 0)
        if rank == 0:
            sys.stdout.write(f"id {ctypes.string_at(unique_id.ptr, 128).hex()}\n")
            sys.stdout.flush()
        else:
            ctypes.memmove(unique_id.ptr, bytes.fromhex(sys.stdin.readline()), 128)
        device = device_of(rank)
        device.set_current()
        core.init(device=device, uid=unique_id, rank=rank, nranks=ranks, initializer_method="uid")
        assert (core.my_pe(), core.n_pes()) == (rank, ranks)
        return Job(core, device)
    return start


def by_mpi(method):
    def start(core, device_of):
        from mpi4py import MPI
        device = device_of(MPI.COMM_WORLD.Get_rank())
        device.set_current()
        core.init(device=device, mpi_comm=MPI.COMM_WORLD, initializer_method=method)
        return Job(core, device)
    return start


def launch(group, ranks):
    """One process for each PE; what they print is passed on."""
    command = [sys.executable, "-B", os.path.abspath(__file__)]
    with subprocess.Popen([*command, "--pe", "0", str(ranks), group], stdout=subprocess.PIPE, text=True) as first:
        line = first.stdout.readline()
        while line and not line.startswith("id "):
            print(line, end="")
            line = first.stdout.readline()
        others = []
        for rank in range(1, ranks):
            other = subprocess.Popen([*command, "--pe", str(rank), str(ranks), group], stdin=subprocess.PIPE, text=True)
            other.stdin.write(line[3:])
            other.stdin.close()
            others.append(other)
        for line in first.stdout:
            print(line, end="", flush=True)
        results = [first.wait(), *(other.wait() for other in others)]
    print(f"exit codes {results}")
    return max(1 if result != 0 else 0 for result in results)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--pe"]:
        return as_pe(arguments[3], by_unique_id(int(arguments[1]), int(arguments[2])))
    ranks = 2
    if arguments[:1] == ["-n"]:
        ranks, arguments = int(arguments[1]), arguments[2:]
    if len(arguments) != 1 or arguments[0] not in ("host", "cupy", "torch", "all", "mpi", "emulated_mpi"):
        print(__doc__, file=sys.stderr)
        return 2
    gpus = ranks if EMULATED else len(glob.glob("/dev/nvidia[0-9]*"))
    if importlib.util.find_spec("nvshmem") is None or gpus < ranks:
        print(f"skipped: needs nvshmem4py and {ranks} GPUs")
        return 77
    if arguments[0] in ("mpi", "emulated_mpi"):
        return as_pe("mpi", by_mpi(arguments[0]))
    return launch(arguments[0], ranks)


if __name__ == "__main__":
    sys.exit(main())
