#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Maps the memory of PyTorch tensors and checks it in both directions, together with the caching allocator and CUDA
graphs.

usage: pytorch_mapping.py LIBRARY_FOLDER
Runs itself once for each of PyTorch's allocators: native, expandable segments, cudaMallocAsync.
"""
import os
import subprocess
import sys

ALLOCATORS = {"native": "", "expandable segments": "expandable_segments:True", "cudaMallocAsync": "backend:cudaMallocAsync"}


def random_bytes(torch, count):
    return bytes(torch.randint(0, 256, (count,), dtype=torch.uint8).tolist())


def check_tensor(torch, gdrkit, tensor, name):
    size = tensor.numel() * tensor.element_size()
    mapping = gdrkit.map(tensor)
    data = random_bytes(torch, min(size, 1 << 20))
    mapping.write(data)
    seen = bytes(tensor.view(torch.uint8).flatten()[:len(data)].cpu().tolist())
    assert seen == data, f"{name}: PyTorch reads other data than was written through the mapping"
    tensor.view(torch.uint8).random_(0, 256)
    torch.cuda.synchronize()
    expected = bytes(tensor.view(torch.uint8).flatten()[:65536].cpu().tolist())
    assert mapping.read(len(expected)) == expected, f"{name}: the mapping returns other data than the GPU wrote"
    tail = bytes(tensor.view(torch.uint8).flatten()[-100:].cpu().tolist())
    assert mapping.read(len(tail), size - len(tail)) == tail, f"{name}: the tensor's last bytes differ"
    print(f"  {name}: {size} bytes, written and read both ways, verified by {mapping.verification()}")
    mapping.close()


def check_reuse(torch, gdrkit):
    """Checks that a new mapping of a block that the caching allocator reused returns the new data."""
    for _ in range(20):
        tensor = torch.empty(300_000, dtype=torch.uint8, device="cuda")
        mapping = gdrkit.map(tensor)
        data = random_bytes(torch, 4096)
        mapping.write(data, 1234)
        assert bytes(tensor[1234:1234 + 4096].cpu().tolist()) == data
        mapping.close()
        del tensor
    torch.cuda.empty_cache()
    print("  blocks reused by the allocator: 20 of 20 correct")


def check_graph(torch, gdrkit):
    """Maps a tensor while a graph is being captured, then writes inputs and reads results of the graph through mappings only."""
    source = torch.zeros(1024, dtype=torch.int32, device="cuda")
    target = torch.zeros(1024, dtype=torch.int32, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        target.copy_(source * 3 + 1)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        target.copy_(source * 3 + 1)
        into = gdrkit.map(source)
        out_of = gdrkit.map(target)
    for round_number in range(50):
        values = torch.arange(1024, dtype=torch.int32) + round_number * 7
        into.write(values.numpy().tobytes())
        graph.replay()
        torch.cuda.synchronize()
        assert out_of.read() == (values * 3 + 1).numpy().tobytes(), "a replay read or wrote other memory than the mapping"
    into.close()
    out_of.close()
    print("  CUDA graph: mapped during capture, 50 replays written and read through the mappings")


def check_allocator(library_folder, allocator):
    import torch
    if not torch.cuda.is_available():
        print("PyTorch found no GPU")
        return 77
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from gdrkit_ctypes import Gdrkit
    gdrkit = Gdrkit(library_folder)
    print(f"PyTorch {torch.__version__}, allocator: {allocator}")
    check_tensor(torch, gdrkit, torch.empty(100, dtype=torch.float32, device="cuda"), "small tensor")
    check_tensor(torch, gdrkit, torch.empty(3, 1000, 1000, dtype=torch.float16, device="cuda"), "3x1000x1000 half")
    large = torch.empty(100_000_000, dtype=torch.uint8, device="cuda")
    check_tensor(torch, gdrkit, large, "100 MB tensor")
    check_tensor(torch, gdrkit, large[12_345_679:12_345_679 + 5_000_000], "slice at an odd address")
    check_reuse(torch, gdrkit)
    check_graph(torch, gdrkit)
    gdrkit.close()
    return 0


def main():
    if len(sys.argv) == 3:
        return check_allocator(sys.argv[1], sys.argv[2])
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    worst = 0
    for allocator, setting in ALLOCATORS.items():
        environment = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF=setting) if setting else dict(os.environ)
        result = subprocess.run([sys.executable, __file__, sys.argv[1], allocator], env=environment, timeout=240)
        worst = max(worst, result.returncode) if result.returncode >= 0 else 1
    print("PyTorch: passed" if worst == 0 else "PyTorch: NOT passed")
    return worst


if __name__ == "__main__":
    sys.exit(main())
