# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Each PE sends a row of numbers to the next PE from a GPU kernel in Numba, and waits for the row of the one before.

gdrkit run -n 2 -- python3 numba_ring.py        one PE on each GPU; needs numba-cuda and numpy"""
import numpy
from gdrkit import shmem
from gdrkit.shmem import numba as gshmem
from numba import cuda

COUNT, ROUNDS = 1000, 100


@cuda.jit
def exchange(inbox, outbox, signal, turn):
    after = (gshmem.my_pe() + 1) % gshmem.n_pes()
    gshmem.put_signal_block(inbox, outbox, signal, turn, gshmem.SIGNAL_SET, after)
    gshmem.signal_wait_until_block(signal, gshmem.CMP_GE, turn)


with shmem.init():
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    cuda.select_device(shmem.info().device)
    inbox, signal = shmem.zeros(COUNT, "float32"), shmem.zeros(1, "uint64")
    for turn in range(1, ROUNDS + 1):
        outbox = cuda.to_device(numpy.full(COUNT, 1000.0 * pe + turn, "float32"))
        exchange[1, 256](cuda.as_cuda_array(inbox), outbox, cuda.as_cuda_array(signal), turn)
        if not (cuda.as_cuda_array(inbox).copy_to_host() == 1000.0 * ((pe - 1) % n_pes) + turn).all():
            raise SystemExit(f"PE {pe}, round {turn}: unexpected numbers")
        shmem.barrier_all()
    print(f"PE {pe} of {n_pes}: {ROUNDS} rounds of {COUNT} numbers from PE {(pe - 1) % n_pes}")
