# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Each PE sends a row of numbers to the next PE from a Triton kernel, and waits for the row of the one before.

gdrkit run -n 2 -- python3 triton_ring.py        one PE on each GPU; needs torch and triton"""
import torch
from gdrkit import shmem
from gdrkit.shmem import triton as gshmem

COUNT, ROUNDS = 1000, 100


@gshmem.jit
def exchange(inbox, outbox, signal, size_bytes, turn):
    after = (gshmem.my_pe() + 1) % gshmem.n_pes()
    gshmem.put_signal(inbox, outbox, size_bytes, signal, turn, gshmem.SIGNAL_SET, after)
    gshmem.signal_wait_until(signal, gshmem.CMP_GE, turn)


with shmem.init():
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    torch.cuda.set_device(shmem.info().device)
    inbox, signal = shmem.zeros(COUNT, "float32"), shmem.zeros(1, "uint64")
    for turn in range(1, ROUNDS + 1):
        outbox = torch.full((COUNT,), 1000.0 * pe + turn, device="cuda")
        exchange[(1,)](inbox.tensor(), outbox, signal.tensor(), outbox.nbytes, turn)
        if not (inbox.tensor() == 1000.0 * ((pe - 1) % n_pes) + turn).all():
            raise SystemExit(f"PE {pe}, round {turn}: unexpected numbers")
        shmem.barrier_all()
    print(f"PE {pe} of {n_pes}: {ROUNDS} rounds of {COUNT} numbers from PE {(pe - 1) % n_pes}")
