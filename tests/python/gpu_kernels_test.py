# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The device functions for GPU kernels in Python, compiled without a GPU: by NVRTC, by Triton and by Numba. gpu_test.py
runs the examples on GPUs."""
import ctypes
import ctypes.util
import functools
import glob
import os
import re
import subprocess
import sys
import types

import pytest
from gdrkit import shmem
from jobs import run_ok

SOURCE = """
#include <gdrkit/shmem_state.cuh>
#include <gdrkit/shmem_collectives.cuh>
#include <gdrkit/shmem_device_words.cuh>
using namespace gdrkit::shmem;
extern "C" __global__ void each(float* inbox, const float* outbox, uint64_t* signal, gdrkit_shmem_device_state pe) {
  put_signal(state(), inbox, outbox, 64, signal, 1, GDRKIT_SHMEM_SIGNAL_SET, 1, block());
  signal_wait_until(pe, signal, GDRKIT_SHMEM_GE, 1);
  reduce<GDRKIT_SHMEM_SUM>(pe, 0, inbox, outbox, 16, warp());
  barrier_all(pe, block());
}
"""


def nvrtc():
    """The library. Wheels and toolkits put it in different places. Skips the test if it is missing."""
    places = [os.path.join(directory, "nvidia", "*", "lib") for directory in sys.path] + ["/usr/local/cuda/lib64"]
    found = [path for place in places for path in glob.glob(os.path.join(place, "libnvrtc.so.1[0-9]*"))]
    for name in [*found, ctypes.util.find_library("nvrtc")]:
        try:
            if name:
                return ctypes.CDLL(name)
        except OSError:
            continue
    pytest.skip("NVRTC is not installed (nvidia-cuda-nvrtc)")


def compile_with_nvrtc(library, source, *options):
    """Returns (log, PTX)."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"test.cu", 0, None, None) == 0
    encoded_options = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    result = library.nvrtcCompileProgram(program, len(options), encoded_options)
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    if result != 0:
        return log.value.decode(), ""
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, ptx)
    return log.value.decode(), ptx.value.decode()


@functools.lru_cache(maxsize=None)
def plain_names_ptx():
    """The PTX of the plain names, which NVRTC compiles as it does for Numba."""
    log, ptx = compile_with_nvrtc(nvrtc(), "#include <gdrkit/detail/shmem_plain_names.cuh>\n", "-std=c++17", "-rdc=true",
                                  "--gpu-architecture=compute_90", *(f"-I{directory}" for directory in shmem.include_path()))
    assert ptx, log
    return ptx


def declared_functions():
    """{name: number of parameters} of the plain names, with macros expanded by Numba's and Triton's users: NVRTC."""
    found = re.findall(r"\.visible \.func\s+(?:\([^)]*\)\s*)?(gdrkit_device_\w+)\s*\(([^)]*)\)", plain_names_ptx())
    return {name: parameters.count(".param") for name, parameters in found}


@pytest.mark.parametrize("path", ["heaps_between", "copy_narrow", "send_to_proxy"])
def test_rare_paths_are_not_inlined_for_numba(path):
    assert re.search(rf"\.func\s+(?:\([^)]*\)\s*)?_ZN\w*{path}", plain_names_ptx())


@pytest.mark.parametrize("architecture", ["compute_75", "compute_90"])
def test_nvrtc_requires_no_other_header(architecture):
    options = ["-std=c++17", f"--gpu-architecture={architecture}", *(f"-I{directory}" for directory in shmem.include_path())]
    log, ptx = compile_with_nvrtc(nvrtc(), SOURCE, *options)
    assert ".visible .entry each" in ptx and "gdrkit_shmem_state" in ptx, log


def test_every_bitcode_library_has_the_plain_names():
    names = [name.encode() for name in declared_functions()]
    assert len(names) > 100
    for capability in (80, 90, 100):
        with open(shmem.bitcode_path(capability), "rb") as file:
            bitcode = file.read()
        assert bitcode[:4] == b"BC\xc0\xde" and all(name in bitcode for name in names)
    with pytest.raises(ValueError, match="no bitcode"):
        shmem.bitcode_path(61)


