#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Measures the collectives of `gdrkit nccl` by PyTorch's NCCL with CUDA events, and compares the times with gdrkit's.

    torchrun --nproc-per-node 2 scripts/nccl_reference.py -b 8 -e 8G -f 4 --gdrkit build/bin/gdrkit

Requires PyTorch with CUDA, and as many GPUs as processes. Each size alternates: gdrkit runs in its own processes, with
the libnccl.so.2 that PyTorch has loaded, while PyTorch's ranks wait. Exit code 1: from 1 MiB on, the times of some size
differ by more than --tolerance."""
import argparse
import ctypes
import json
import os
import re
import subprocess
import sys

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
FIRST_JUDGED = 1 << 20  # below this size, a launch from Python takes longer than the collective


def size_of(text):
    number, unit = re.fullmatch(r"(\d+)([KMG]?)", text).groups()
    return int(number) * UNITS[unit]


def sizes_of(options):
    size = options.begin
    while size <= options.end:
        yield size
        size *= options.factor


def iterations_of(size, options):
    return options.iterations if size < 64 << 20 else max(5, options.iterations // 5)


def loaded_nccl():
    """Returns the path of the NCCL library that this process has mapped."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        return next((line.split()[-1] for line in file if "libnccl.so" in line), None)


def torch_us(torch, distributed, size, iterations):
    """Returns the time of one all_reduce of floats on the slowest rank, from two events around all iterations."""
    values = torch.zeros(max(size // 4, 1), dtype=torch.float32, device="cuda")
    for _ in range(5):
        distributed.all_reduce(values)
    torch.cuda.synchronize()
    distributed.barrier()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(iterations):
        distributed.all_reduce(values)
    end.record()
    torch.cuda.synchronize()
    spent = torch.tensor([begin.elapsed_time(end) * 1000 / iterations], device="cuda")
    distributed.all_reduce(spent, op=distributed.ReduceOp.MAX)
    del values
    torch.cuda.empty_cache()
    return spent.item()


def gdrkit_us(options, ranks, size, iterations, library):
    """Returns gdrkit's time in place, as PyTorch measures it."""
    clean = {name: value for name, value in os.environ.items()
             if not re.match(r"RANK$|WORLD_SIZE$|LOCAL_|GROUP_|ROLE_|MASTER_|TORCHELASTIC_|OMP_NUM", name)}
    command = [options.gdrkit, "run", "-n", str(ranks), "--", options.gdrkit, "nccl", "all_reduce", "-b", str(size), "-e", str(size),
               "-n", str(iterations), "-w", "5", "-c", "0", "--json", *(("--nccl", library) if library else ())]
    ended = subprocess.run(command, env=clean, capture_output=True, text=True, check=False, timeout=600)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {ended.returncode}: {ended.stderr}")
    for series in json.loads(ended.stdout)["series"]:
        if series["conditions"]["place"] == "in_place" and series["conditions"]["quantity"] == "time":
            return series["points"][0]["value"]
    raise SystemExit("cannot compare: gdrkit's document contains no in-place time")


def version_of(library):
    number = ctypes.c_int()
    ctypes.CDLL(library).ncclGetVersion(ctypes.byref(number))
    return f"{number.value // 10000}.{number.value // 100 % 100}.{number.value % 100}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-b", "--begin", type=size_of, default=8)
    parser.add_argument("-e", "--end", type=size_of, default=size_of("8G"))
    parser.add_argument("-f", "--factor", type=int, default=4)
    parser.add_argument("-n", "--iterations", type=int, default=50)
    parser.add_argument("--tolerance", type=float, default=2, help="allowed difference in percent (2)")
    parser.add_argument("--gdrkit", default="gdrkit")
    options = parser.parse_args()
    import torch  # pylint: disable=import-outside-toplevel
    from torch import distributed  # pylint: disable=import-outside-toplevel
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl")
    waiting = distributed.new_group(backend="gloo")  # its barrier does not use the GPU
    is_first, ranks = distributed.get_rank() == 0, distributed.get_world_size()
    distributed.barrier()
    library = loaded_nccl()
    if is_first:
        print(f"NCCL {version_of(library) if library else 'of unknown version'}, {ranks} x {torch.cuda.get_device_name()}")
        print(f"{'bytes':>12}{'PyTorch us':>14}{'gdrkit us':>14}{'difference':>12}", flush=True)
    apart = []
    for size in sizes_of(options):
        iterations = iterations_of(size, options)
        reference = torch_us(torch, distributed, size, iterations)
        if is_first:
            own = gdrkit_us(options, ranks, size, iterations, library)
            percent = (own / reference - 1) * 100
            apart += [size] if size >= FIRST_JUDGED and abs(percent) > options.tolerance else []
            print(f"{size:>12}{reference:>14.2f}{own:>14.2f}{percent:>+11.1f}%", flush=True)
        distributed.barrier(group=waiting)
    distributed.destroy_process_group()
    if apart:
        print(f"differ by more than {options.tolerance} %: {', '.join(map(str, apart))} bytes")
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
