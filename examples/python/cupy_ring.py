# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Each PE sends a row of numbers to the next PE from a CUDA C++ kernel that CuPy compiles, and waits for the row of the one before.

gdrkit run -n 2 -- python3 cupy_ring.py        one PE on each GPU; needs cupy"""
import cupy
from gdrkit import shmem

COUNT, ROUNDS = 1000, 100
SOURCE = """
#include <gdrkit/shmem_state.cuh>
using namespace gdrkit::shmem;
extern "C" __global__ void exchange(float* inbox, const float* outbox, uint64_t* signal, size_t bytes, uint64_t turn) {
  const int after = (state().pe + 1) % state().n_pes;
  put_signal(state(), inbox, outbox, bytes, signal, turn, GDRKIT_SHMEM_SIGNAL_SET, after, block());
  if (threadIdx.x == 0) signal_wait_until(state(), signal, GDRKIT_SHMEM_GE, turn);
}
"""

with shmem.init():
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    cupy.cuda.Device(shmem.info().device).use()
    module = cupy.RawModule(code=SOURCE, options=("-std=c++17", *(f"-I{path}" for path in shmem.include_path())))
    exchange = module.get_function("exchange")
    shmem.init_module(module)
    inbox, signal = cupy.asarray(shmem.zeros(COUNT, "float32")), cupy.asarray(shmem.zeros(1, "uint64"))
    for turn in range(1, ROUNDS + 1):
        outbox = cupy.full(COUNT, 1000.0 * pe + turn, "float32")
        exchange((1,), (256,), (inbox, outbox, signal, cupy.uint64(outbox.nbytes), cupy.uint64(turn)))
        if not (inbox == 1000.0 * ((pe - 1) % n_pes) + turn).all():
            raise SystemExit(f"PE {pe}, round {turn}: unexpected numbers")
        shmem.barrier_all()
    print(f"PE {pe} of {n_pes}: {ROUNDS} rounds of {COUNT} numbers from PE {(pe - 1) % n_pes}")