TRITON = """
import triton, triton.language as tl
from gdrkit import shmem
from gdrkit.shmem import triton as gshmem
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@gshmem.jit
def all_of_them(inbox, outbox, signal, size_bytes, turn):
    peer = (gshmem.my_pe() + 1) % gshmem.n_pes()
    gshmem.put(inbox, outbox, size_bytes, peer)
    gshmem.put_nbi(inbox, outbox, size_bytes, peer)
    gshmem.fence()
    gshmem.signal_op(signal, turn, gshmem.SIGNAL_ADD, peer)
    gshmem.put_signal(inbox, outbox, size_bytes, signal, turn, gshmem.SIGNAL_SET, peer)
    gshmem.signal_wait_until(signal, gshmem.CMP_GE, turn)
    gshmem.get(inbox, outbox, size_bytes, peer)
    tl.store(gshmem.ptr(inbox, peer) + tl.arange(0, 128), tl.arange(0, 128).to(tl.float32))
    gshmem.quiet()
    gshmem.barrier_all()

signature = {"inbox": "*fp32", "outbox": "*fp32", "signal": "*u64", "size_bytes": "i32", "turn": "i32"}
for capability in (80, 90):
    libraries = {"gdrkit_shmem_device": shmem.bitcode_path(capability)}
    compiled = triton.compile(ASTSource(fn=all_of_them.function, signature=signature), target=GPUTarget("cuda", capability, 32),
                              options={"extern_libs": libraries})
    ptx = compiled.asm["ptx"]
    assert "gdrkit_shmem_state" in ptx and ".extern" not in ptx.replace(".extern .shared", ""), ptx
    print(capability, len(compiled.asm["cubin"]) > 1000)
"""


def test_triton_links_each_function(tmp_path):
    pytest.importorskip("triton", reason="Triton is not installed")
    program = tmp_path / "program.py"  # Triton reads the source of its functions from a file
    program.write_text(TRITON, encoding="utf-8")
    assert run_ok(sys.executable, str(program), TRITON_CACHE_DIR=str(tmp_path)).split("\n") == ["80 True", "90 True", ""]


NUMBA = """
import types as python_types
import numba.cuda.api, numba.cuda.dispatcher
from numba import cuda, types
for module in (numba.cuda.api, numba.cuda.dispatcher):
    module.get_current_device = lambda: python_types.SimpleNamespace(compute_capability=(9, 0), id=0)
declare = cuda.declare_device  # linking needs a driver
cuda.declare_device = lambda name, signature, link=None, abi="numba": declare(name, signature, abi=abi)
from gdrkit.shmem import numba as gshmem
floats, words = types.Array(types.float32, 1, "C"), types.Array(types.int32, 1, "C")
"""

NUMBA_ALL = NUMBA + """
def all_of_them(inbox, outbox, signal, words):
    peer = (gshmem.my_pe() + 1) % gshmem.n_pes()
    gshmem.put(inbox[3:], outbox[1:2], peer)
    gshmem.put_warp(inbox, outbox, peer)
    gshmem.put_block(inbox, outbox, peer)
    gshmem.put_nbi_block(inbox, outbox, peer)
    gshmem.get_block(inbox, outbox, peer)
    gshmem.fence()
    gshmem.signal_op(signal, 1, gshmem.SIGNAL_ADD, peer)
    gshmem.put_signal_block(inbox, outbox, signal, 1, gshmem.SIGNAL_SET, peer)
    if not gshmem.signal_wait_until_block(signal, gshmem.CMP_EQ, 1):
        words[1] = 1
    gshmem.p(inbox[5:], 2.5, peer)
    outbox[0] = gshmem.g(inbox[5:], peer)
    words[0] = gshmem.atomic_fetch_add(words, 1, peer) + gshmem.atomic_compare_swap(words, 1, 2, peer) + gshmem.atomic_swap(words, 3, peer)
    gshmem.atomic_add(words, 4, peer)
    gshmem.quiet_block()
    gshmem.barrier_all_block()

arguments = (floats, floats, types.Array(types.uint64, 1, "C"), words)
ptx, _ = cuda.compile(all_of_them, arguments, cc=(9, 0), device=False, abi="numba")
print(ptx)
"""


