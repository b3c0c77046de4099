# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""On a GPU, with PyTorch: its tensors through mappings, its streams, and tensors on the symmetric heap of two GPUs. Arrays
of CuPy and JAX through mappings."""
import gc
import importlib.util
import sys

import gdrkit
import pytest
from examples_test import EXAMPLES, programs
from gdrkit import shmem
from jobs import expect_each_once, gdrkit_program, run_all_well, run_ok, torchrun

pytestmark = pytest.mark.gpu

TWO_GPUS = """
import torch
import gdrkit.shmem as shmem
with shmem.init():
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    torch.cuda.set_device(shmem.info().device)
    inbox, signal = shmem.zeros((64, 1024), "float32"), shmem.zeros(1, "uint64")
    tensor = torch.from_dlpack(inbox)
    assert tensor.is_cuda and tensor.data_ptr() == inbox.address
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for turn in range(1, 21):
            mine = torch.full((64, 1024), 100.0 * pe + turn, device="cuda")
            shmem.put_signal(inbox, mine, signal, turn, (pe + 1) % n_pes, stream=stream)
            shmem.signal_wait_until(signal, ">=", turn, stream=stream)
            total = tensor.sum(dtype=torch.float64)
            shmem.barrier_all(stream)
            stream.synchronize()
            assert total.item() == 64 * 1024 * (100.0 * ((pe - 1) % n_pes) + turn)
    del tensor, total
    print("PE", pe)
