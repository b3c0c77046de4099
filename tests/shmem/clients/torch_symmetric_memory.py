#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""How far PyTorch's symmetric memory with its NVSHMEM backend gets, step by step.

usage: torch_symmetric_memory.py [-n RANKS] [-s TEXT]
Starts the processes. With fewer GPUs than ranks, they share the GPUs. -s selects the steps whose names contain TEXT.
The steps follow each other in one job. The last ones run GPU kernels of PyTorch with NVSHMEM's device library.
"""
import statistics
import sys
import time

from torch_ranks import expect, main

COUNT = 1024
STEPS = {}


def step(function):
    STEPS[function.__name__] = function
    return function


def expect_part_of_each_rank(context, target):
    part = COUNT // context.ranks
    expect("target", target[:part * context.ranks], context.torch.arange(context.ranks).repeat_interleave(part))


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
    context.synchronize()
    after = (context.rank + 1) % context.ranks
    expect("peer buffer", handle.get_buffer(after, (COUNT,), context.torch.float32), after + 1)
    context.synchronize()


@step
def signal_pads_and_barrier(context):
    _, handle = context.tensor()
    handle.barrier(channel=0)
    context.synchronize()


@step
def put_operator(context):
    made, _ = context.tensor(context.rank + 1)
    context.between_barriers(context.rank == 0 and context.operators.nvshmem_put, made, 1)
    expect("tensor", made, 1 if context.rank <= 1 else context.rank + 1)


@step
def get_operator(context):
    made, _ = context.tensor(context.rank + 1)
    context.between_barriers(context.rank == 0 and context.operators.nvshmem_get, made, 1)
    expect("tensor", made, 2 if context.rank <= 1 else context.rank + 1)


@step
def broadcast_operator(context):
    made, _ = context.tensor(context.rank + 7)
    context.between_barriers(context.operators.nvshmem_broadcast, made, 0, context.name)
    expect("tensor", made, 7)


@step
def all_to_all_operator(context):
    source, _ = context.tensor(context.rank)
    target, _ = context.tensor()
    context.between_barriers(context.operators.nvshmem_all_to_all, source, target, context.name)
    expect_part_of_each_rank(context, target)


@step
def signal_operators(context):
    """In a ring, with a tensor for each sender: the operator's source and target are the same tensor, so two ranks that
    exchange one tensor overwrite each other's source."""
    tensors = [context.tensor(context.rank + 1)[0] for _ in range(context.ranks)]
    pad, _ = context.tensor(0, 8, context.torch.int64)
    after = (context.rank + 1) % context.ranks
    before = (context.rank - 1) % context.ranks
    context.synchronize()
    context.operators.nvshmem_put_with_signal(tensors[context.rank], pad, 5, after)
    context.operators.nvshmem_wait_for_signal(pad, 5, before)
    context.synchronize()
    expect("signals", pad, context.torch.tensor([5] + 7 * [0]))
    for sender, tensor in enumerate(tensors):
        expect(f"tensor of rank {sender}", tensor, before + 1 if sender == before else context.rank + 1)


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
        expect_part_of_each_rank(context, target)


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
    expect("splits", result[0], context.torch.tensor(received))
    expect("offsets", result[1], context.torch.tensor([sum(received[:sender]) for sender in range(context.ranks)]))
    for sender in range(context.ranks):
        first = 10000 * sender + sum(length[sender][:context.rank])
        start = sum(received[:sender])
        expected = context.torch.arange(first, first + received[sender])
        expect(f"part of rank {sender}", target[start:start + received[sender]], expected)


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
            expect(f"expert {number}", there[start:start + n], context.torch.arange(first, first + n))
            column = expert * context.ranks + sender
            expect(f"column {column}", there_result[:, column], context.torch.tensor([n, start]))
            start += n
    context.between_barriers(context.operators.all_to_all_vdev_2d_offset, there, back, there_result, back_result,
                             context.name)
    expect("tensor that came back", back[:sent], source[:sent])
    expect("splits", back_result[0], context.torch.tensor(length[context.rank]))


CALLS, ROUNDS = 20, 9


def time_of_all_to_all_vdev(context, size_bytes):
    """Returns the time per call. Each rank sends equal parts of its input to all ranks.

    The calls of a round follow each other on the stream, without a barrier between them. A round ends when the GPU has
    completed them. Ranks on one GPU run in turns, so there the result is mainly the length of the driver's time slices.
    """
    count = size_bytes // 4
    part = count // context.ranks
    source, _ = context.tensor(context.rank, count)
    target, _ = context.tensor(-1, count)
    splits = context.integers([[part] * context.ranks])
    result = context.integers([[0] * context.ranks] * 2)
    arguments = source, target, splits, result, context.name
    context.between_barriers(context.operators.all_to_all_vdev, *arguments)
    expect("target", target, context.torch.arange(context.ranks).repeat_interleave(part))
    times = []
    for _ in range(ROUNDS):
        context.synchronize()
        begin = time.perf_counter()
        for _ in range(CALLS):
            context.operators.all_to_all_vdev(*arguments)
        context.torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / CALLS * 1e6)
    context.synchronize()
    return (f"ok, median {statistics.median(times):.1f} us per call, {min(times):.1f} to {max(times):.1f} in {ROUNDS} "
            f"rounds of {CALLS} calls")


@step
def time_of_all_to_all_vdev_8_kib(context):
    return time_of_all_to_all_vdev(context, 8 << 10)


@step
def time_of_all_to_all_vdev_4_mib(context):
    return time_of_all_to_all_vdev(context, 4 << 20)


if __name__ == "__main__":
    sys.exit(main(STEPS))
