#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Compares transfers in GPU kernels of CuPy, Numba and Triton with the same loops in CUDA C++, compiled by nvcc.

gdrkit run -n 2 -- python3 scripts/python_gpu_kernels.py [--rounds 15]      two PEs, one on each GPU
python3 scripts/python_gpu_kernels.py [--rounds 15]                         one PE, which accesses its own memory

All ways run in the same processes on the same memory, one after the other in each round. A time is that of one GPU kernel
between two events, divided by its iterations. Another GPU kernel holds the stream until the host has launched the measured
one, so a time does not contain the launch by the host. The last line contains the times of launches. A ratio is the median
over the rounds of way / C++ of the same round. Exits with code 1 if a ratio exceeds 1.05. The operation in NO_LIMIT is
excluded from the limit: it measures a loop of Numba. CuPy is required. Numba (numba-cuda) and Triton (torch and triton)
are left out, and the reason is printed, if they cannot be imported or cannot compile the loops.
"""
import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cupy
import numpy
from gdrkit import shmem

LIMIT = 1.05
# function: (statement in C++, statement in Python); the name ends in the group that calls quiet() after the loop
LOOPS = {
    "put_thread": ("put(state(), target, source, bytes, peer, thread())", "gshmem.put(target, source, peer)"),
    "put_warp": ("put(state(), target, source, bytes, peer, warp())", "gshmem.put_warp(target, source, peer)"),
    "put_block": ("put(state(), target, source, bytes, peer, block())", "gshmem.put_block(target, source, peer)"),
    "get_thread": ("get(state(), target, source, bytes, peer, thread())", "gshmem.get(target, source, peer)"),
    "get_block": ("get(state(), target, source, bytes, peer, block())", "gshmem.get_block(target, source, peer)"),
    "p_thread": ("p(state(), target, value, peer)", "gshmem.p(target, value, peer)"),
    "p_range_thread": ("p(state(), target, value, peer)", "gshmem.p(target, value, peer)"),
    "g_thread": ("*target = g(state(), source, peer)", "target[0] = gshmem.g(source, peer)"),
    "atomic_add_thread": ("atomic_add(state(), target, value, peer)", "gshmem.atomic_add(target, value, peer)"),
    # Each operand is the result before it, so the loop waits for results.
    "atomic_fetch_add_thread": ("value = atomic_fetch_add(state(), target, value, peer)", "value = gshmem.atomic_fetch_add(target, value, peer)"),
}
# Numba updates the counter of a `range` loop by five dependent instructions, which take longer than one p. A `while` loop
# has the code of the loop in C++, so all other functions use it.
RANGE_LOOP = "p_range_thread"
SOURCE = """
#include <gdrkit/shmem_state.cuh>
using namespace gdrkit::shmem;
""" + "".join(f"""
extern "C" __global__ void {function}(uint64_t* target, const uint64_t* source, size_t bytes, int peer, int n) {{
  [[maybe_unused]] uint64_t value = *source;
  for (int i = 0; i < n; ++i) {statement};
  quiet(state(), {function.rsplit("_", maxsplit=1)[1]}());
}}
""" for function, (statement, _) in LOOPS.items()) + """
extern "C" __global__ void ping_pong(uint64_t* target, const uint64_t* source, size_t bytes, uint64_t* signal,
                                     uint64_t base, int peer, int is_first, int n) {
  for (uint64_t turn = base + 1; turn <= base + n; ++turn) {
    if (is_first) put_signal(state(), target, source, bytes, signal, turn, GDRKIT_SHMEM_SIGNAL_SET, peer, block());
    if (threadIdx.x == 0) signal_wait_until(state(), signal, GDRKIT_SHMEM_GE, turn);
    __syncthreads();
    if (!is_first) put_signal(state(), target, source, bytes, signal, turn, GDRKIT_SHMEM_SIGNAL_SET, peer, block());
  }
}
__device__ uint64_t now_ns() {
  uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
  return value;
}
extern "C" __global__ void hold(const volatile uint32_t* is_released, int is_on_all_pes) {
  const uint64_t end = now_ns() + 10000000000;  // if a launch waits for the stream
  while (*is_released == 0 && now_ns() < end) {}
  if (is_on_all_pes) barrier_all(state(), thread());
}
"""
NO_LIMIT = "p in a range loop (no limit)"
# name: (function, threads, bytes, iterations)
OPERATIONS = {
    "put of 8 B by a thread": ("put_thread", 1, 8, 20000),
    "put of 64 B by a thread": ("put_thread", 1, 64, 10000),
    "put of 8 B by a warp": ("put_warp", 32, 8, 20000),
    "put of 4 KiB by a warp": ("put_warp", 32, 4096, 5000),
    "put of 8 B by a block of 32 threads": ("put_block", 32, 8, 20000),
    "put of 64 KiB by a block of 256 threads": ("put_block", 256, 65536, 2000),
    "get of 8 B by a thread": ("get_thread", 1, 8, 5000),
    "get of 64 KiB by a block of 256 threads": ("get_block", 256, 65536, 1000),
    "p": ("p_thread", 1, 8, 50000),
    NO_LIMIT: ("p_range_thread", 1, 8, 50000),
    "g": ("g_thread", 1, 8, 5000),
    "atomic_add": ("atomic_add_thread", 1, 8, 20000),
    "atomic_fetch_add": ("atomic_fetch_add_thread", 1, 8, 5000),
    "put_signal of 8 B and wait, round trip, 32 threads": ("ping_pong", 32, 8, 2000),
}


class Way:
    """Launches the functions with arrays of this PE."""

    def __init__(self, target, source, signal, peer):
        self.target, self.source, self.signal, self.peer = target, source, signal, peer


class CudaCode(Way):
    """C++, compiled by nvcc or, as CuPy does, by NVRTC."""

    def __init__(self, nvcc, *memory):
        super().__init__(*memory)
        if nvcc:
            module = cupy.RawModule(path=self.compile(nvcc))
        else:
            module = cupy.RawModule(code=SOURCE, options=("-std=c++17", *(f"-I{directory}" for directory in shmem.include_path())))
        self.functions = {name: module.get_function(name) for name in (*LOOPS, "ping_pong")}
        self.hold = module.get_function("hold")
        shmem.init_module(module)
        self.arrays = [cupy.asarray(array) for array in (self.target, self.source, self.signal)]

    @staticmethod
    def compile(nvcc):
        directory = Path(tempfile.mkdtemp())
        (directory / "loops.cu").write_text(SOURCE, encoding="utf-8")
        architecture = f"sm_{cupy.cuda.Device().compute_capability}"
        subprocess.run([nvcc, "-cubin", "-std=c++17", "-O3", "-DGDRKIT_SHMEM_MODULE", f"-arch={architecture}",
                        f"-I{shmem.include_path()[0]}", "-o", directory / "loops.cubin", directory / "loops.cu"], check=True)
        return str(directory / "loops.cubin")

    def launch(self, function, threads, size_bytes, n, base, is_first):
        target, source, signal = self.arrays
        sizes = (target, source, cupy.uint64(size_bytes))
        more = (signal, cupy.uint64(base), cupy.int32(self.peer), cupy.int32(is_first)) if function == "ping_pong" else (cupy.int32(self.peer),)
        self.functions[function]((1,), (threads,), (*sizes, *more, cupy.int32(n)))


class NumbaCode(Way):
    def __init__(self, *memory):
        super().__init__(*memory)
        import numba_loops
        from numba import cuda
        cuda.select_device(shmem.info().device)
        self.functions = {name: getattr(numba_loops, name) for name in (*LOOPS, "ping_pong")}
        target, source, self.signal = (cuda.as_cuda_array(array) for array in (self.target, self.source, self.signal))
        self.pairs = {size: (target[:size // 8], source[:size // 8]) for _, _, size, _ in OPERATIONS.values()}

    def launch(self, function, threads, size_bytes, n, base, is_first):
        more = (self.signal, base, self.peer, is_first) if function == "ping_pong" else (self.peer,)
        self.functions[function][1, threads](*self.pairs[size_bytes], *more, n)


class TritonCode(Way):
    def __init__(self, *memory):
        super().__init__(*memory)
        import torch
        import triton_loops
        torch.cuda.set_device(shmem.info().device)
        self.functions = {"put_block": triton_loops.put_block, "ping_pong": triton_loops.ping_pong}
        self.arrays = [array.tensor() for array in (self.target, self.source, self.signal)]

    def launch(self, function, threads, size_bytes, n, base, is_first):
        target, source, signal = self.arrays
        more = (signal, base, self.peer, is_first) if function == "ping_pong" else (self.peer,)
        self.functions[function][(1,)](target, source, size_bytes, *more, n, num_warps=threads // 32)


NUMBA_LOOPS = '''
from gdrkit.shmem import numba as gshmem
from numba import cuda

@cuda.jit
def ping_pong(target, source, signal, base, peer, is_first, n):
    for turn in range(base + 1, base + n + 1):
        if is_first:
            gshmem.put_signal_block(target, source, signal, turn, gshmem.SIGNAL_SET, peer)
        gshmem.signal_wait_until_block(signal, gshmem.CMP_GE, turn)
        if not is_first:
            gshmem.put_signal_block(target, source, signal, turn, gshmem.SIGNAL_SET, peer)
''' + "".join(f'''
@cuda.jit
def {function}(target, source, peer, n):
    value = source[0]
    i = 0
    {"for i in range(n)" if function == RANGE_LOOP else "while i < n"}:
        {statement}
        {"" if function == RANGE_LOOP else "i += 1"}
    gshmem.quiet{function[function.rindex("_"):].replace("_thread", "")}()
''' for function, (_, statement) in LOOPS.items())

# Triton reads the source of a function from its file, and needs no name to be global there that it does not use.
TRITON_LOOPS = '''
from gdrkit.shmem import triton as gshmem

@gshmem.jit
def put_block(target, source, size_bytes, peer, n):
    for _ in range(n):
        gshmem.put(target, source, size_bytes, peer)
    gshmem.quiet()

@gshmem.jit
def ping_pong(target, source, size_bytes, signal, base, peer, is_first, n):
    for i in range(n):
        turn = base + i + 1
        if is_first != 0:
            gshmem.put_signal(target, source, size_bytes, signal, turn, gshmem.SIGNAL_SET, peer)
        gshmem.signal_wait_until(signal, gshmem.CMP_GE, turn)
        if is_first == 0:
            gshmem.put_signal(target, source, size_bytes, signal, turn, gshmem.SIGNAL_SET, peer)
'''


class Gate:
    """Holds the stream until open(). With `is_on_all_pes`, later GPU kernels of all PEs start at the same time."""

    def __init__(self, hold):
        self.hold = hold
        self.memory = cupy.cuda.alloc_pinned_memory(4)
        self.is_released = numpy.frombuffer(self.memory, numpy.uint32, 1)

    def close(self, is_on_all_pes):
        self.is_released[0] = 0
        self.hold((1,), (1,), (cupy.uint64(self.memory.ptr), cupy.int32(is_on_all_pes)))

    def open(self):
        self.is_released[0] = 1


def take_times(gate, way, operation, base, pe):
    """Returns the ns of one iteration and the us of the launch. All PEs play ping-pong, PE 0 performs the other operations."""
    function, threads, size_bytes, n = OPERATIONS[operation]
    shmem.barrier_all()
    if pe != 0 and function != "ping_pong":
        return 0.0, 0.0
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    gate.close(function == "ping_pong")
    start.record()
    begin = time.perf_counter()
    way.launch(function, threads, size_bytes, n, base, int(pe == 0))
    launch_us = (time.perf_counter() - begin) * 1e6
    stop.record()
    gate.open()
    stop.synchronize()
    return cupy.cuda.get_elapsed_time(start, stop) * 1e6 / n, launch_us


def make_ways(memory, nvcc, pe):
    ways = {"CUDA C++": CudaCode(nvcc, *memory)}
    for name, make in (("CuPy", lambda: CudaCode(None, *memory)), ("Numba", lambda: NumbaCode(*memory)),
                       ("Triton", lambda: TritonCode(*memory))):
        try:
            way = make()
            for function in way.functions:  # compiles
                way.launch(function, 32, 8, 0, 0, 0)
            cupy.cuda.Device().synchronize()
        except Exception as error:  # pylint: disable=broad-exception-caught  # of any package
            if pe == 0:
                print(f"{name} is not measured: {type(error).__name__}: {error}")
        else:
            ways[name] = way
    return ways


def measure(nvcc, rounds):
    pe = shmem.my_pe()
    cupy.cuda.Device(shmem.info().device).use()
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "numba_loops.py").write_text(NUMBA_LOOPS, encoding="utf-8")
        (Path(directory) / "triton_loops.py").write_text(TRITON_LOOPS, encoding="utf-8")
        sys.path.append(directory)
        memory = (*(shmem.zeros(count, "uint64") for count in (8192, 8192, 1)), (pe + 1) % shmem.n_pes())
        ways = make_ways(memory, nvcc, pe)
        times = {(operation, way): [] for operation, (function, *_) in OPERATIONS.items() for way in ways if function in ways[way].functions}
        launches = {way: [] for way in ways}
        gate = Gate(ways["CUDA C++"].hold)
        base = 0
        for turn in range(rounds + 2):  # the first two compile and warm up
            for operation, way in times:
                taken, launch_us = take_times(gate, ways[way], operation, base, pe)
                base += OPERATIONS[operation][3]
                if turn >= 2:
                    times[operation, way].append(taken)
                    launches[way].append(launch_us)
        shmem.barrier_all()
    return report(times, launches) if pe == 0 else True


def report(times, launches):
    ways = list(launches)
    is_within_limit = True
    print(f"{'operation':52}{'C++, ns':>10}" + "".join(f"{way + ' / C++':>16}" for way in ways[1:]))
    for operation in OPERATIONS:
        own = times[operation, ways[0]]
        line = f"{operation:52}{statistics.median(own):10.1f}"
        for way in ways[1:]:
            ratios = [taken / base for taken, base in zip(times.get((operation, way), []), own)]
            is_within_limit = is_within_limit and (not ratios or operation == NO_LIMIT or statistics.median(ratios) <= LIMIT)
            line += f"{statistics.median(ratios):16.3f}" if ratios else f"{'-':>16}"
        print(line)
    print(f"{'launch by the host, in us':52}{statistics.median(launches[ways[0]]):10.1f}"
          + "".join(f"{statistics.median(launches[way]):16.1f}" for way in ways[1:]))
    print(f"at most {LIMIT:.2f} times the time of C++: {'yes' if is_within_limit else 'no'} (median of {len(own)} rounds)")
    return is_within_limit


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--nvcc", default="/usr/local/cuda/bin/nvcc")
    options = parser.parse_args()
    with shmem.init(timeout=60):
        if shmem.n_pes() > 2 or shmem.info().is_emulated:
            raise SystemExit("needs one PE on a GPU, or two PEs on two GPUs")
        is_within_limit = measure(options.nvcc, options.rounds)
    raise SystemExit(0 if is_within_limit else 1)


if __name__ == "__main__":
    main()