"""

WITH_NCCL = """
import torch
import torch.distributed as distributed
import gdrkit.shmem as shmem
with shmem.init():
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    torch.cuda.set_device(shmem.info().device)
    distributed.init_process_group("nccl")
    assert (pe, n_pes) == (distributed.get_rank(), distributed.get_world_size())
    array = shmem.zeros((64, 100), torch.bfloat16)
    tensor = array.tensor()
    tensor.fill_(pe + 1)
    distributed.all_reduce(tensor)
    torch.cuda.synchronize()
    assert (tensor == n_pes * (n_pes + 1) // 2).all()
    distributed.destroy_process_group()
    del tensor
    print("PE", pe)
"""

# Every way to symmetric memory of PyTorch: allocated, of a pool, of torch.distributed's symmetric memory, and of expandable
# segments, whose tensors begin anywhere in an allocation of 20 MiB.
OPERATORS = """
import gdrkit, torch
import torch.distributed._symmetric_memory as symmetric_memory
from gdrkit import shmem
from gdrkit.shmem import torch as gshmem
def exchange(name, inbox, pe, n):
    signal = gshmem.zeros(1, dtype=torch.int64)
    torch.cuda.synchronize()
    shmem.barrier_all()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for turn in range(1, 21):
            gshmem.put_signal(inbox, torch.full_like(inbox, 100.0 * pe + turn), signal, turn, (pe + 1) % n)
            gshmem.signal_wait_until(signal, ">=", turn, [inbox])
            total = inbox.sum(dtype=torch.float64)
            gshmem.barrier_all([inbox])
            gshmem.synchronize()
            assert total.item() == inbox.numel() * (100.0 * ((pe - 1) % n) + turn), (name, turn, total.item())
    gshmem.free(signal)
    print(name, "PE", pe, flush=True)
def main(pe, n):
    device = torch.device("cuda", shmem.info().device)
    torch.cuda.set_device(device)
    exchange("allocated", gshmem.empty(64, 1024), pe, n)
    pool = gshmem.pool()
    with torch.cuda.use_mem_pool(pool):
        small, large = torch.zeros(1000, device=device), torch.zeros(8 << 20, device=device)
    exchange("small of the pool", small, pe, n)
    exchange("large of the pool", large, pe, n)
    of_distributed = symmetric_memory.empty(100000, device=device)
    exchange("of torch.distributed", gshmem.register(of_distributed), pe, n)
    torch.cuda.empty_cache()
    torch.cuda.memory._set_allocator_settings("expandable_segments:True")
    before, mine, also = (torch.zeros(3 << 18, device=device) for _ in range(3))
    shared = gshmem.register(mine)
    exchange("of an expandable segment", shared, pe, n)
    assert mine.equal(shared) and not before.any() and not also.any()
    again = gshmem.register(also)
    exchange("of the same segment", again, pe, n)
    gshmem.free(again)
    gshmem.free(shared)
    for tensor, reason in ((torch.zeros(40 << 20, device=device), "of a physical allocation: the allocation has only"), (torch.zeros(8), "on cpu")):
        try:
            gshmem.register(tensor)
        except (ValueError, TypeError) as error:
            assert reason in str(error), error
        else:
            raise AssertionError("registered: " + reason)
    torch.cuda.memory._set_allocator_settings("expandable_segments:False")
    try:
        gshmem.register(torch.zeros(40 << 20, device=device))
    except gdrkit.Error as error:
        assert "expandable_segments:True" in str(error), error
    else:
        raise AssertionError("registered: memory of cudaMalloc")
with shmem.init():
    main(shmem.my_pe(), shmem.n_pes())
"""

# Collectives and transfers in a CUDA graph, without torch.compile and with it.
CAPTURED = """
import torch
from gdrkit import shmem
from gdrkit.shmem import torch as gshmem
def step(source, gathered, summed, exchanged, part, got, turn, pe, after):
    turn.add_(1)
    own = (torch.arange(source.numel(), device="cuda") + 10 * pe + turn).float()
    gshmem.put(source, own, pe)
    gshmem.barrier_all([source])
    gshmem.all_gather(gathered, source)
    gshmem.all_reduce(summed, source)
    gshmem.all_to_all(exchanged, source)
    gshmem.reduce_scatter(part, source, "max")
    gshmem.get(got, source, after)
    results = gathered.clone(), summed.clone(), exchanged.clone(), part.clone(), got.clone()
    gshmem.barrier_all([source, gathered, summed, exchanged, part])
    return results
def main(pe, n):
    torch.cuda.set_device(shmem.info().device)
    for function in (step, torch.compile(step, fullgraph=True)):
        count = 4 * n
        source, gathered, summed, exchanged = (gshmem.zeros(extent) for extent in (count, n * count, count, count))
        part, got = gshmem.zeros(4), torch.zeros(count, device="cuda")
        turn = torch.zeros((), dtype=torch.int64, device="cuda")
        arguments = source, gathered, summed, exchanged, part, got, turn, pe, (pe + 1) % n
        function(*arguments)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results = function(*arguments)
        for t in range(2, 12):
            graph.replay()
            gshmem.synchronize()
            of = lambda j: [10.0 * j + t + i for i in range(count)]
            expected = ([x for j in range(n) for x in of(j)], [sum(of(j)[i] for j in range(n)) for i in range(count)],
                      [x for j in range(n) for x in of(j)[4 * pe : 4 * pe + 4]], of(n - 1)[4 * pe : 4 * pe + 4], of((pe + 1) % n))
            for result, correct in zip(results, expected):
                assert result.tolist() == correct, (t, result, correct)
        shmem.barrier_all()
    print("PE", pe)
with shmem.init():
    main(shmem.my_pe(), shmem.n_pes())
"""

# Tensors of any place in an allocation, blocks that the allocator reuses, and a graph whose input and output are mapped
# during capture.
ALLOCATOR = """
import gdrkit, torch
def random_bytes(count):
    return bytes(torch.randint(0, 256, (count,), dtype=torch.uint8).tolist())
def check_tensor(tensor, name):
    content = tensor.view(torch.uint8).flatten()
    with gdrkit.map(tensor) as mapping:
        data = random_bytes(min(mapping.nbytes, 1 << 20))
        mapping.write(0, data)
        assert bytes(content[:len(data)].cpu().tolist()) == data, name + ": PyTorch reads data that differs from the written data"
        content.random_(0, 256)
        torch.cuda.synchronize()
        for part in (slice(0, 65536), slice(-100, None)):
            expected = bytes(content[part].cpu().tolist())
            offset = 0 if part.start == 0 else mapping.nbytes - len(expected)
            assert mapping.read(offset, len(expected)) == expected, name + ": the mapping returns other data than the GPU wrote"
check_tensor(torch.empty(100, dtype=torch.float32, device="cuda"), "small tensor")
check_tensor(torch.empty(3, 1000, 1000, dtype=torch.float16, device="cuda"), "3x1000x1000 half")
large = torch.empty(100_000_000, dtype=torch.uint8, device="cuda")
check_tensor(large, "100 MB tensor")
check_tensor(large[12_345_679:12_345_679 + 5_000_000], "slice at an odd address")
for _ in range(20):
    tensor = torch.empty(300_000, dtype=torch.uint8, device="cuda")
    with gdrkit.map(tensor) as mapping:
        data = random_bytes(4096)
        mapping.write(1234, data)
        assert bytes(tensor[1234:1234 + 4096].cpu().tolist()) == data, "a reused block"
    del tensor, mapping
torch.cuda.empty_cache()
source, target = (torch.zeros(1024, dtype=torch.int32, device="cuda") for _ in range(2))
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    target.copy_(source * 3 + 1)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    target.copy_(source * 3 + 1)
    into, out_of = gdrkit.map(source), gdrkit.map(target)
for turn in range(50):
    values = torch.arange(1024, dtype=torch.int32) + turn * 7
    into.write(0, values.numpy())
    graph.replay()
    torch.cuda.synchronize()
    assert out_of.read(0, 4096) == (values * 3 + 1).numpy().tobytes(), turn
into.close()
out_of.close()
"""

# In a process of its own: a second framework takes memory of the GPU until its process ends.
WITH_JAX = """
import jax
import numpy
import gdrkit
print(jax.default_backend())
for dtype in ("float32", "bfloat16") if jax.default_backend() == "gpu" else ():
    array = jax.block_until_ready(jax.numpy.arange(1000).astype(dtype))
    data = numpy.asarray(array).tobytes()
    with gdrkit.map(array) as mapping:
        assert (mapping.shape, mapping.dtype, mapping.readonly) == ((1000,), dtype, True), mapping
        assert mapping.read(0, len(data)) == data
"""


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no GPU")
    return torch


@pytest.fixture
def two_gpus(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")


@pytest.mark.parametrize("dtype", ["uint8", "float16", "bfloat16", "float32", "int64", "bool", "complex64"])
def test_maps_a_tensor_of_any_type(torch, dtype):
    tensor = torch.zeros(3, 1000, dtype=getattr(torch, dtype), device="cuda")
    data = bytes(i % 2 for i in range(tensor.numel() * tensor.element_size()))
    with gdrkit.map(tensor) as mapping:
        assert (mapping.shape, mapping.dtype, mapping.nbytes) == ((3, 1000), dtype, len(data))
        mapping.write(0, data)
        assert bytes(tensor.view(torch.uint8).flatten().cpu().tolist()) == data
        tensor.zero_()
        torch.cuda.synchronize()
        assert mapping.read(0, len(data)) == bytes(len(data))


def test_maps_a_parameter_and_a_slice(torch):
    parameter = torch.nn.Parameter(torch.ones(1000, device="cuda"))
    with gdrkit.map(parameter) as mapping:
        assert mapping.load_flag(0, "float32") == 1.0
    with gdrkit.map(torch.arange(1000, device="cuda", dtype=torch.int64)[333:]) as mapping:
        assert mapping.load_flag(0, torch.int64) == 333
    with pytest.raises(ValueError, match="contiguous"):
        gdrkit.map(torch.zeros(10, 10, device="cuda").T)
    with pytest.raises(ValueError, match="empty"):
        gdrkit.map(torch.zeros(0, device="cuda"))
    with pytest.raises(TypeError, match="host memory"):
        gdrkit.map(torch.zeros(10))


def test_converts_library_memory_to_a_tensor(torch, context, buffer):
    tensor = torch.from_dlpack(buffer).view(torch.int32)
    assert tensor.is_cuda and tensor.data_ptr() == buffer.device_address
    tensor.fill_(7)
    torch.cuda.synchronize()
    with context.map(tensor[16:]) as mapping:
        assert (mapping.dtype, mapping.load_flag(0, "int32")) == ("int32", 7)
        mapping.write(0, bytes(range(8)))
    assert tensor.view(torch.uint8)[64:72].tolist() == list(range(8))
    del tensor


def test_maps_a_cupy_array():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    array = cupy.arange(1000, dtype="float32")
    data = array.get().tobytes()
    with gdrkit.map(array) as mapping:
        assert (mapping.shape, mapping.dtype, mapping.nbytes) == ((1000,), "float32", len(data))
        assert mapping.read(0, len(data)) == data
        mapping.write(0, bytes(len(data)))
        assert not array.get().any()


def test_maps_a_jax_array():
    if importlib.util.find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    if run_ok(sys.executable, "-c", WITH_JAX, XLA_PYTHON_CLIENT_PREALLOCATE="false") != "gpu\n":
        pytest.skip("JAX finds no GPU")


def test_a_mapping_keeps_the_tensors_memory(torch):
    mapping = gdrkit.map(torch.full((1000,), 7, dtype=torch.uint8, device="cuda"))
    gc.collect()
    others = [torch.zeros(1000, dtype=torch.uint8, device="cuda") for _ in range(100)]
    torch.cuda.synchronize()
    assert mapping.read(0, 1000) == bytes([7]) * 1000, "the allocator gave the memory to another tensor"
    mapping.close()
    del others


@pytest.mark.parametrize("setting", ["backend:native", "expandable_segments:True", "backend:cudaMallocAsync"])
def test_mappings_work_with_every_allocator(torch, setting):
    run_ok(sys.executable, "-c", ALLOCATOR, PYTORCH_CUDA_ALLOC_CONF=setting)


def test_wait_reads_data_written_by_a_stream(torch):
    flag = torch.zeros(1, dtype=torch.int32, device="cuda")
    with gdrkit.map(flag) as mapping:
        torch.cuda.synchronize()
        torch.cuda._sleep(10_000_000)
        flag.fill_(5)
        assert mapping.wait_flag(0, 5, timeout=10, dtype="int32") == 5


def test_supports_a_symmetric_tensor_on_one_gpu(torch):
    with shmem.init(timeout=60):
        array = shmem.zeros((4, 100), "float32")
        tensor = array.tensor()
        tensor.fill_(2.5)
        torch.cuda.synchronize()
        assert shmem.load(array[3][99], 0) == 2.5
        stream = torch.cuda.Stream()
        shmem.store(array[0][0], 8, 0, stream=stream)
        stream.synchronize()
        assert tensor[0, 0].item() == 8
        del tensor
        gc.collect()


def test_puts_and_gets_tensors_of_any_type(torch):
    with shmem.init(timeout=60):
        for dtype in ("uint8", "float16", "bfloat16", "float32", "int64", "bool"):
            array = shmem.zeros(1000, dtype)
            source = (torch.arange(1000, device="cuda") % 2).to(getattr(torch, dtype))
            target = torch.zeros_like(source)
            torch.cuda.synchronize()
            shmem.put(array, source, 0)
            shmem.get(target, array, 0)
            assert target.equal(source), dtype
            array.free()


@pytest.mark.parametrize("program", [TWO_GPUS, WITH_NCCL], ids=["put_and_signal", "nccl"])
def test_transfers_tensors_between_two_gpus(two_gpus, program):
    assert all(f"PE {pe}\n" in output for pe, output in enumerate(run_all_well(2, program, backend="")))


def test_operators_support_every_kind_of_symmetric_tensor(two_gpus):
    kinds = ("allocated", "small of the pool", "large of the pool", "of torch.distributed", "of an expandable segment",
             "of the same segment")
    for pe, output in enumerate(run_all_well(2, OPERATORS, backend="")):
        assert all(f"{kind} PE {pe}\n" in output for kind in kinds), output


def test_operators_run_in_a_cuda_graph(two_gpus):
    pytest.importorskip("triton", reason="Triton is not installed")  # torch.compile's
    assert all(f"PE {pe}\n" in output for pe, output in enumerate(run_all_well(2, CAPTURED, backend="", timeout=200)))


@pytest.mark.parametrize("launcher", ["gdrkit run", "torchrun"])
def test_the_ring_runs_on_two_gpus(two_gpus, launcher):
    ring = str(EXAMPLES / "shmem_ring.py")
    if launcher == "torchrun":
        output = torchrun(2, ring, backend="")
    else:
        output = run_ok(gdrkit_program(), "run", "-n", "2", "--", sys.executable, ring)
    expect_each_once(output, [f"PE {pe} of 2: 100 rounds of 1000 numbers from PE {1 - pe}" for pe in range(2)])


def test_documented_program_runs_on_two_gpus(two_gpus):
    page = next(text for text in programs() if "shmem.init()" in text)
    run_all_well(2, page, backend="")


@pytest.mark.parametrize("name, package", [("cupy_ring", "cupy"), ("numba_ring", "numba.cuda"), ("triton_ring", "triton"),
                                           ("torch_ring", "triton")])
def test_python_gpu_kernels_access_the_other_gpu(two_gpus, name, package):
    pytest.importorskip(package, reason=f"{package} is not installed")
    output = run_ok(gdrkit_program(), "run", "-n", "2", "--time-limit", "200", "--", sys.executable, str(EXAMPLES / f"{name}.py"))
    expect_each_once(output, [f"PE {pe} of 2: 100 rounds of 1000 numbers from PE {1 - pe}" for pe in range(2)])
