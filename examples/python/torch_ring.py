# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Each PE sends a row of numbers to the next PE in a compiled function that a CUDA graph replays, and waits for the row
of the one before.

gdrkit run -n 2 -- python3 torch_ring.py        one PE on each GPU; needs torch"""
import torch
from gdrkit import shmem
from gdrkit.shmem import torch as gshmem

COUNT, ROUNDS = 1000, 100


@torch.compile(fullgraph=True)
def exchange(inbox, outbox, signal, pe, after):
    outbox.add_(1)
    gshmem.put_signal(inbox, outbox, signal, 1, after)
    gshmem.signal_wait_until(signal, "==", 1, [inbox])
    received = inbox.clone()
    gshmem.put(signal, torch.zeros_like(signal), pe)
    gshmem.barrier_all([inbox, signal])  # no PE overwrites numbers before all have them
    return received


def ring(pe, n_pes):
    torch.cuda.set_device(shmem.info().device)
    inbox, signal = gshmem.zeros(COUNT), gshmem.zeros(1, dtype=torch.int64)
    outbox, graph = torch.full((COUNT,), 1000.0 * pe, device="cuda"), torch.cuda.CUDAGraph()
    exchange(inbox, outbox, signal, pe, (pe + 1) % n_pes)  # round 1; compiles
    with torch.cuda.graph(graph):
        received = exchange(inbox, outbox, signal, pe, (pe + 1) % n_pes)
    for turn in range(2, ROUNDS + 1):
        graph.replay()
        if not (received == 1000.0 * ((pe - 1) % n_pes) + turn).all():
            raise SystemExit(f"PE {pe}, round {turn}: unexpected numbers")
    print(f"PE {pe} of {n_pes}: {ROUNDS} rounds of {COUNT} numbers from PE {(pe - 1) % n_pes}")


with shmem.init():
    ring(shmem.my_pe(), shmem.n_pes())
