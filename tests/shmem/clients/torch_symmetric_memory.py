#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""How far PyTorch's symmetric memory with its NVSHMEM backend gets, step by step.

usage: torch_symmetric_memory.py [-n RANKS]     starts the processes; with fewer GPUs than ranks, they share the GPUs
LD_PRELOAD chooses the library, as for nvshmem4py_cases.py. The steps follow each other in one job; the last ones run GPU
kernels of PyTorch with NVSHMEM's device library. Prints a line for each step and rank. Exits with 1 if a step failed, and
with 77 without PyTorch or GPUs.
"""
import glob
import importlib.util
import os
import subprocess
import sys
import tempfile

COUNT = 1024
STEPS = {}


def step(function):
    STEPS[function.__name__] = function
    return function


class Context:
    def __init__(self, torch, dist, symmetric, rank):
        self.torch, self.dist, self.symmetric, self.rank = torch, dist, symmetric, rank
        self.device = torch.device("cuda", torch.cuda.current_device())
        self.ranks = dist.get_world_size()
        self.name = dist.group.WORLD.group_name
        self.operators = torch.ops.symm_mem

    def tensor(self, value=0, count=COUNT, dtype=None):
        """Symmetric memory that holds the value, and its handle."""
        made = self.symmetric.empty(count, dtype=dtype or self.torch.float32, device=self.device)
        made.fill_(value)
        return made, self.symmetric.rendezvous(made, group=self.name)

    def integers(self, rows):
        """Symmetric memory that holds the rows of 64-bit integers."""
        made, _ = self.tensor(0, sum(map(len, rows)), self.torch.int64)
        made.copy_(self.torch.tensor([number for row in rows for number in row], device=self.device))
        return made if len(rows) == 1 else made.view(len(rows), -1)

    def meet(self):
        self.torch.cuda.synchronize()
        self.dist.barrier()

    def between_barriers(self, operator, *arguments):
        self.meet()
        if operator:
            operator(*arguments)
        self.meet()

    def has_part_of_each_rank(self, target):
        part = COUNT // self.ranks
        return all(target[rank * part:(rank + 1) * part].eq(rank).all() for rank in range(self.ranks))


@step
def allocate(context):
    made = context.symmetric.empty(COUNT, device=context.device)
    assert made.numel() == COUNT


@step
def rendezvous(context):
    _, handle = context.tensor()
    assert (handle.rank, handle.world_size) == (context.rank, context.ranks)


@step
def peer_buffers(context):
    _, handle = context.tensor(context.rank + 1)
    context.meet()
    after = (context.rank + 1) % context.ranks
    assert handle.get_buffer(after, (COUNT,), context.torch.float32).eq(after + 1).all()
    context.meet()


@step
def signal_pads_and_barrier(context):
    _, handle = context.tensor()
    handle.barrier(channel=0)
    context.meet()


@step
def put_operator(context):
    made, _ = context.tensor(context.rank + 1)
    context.between_barriers(context.rank == 0 and context.operators.nvshmem_put, made, 1)
    assert made.eq(1 if context.rank <= 1 else context.rank + 1).all()


@step
def get_operator(context):
    made, _ = context.tensor(context.rank + 1)
    context.between_barriers(context.rank == 0 and context.operators.nvshmem_get, made, 1)
    assert made.eq(2 if context.rank <= 1 else context.rank + 1).all()


@step
def broadcast_operator(context):
    made, _ = context.tensor(context.rank + 7)
    context.between_barriers(context.operators.nvshmem_broadcast, made, 0, context.name)
    assert made.eq(7).all()


@step
def all_to_all_operator(context):
    source, _ = context.tensor(context.rank)
    target, _ = context.tensor()
    context.between_barriers(context.operators.nvshmem_all_to_all, source, target, context.name)
    assert context.has_part_of_each_rank(target)


@step
def signal_operators(context):
    made, _ = context.tensor(context.rank + 1)
    pad, _ = context.tensor(0, 8, context.torch.int64)
    after = (context.rank + 1) % context.ranks
    before = (context.rank - 1) % context.ranks
    context.meet()
    context.operators.nvshmem_put_with_signal(made, pad, 5, after)
    context.operators.nvshmem_wait_for_signal(pad, 5, before)
    context.meet()
    assert made.eq(before + 1).all() and pad[0].item() == 5


# The following operators run GPU kernels of PyTorch with NVSHMEM's device library.


@step
def all_to_all_vdev_operator(context):
    """Equal parts, several times: the barriers count."""
    source, _ = context.tensor(context.rank)
    target, _ = context.tensor()
    splits = context.integers([[COUNT // context.ranks] * context.ranks])
    result = context.integers([[0] * context.ranks] * 2)
    for _ in range(5):
        target.fill_(-1)
        context.between_barriers(context.operators.all_to_all_vdev, source, target, splits, result, context.name)
        assert context.has_part_of_each_rank(target)


@step
def all_to_all_vdev_of_unequal_parts(context):
    """Rank r sends 8 * (r + 2 * p + 1) elements to rank p."""
    length = [[8 * (sender + 2 * receiver + 1) for receiver in range(context.ranks)] for sender in range(context.ranks)]
    source, _ = context.tensor()
    source.copy_(context.torch.arange(COUNT, device=context.device) + 10000 * context.rank)
    target, _ = context.tensor(-1)
    splits = context.integers([length[context.rank]])
    result = context.integers([[0] * context.ranks] * 2)
    context.between_barriers(context.operators.all_to_all_vdev, source, target, splits, result, context.name)
    received = [length[sender][context.rank] for sender in range(context.ranks)]
    assert result[0].tolist() == received
    assert result[1].tolist() == [sum(received[:sender]) for sender in range(context.ranks)]
    for sender in range(context.ranks):
        first = 10000 * sender + sum(length[sender][:context.rank])
        start = sum(received[:sender])
        expected = context.torch.arange(first, first + received[sender], device=context.device)
        assert target[start:start + received[sender]].eq(expected).all()


EXPERTS = 2


@step
def all_to_all_vdev_2d_operators(context):
    """To the experts of each rank, and back: the result is the source."""
    experts = EXPERTS * context.ranks
    length = [[4 * (sender + expert + 1) for expert in range(experts)] for sender in range(context.ranks)]
    sent = sum(length[context.rank])
    source, _ = context.tensor()
    source.copy_(context.torch.arange(COUNT, device=context.device) + 10000 * context.rank)
    there, _ = context.tensor(-1)
    back, _ = context.tensor(-1)
    splits = context.integers([length[context.rank]])
    there_result = context.integers([[0] * experts] * 2)
    back_result = context.integers([[0] * experts] * 2)
    align = 8
    context.between_barriers(context.operators.all_to_all_vdev_2d, source, there, splits, there_result, context.name,
                             align)
    start = 0
    for expert in range(EXPERTS):
        number = context.rank * EXPERTS + expert
        start = -(-start // align) * align
        for sender in range(context.ranks):
            n = length[sender][number]
            first = 10000 * sender + sum(length[sender][:number])
            assert there[start:start + n].eq(context.torch.arange(first, first + n, device=context.device)).all()
            column = expert * context.ranks + sender
            assert there_result[:, column].tolist() == [n, start]
            start += n
    context.between_barriers(context.operators.all_to_all_vdev_2d_offset, there, back, there_result, back_result,
                             context.name)
    assert back[:sent].eq(source[:sent]).all()
    assert back_result[0].tolist() == length[context.rank]


def as_rank(rank, ranks, store):
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symmetric
    gpus = torch.cuda.device_count()
    device = torch.device("cuda", rank % gpus)
    torch.cuda.set_device(device)
    # NCCL rejects two ranks on one GPU.
    backend = {"backend": "nccl", "device_id": device} if gpus >= ranks else {"backend": "gloo"}
    dist.init_process_group(**backend, init_method=f"file://{store}", rank=rank, world_size=ranks)
    symmetric.set_backend("NVSHMEM")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        libraries = sorted({line.split()[-1] for line in maps if "nvshmem" in line})
    if rank == 0:
        print(f"torch {torch.__version__}: {' '.join(libraries)}", flush=True)
    failed = 0
    context = Context(torch, dist, symmetric, rank)
    for name, function in STEPS.items():
        try:
            function(context)
            result = "ok"
        except Exception as error:  # pylint: disable=broad-exception-caught
            failed = 1
            result = f"failed: {type(error).__name__} {' '.join(str(error).split())[:300]}"
        sys.stdout.write(f"rank {rank} {name}: {result}\n")
        sys.stdout.flush()
    os._exit(failed)  # without the end of the libraries, which waits for the other ranks


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--rank"]:
        return as_rank(int(arguments[1]), int(arguments[2]), arguments[3])
    ranks = int(arguments[1]) if arguments[:1] == ["-n"] else 2
    if importlib.util.find_spec("torch") is None or not glob.glob("/dev/nvidia[0-9]*"):
        print("skipped: needs PyTorch and a GPU")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-B", os.path.abspath(__file__), "--rank"]
        store = os.path.join(folder, "store")
        processes = [subprocess.Popen([*command, str(rank), str(ranks), store]) for rank in range(ranks)]
        results = [process.wait() for process in processes]
    print(f"exit codes {results}")
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
