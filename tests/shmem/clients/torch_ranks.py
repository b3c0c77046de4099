# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Processes with PyTorch's symmetric memory and its NVSHMEM backend, for the programs of this directory.

A program fills a dictionary of steps and calls main(). LD_PRELOAD chooses the library, as for nvshmem4py_cases.py.
"""
import argparse
import glob
import importlib.util
import os
import subprocess
import sys
import tempfile


class Context:
    """A rank of the job, and what its steps use."""

    def __init__(self, torch, dist, symmetric, rank):
        self.torch, self.dist, self.symmetric, self.rank = torch, dist, symmetric, rank
        self.device = torch.device("cuda", torch.cuda.current_device())
        self.ranks = dist.get_world_size()
        self.name = dist.group.WORLD.group_name
        self.operators = torch.ops.symm_mem

    def tensor(self, value=0, count=1024, dtype=None):
        """Returns symmetric memory that holds the value, and its handle. Collective."""
        made = self.symmetric.empty(count, dtype=dtype or self.torch.float32, device=self.device)
        made.fill_(value)
        return made, self.symmetric.rendezvous(made, group=self.name)

    def integers(self, rows):
        """Returns symmetric memory that holds the rows of 64-bit integers. Collective."""
        made, _ = self.tensor(0, sum(map(len, rows)), self.torch.int64)
        made.copy_(self.torch.tensor([number for row in rows for number in row], device=self.device))
        return made if len(rows) == 1 else made.view(len(rows), -1)

    def synchronize(self):
        """Waits for the work of the GPU, then for all ranks."""
        self.torch.cuda.synchronize()
        self.dist.barrier()

    def between_barriers(self, operator, *arguments):
        self.synchronize()
        if operator:
            operator(*arguments)
        self.synchronize()


def expect(name, actual, expected):
    """Fails if a tensor differs from the expected number or tensor, with the first difference."""
    actual = actual.flatten().tolist()
    expected = [expected] * len(actual) if isinstance(expected, (int, float)) else expected.flatten().tolist()
    if len(actual) != len(expected):
        raise AssertionError(f"{name} has {len(actual)} elements instead of {len(expected)}")
    wrong = [index for index, pair in enumerate(zip(actual, expected)) if pair[0] != pair[1]]
    if wrong:
        first = wrong[0]
        raise AssertionError(f"{name}: {len(wrong)} of {len(actual)} elements differ; element {first} is "
                             f"{actual[first]} instead of {expected[first]}")


def as_rank(steps, rank, ranks, store):
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
    for name, function in steps.items():
        try:
            result = function(context) or "ok"
        except Exception as error:  # pylint: disable=broad-exception-caught
            failed = 1
            result = f"failed: {type(error).__name__} {' '.join(str(error).split())[:300]}"
        sys.stdout.write(f"rank {rank} {name}: {result}\n")
        sys.stdout.flush()
    os._exit(failed)  # without the end of the libraries, which waits for the other ranks


def main(steps):
    """Runs the steps in -n processes (default: 2), or those whose names contain the text of -s.

    A step takes the Context and returns None or the result to print. Prints a line for each step and rank. Returns the
    exit code: 1 if a step failed, 77 without PyTorch or a GPU.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=2, metavar="RANKS", help="number of processes (default: 2)")
    parser.add_argument("-s", default="", metavar="TEXT", help="run only steps whose names contain this text")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank is not None:
        selected = {name: function for name, function in steps.items() if arguments.s in name}
        return as_rank(selected, arguments.rank, arguments.n, arguments.store)
    if importlib.util.find_spec("torch") is None or not glob.glob("/dev/nvidia[0-9]*"):
        print("skipped: needs PyTorch and a GPU")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-B", *sys.argv, "--store", os.path.join(directory, "store"), "--rank"]
        processes = [subprocess.Popen([*command, str(rank)]) for rank in range(arguments.n)]
        results = [process.wait() for process in processes]
    print(f"exit codes {results}")
    return 1 if any(results) else 0