def test_numba_calls_declared_functions():
    pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
    declared = declared_functions()
    ptx = run_ok(sys.executable, "-c", NUMBA_ALL)
    called = {name: parameters.count(".param") for name, parameters in
              re.findall(r"\.extern \.func\s+(?:\([^)]*\)\s*)?(gdrkit_device_\w+)\s*\(([^)]*)\)", ptx)}
    assert len(called) >= 19 and all(declared[name] == count for name, count in called.items()), called


NUMBA_LINKED = NUMBA + """
from numba.cuda.cudadrv import driver
if not driver._have_nvjitlink():
    raise SystemExit("nvJitLink is missing")

def transfers(inbox, outbox, signal, peer, n):
    for _ in range(n):
        gshmem.put(inbox, outbox, peer)
        gshmem.put_warp(inbox, outbox, peer)
        gshmem.put_nbi_block(inbox, outbox, peer)
        gshmem.get_block(inbox, outbox, peer)
        gshmem.put_signal_block(inbox, outbox, signal, 1, gshmem.SIGNAL_SET, peer)
        gshmem.signal_wait_until_block(signal, gshmem.CMP_GE, 1)
        gshmem.signal_op(signal, 1, gshmem.SIGNAL_ADD, peer)
        gshmem.p(inbox, 2.5, peer)
        outbox[0] = gshmem.g(inbox, peer)
        gshmem.atomic_add(signal, 1, peer)
        signal[0] = gshmem.atomic_fetch_add(signal, 1, peer) + gshmem.atomic_compare_swap(signal, 1, 2, peer)
    gshmem.quiet_block()

arguments = (floats, floats, types.Array(types.uint64, 1, "C"), types.int64, types.int64)
code, _ = cuda.compile(transfers, arguments, cc=(9, 0), device=False, abi="numba", output="ltoir")
linker = driver._Linker(cc=(9, 0), lto=True)
linker.add_ltoir(code)
linker.add_file_guess_ext(gshmem._SOURCE)
print(linker.get_linked_ptx().decode().strip(chr(0)))
"""


def test_numba_inlines_functions_at_link_time():
    """A kernel calls only rare paths, and reads the addresses and lengths of arrays, but not the sizes of elements."""
    pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
    pytest.importorskip("cuda.bindings.nvjitlink", reason="cuda-bindings is not installed")
    ended = subprocess.run([sys.executable, "-c", NUMBA_LINKED], capture_output=True, text=True, timeout=300, check=False)
    if "nvJitLink is missing" in ended.stderr:
        pytest.skip("nvJitLink is not installed (nvidia-nvjitlink)")
    assert ended.returncode == 0, ended.stderr
    name, kernel = re.search(r"\.entry (\w*transfers\w*)\((.*)", ended.stdout, re.DOTALL).groups()
    kernel = re.split(r"\n}\n", kernel)[0]
    called = set(re.findall(r"call\.uni[^;]*?\b(_Z\w+|gdrkit\w+)", kernel))
    assert called and all(re.search("heaps_between|copy_narrow|send_to_proxy", function) for function in called), called
    # Of an array: two pointers for reference counts, number of elements, size of an element, address, shape, stride.
    read = {int(number) for number in re.findall(rf"ld\.param\.\w+\s+%\w+, \[{name}_param_(\d+)\]", kernel)}
    assert {4, 7 + 2, 7 + 4, 14 + 4} <= read and not {3, 7 + 3, 14 + 3} & read, read


def test_a_module_is_recognized_by_its_handle():
    from gdrkit.shmem._gpu_code import _handle_of
    cupy_module = types.SimpleNamespace(module=types.SimpleNamespace(ptr=5))
    object_code = types.SimpleNamespace(get_kernel=None, handle=6)
    assert [_handle_of(module) for module in (4, cupy_module, object_code)] == [(4, False), (5, False), (6, True)]
    with pytest.raises(TypeError, match="it is not a CUDA module"):
        shmem.init_module("module")
