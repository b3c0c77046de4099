# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Each PE puts a row of numbers and then a signal into the next PE's GPU, and checks the numbers from the previous PE.
Without a launcher the job has one PE, which is its own neighbour.

  gdrkit run -n 2 -- python3 shmem_ring.py              one PE on each GPU
  gdrkit run -n 4 --emulated -- python3 shmem_ring.py   any machine
"""
from array import array

from gdrkit import shmem

COUNT, ROUNDS = 1000, 100
with shmem.init():
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    after, before = (pe + 1) % n_pes, (pe - 1) % n_pes
    inbox = shmem.zeros(COUNT, "int64")  # on every PE's GPU; torch.from_dlpack(inbox) is a tensor on it
    signal = shmem.zeros(1, "uint64")
    for turn in range(1, ROUNDS + 1):
        numbers = array("q", range(1000 * pe + turn, 1000 * pe + turn + COUNT))
        shmem.put_signal(inbox, numbers, signal, turn, after)  # the signal becomes visible after the numbers
        shmem.signal_wait_until(signal, ">=", turn)
        seen = array("q", bytes(inbox.nbytes))
        shmem.get(seen, inbox, pe)
        if seen != array("q", range(1000 * before + turn, 1000 * before + turn + COUNT)):
            raise SystemExit(f"PE {pe}, round {turn}: the numbers differ from those that PE {before} sent")
        shmem.barrier_all()  # no PE overwrites unchecked numbers
    print(f"PE {pe} of {n_pes}: {ROUNDS} rounds of {COUNT} numbers from PE {before}")
