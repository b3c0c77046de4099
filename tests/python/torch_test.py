# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""PyTorch without a GPU: its tensors on emulated memory and on symmetric memory, and its launcher torchrun, whose PEs are
emulated also where the tests run on a GPU. On a GPU: gpu_test.py."""
import importlib.util

import gdrkit.shmem
import pytest
from conftest import USES_GPU
from examples_test import EXAMPLES, programs
from jobs import expect_each_once, gdrkit_program, torchrun

# By marks: a module that is skipped as a whole has no tests, which is an error to pytest.
pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
needs_emulated_memory = pytest.mark.skipif(USES_GPU, reason="needs emulated memory; gpu_test.py has the same for a GPU")

# torch.distributed keeps a reference to a tensor in a thread of its own until a little after a collective.
WITH_DISTRIBUTED = """
import torch
import torch.distributed as distributed
from gdrkit import shmem
{first}
with shmem.init():
    {second}
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    assert (pe, n_pes) == (distributed.get_rank(), distributed.get_world_size())
    inbox, signal = shmem.zeros((64, 100), "float32"), shmem.zeros(1, "uint64")
    tensor = inbox.tensor()
    assert tensor.shape == (64, 100) and tensor.dtype == torch.float32 and tensor.data_ptr() == inbox.address
    for turn in range(1, 21):
        mine = torch.full((64, 100), 100.0 * pe + turn)
        shmem.put_signal(inbox, mine, signal, turn, (pe + 1) % n_pes)
        shmem.signal_wait_until(signal, ">=", turn)
        assert (tensor == 100.0 * ((pe - 1) % n_pes) + turn).all()
        shmem.barrier_all()
    half = shmem.zeros(8, torch.bfloat16)
    torch.from_dlpack(half).fill_(pe + 0.5)
    shmem.barrier_all()
    got = torch.zeros(8, dtype=torch.bfloat16)
    shmem.get(got, half, (pe + 1) % n_pes)
    assert (got == (pe + 1) % n_pes + 0.5).all()
    tensor.fill_(1)
    distributed.all_reduce(tensor)
    assert (tensor == n_pes).all()
    del tensor
print(f"PE {{pe}} of {{n_pes}}")
distributed.destroy_process_group()
"""
START = "distributed.init_process_group('gloo')"


@needs_emulated_memory
@pytest.mark.parametrize("dtype", ["uint8", "float16", "bfloat16", "float32", "int64", "complex64"])
def test_maps_a_tensor_on_emulated_memory(buffer, context, dtype):
    import torch
    tensor = torch.from_dlpack(buffer).view(getattr(torch, dtype))
    assert tensor.data_ptr() == buffer.device_address
    with context.map(tensor[16:]) as mapping:
        offset = 16 * tensor.element_size()
        assert (mapping.shape, mapping.dtype, mapping.nbytes) == ((len(tensor) - 16,), dtype, len(buffer) - offset)
        mapping.write(8, torch.arange(32, dtype=torch.uint8).numpy())
        assert tensor.view(torch.uint8)[offset + 8:offset + 40].tolist() == list(range(32))
        tensor[16:24] = torch.ones(8, dtype=tensor.dtype)
        assert mapping.read(0, 8 * tensor.element_size()) == buffer.copy_to_host(offset, 8 * tensor.element_size())


def test_converts_a_mapping_to_a_tensor(mapping, buffer):
    import torch
    view = torch.from_numpy(mapping.numpy("int32"))
    view[5] = 77
    mapping.flush()
    assert buffer.copy_to_host(20, 4) == (77).to_bytes(4, "little")


@needs_emulated_memory
def test_rejects_tensors_that_cannot_be_mapped(context):
    import torch
    for tensor in (torch.zeros(10), torch.zeros(10, dtype=torch.bfloat16), torch.nn.Parameter(torch.zeros(10))):
        with pytest.raises(TypeError, match="the array is in host memory"):
            context.map(tensor)
    with pytest.raises(ValueError, match="contiguous"):
        context.map(torch.zeros(3, 4).T)
    with pytest.raises(ValueError, match="empty"):
        context.map(torch.zeros(0))


@pytest.mark.parametrize("n_pes", [2, 4])
def test_documented_program_runs_under_torchrun(tmp_path, n_pes):
    program = tmp_path / "program.py"
    page = next(text for text in programs() if "shmem.init()" in text)
    program.write_text(page + "print(f'PE {pe} of {n_pes}')\n", encoding="utf-8")
    expect_each_once(torchrun(n_pes, str(program)), [f"PE {pe} of {n_pes}" for pe in range(n_pes)])


def test_ring_runs_under_torchrun():
    output = torchrun(2, str(EXAMPLES / "shmem_ring.py"))
    expect_each_once(output, [f"PE {pe} of 2: 100 rounds of 1000 numbers from PE {1 - pe}" for pe in range(2)])


def test_torchrun_restart_starts_a_new_job(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import os
from gdrkit import shmem
with shmem.init():
    count = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    shmem.barrier_all()
    if count < 2 and shmem.my_pe() == count: os._exit(3)
    shmem.barrier_all()
    print(f"PE {shmem.my_pe()} after {count} restarts")
""", encoding="utf-8")
    expect_each_once(torchrun(3, "--max-restarts", "2", str(program)), [f"PE {pe} after 2 restarts" for pe in range(3)])


@pytest.mark.parametrize("n_pes, first, second", [(2, START, "pass"), (4, "pass", START)])
def test_symmetric_tensors_work_with_torch_distributed(tmp_path, n_pes, first, second):
    program = tmp_path / "program.py"
    program.write_text(WITH_DISTRIBUTED.format(first=first, second=second), encoding="utf-8")
    expect_each_once(torchrun(n_pes, str(program)), [f"PE {pe} of {n_pes}" for pe in range(n_pes)])


@pytest.mark.parametrize("n_pes, arguments, line", [
    (2, ("osu", "latency", "-m", "8:8", "-i", "100", "-x", "10"), "# OSU MPI Latency Test"),
    (2, ("osu", "put_latency", "--engine", "shmem", "-m", "8:8", "-i", "100", "-x", "10"), "engine shmem"),
    (2, ("nccl", "all_reduce", "--engine", "shmem", "-b", "8", "-e", "8"), "# Collective test starting"),
    (4, ("shmem", "check", "-t", "identity"), "4 PEs on"),
])
def test_program_runs_under_torchrun(n_pes, arguments, line):
    output = torchrun(n_pes, "--no-python", gdrkit_program(), *arguments)
    assert output.count(line) == 1, "one job, not one for each process: " + output


def test_used_symmetric_tensor_keeps_its_memory():
    with gdrkit.shmem.init(timeout=60):
        array = gdrkit.shmem.zeros(4, "float32")
        tensor = array.tensor()
        with pytest.raises(BufferError, match=r"tensors of other frameworks .*\(number of tensors: 1\)"):
            array.free()
        del tensor
        array.free()
