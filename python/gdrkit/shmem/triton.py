# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# mypy: ignore-errors, because triton has no types
"""gdrkit shmem in Triton kernels.

    import gdrkit.shmem.triton as gshmem

    @gshmem.jit
    def send(inbox, signal, numbers, n_bytes, n: tl.constexpr):
        peer = (gshmem.my_pe() + 1) % n
        gshmem.put_signal(inbox, numbers, n_bytes, signal, 1, gshmem.SIGNAL_SET, peer)
        gshmem.signal_wait_until(signal, gshmem.CMP_EQ, 1)

Each function is called once per program, by all its threads. Pointers are of the caller's own symmetric heap, sizes in
bytes. Functions that wait return 0 if the wait timed out or a PE has ended.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl
from triton.language import core

from gdrkit.shmem._gpu_code import bitcode_path, init_module

_LIBRARY = "gdrkit_shmem_device"

CMP_EQ, CMP_NE, CMP_GT, CMP_LE, CMP_LT, CMP_GE = (tl.constexpr(i) for i in range(6))
SIGNAL_SET, SIGNAL_ADD = tl.constexpr(9), tl.constexpr(10)


class Kernel:
    """A Triton kernel that is linked with the device functions. Launch it as `kernel[grid](...)`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = triton.jit(function)
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def run(self, *arguments: Any, grid: Any, warmup: bool = False, **options: Any) -> Any:
        target = triton.runtime.driver.active.get_current_target()
        libraries = {_LIBRARY: bitcode_path(target.arch), **options.pop("extern_libs", {})}
        return self.function.run(*arguments, grid=grid, warmup=warmup, extern_libs=libraries, **options)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return lambda *arguments, **options: self.run(*arguments, grid=grid, **options)


def jit(function: Callable[..., Any]) -> Kernel:
    """As `triton.jit`, for kernels that call functions of this module."""
    _install_hook()
    return Kernel(function)


_previous_hook: Any = None
_is_installed = False


def _initialize_module(**event: Any) -> Any:
    """Stores the state of the PE in each kernel that Triton has compiled with the library."""
    compiled = event["compile"]
    if any(name == _LIBRARY for name, _ in compiled["extern_libs"]):
        cache = event["fn"].jit_function.device_caches[compiled["device"]][0]
        kernel = cache[event["key"]]
        kernel.run  # loads the module
        init_module(kernel)
    return _previous_hook(**event) if _previous_hook is not None else None


def _install_hook() -> None:
    global _previous_hook, _is_installed
    if not _is_installed:
        _previous_hook = triton.knobs.runtime.jit_post_compile_hook
        triton.knobs.runtime.jit_post_compile_hook = _initialize_module
        _is_installed = True


def _call(name: str, types: str, arguments: list[Any], _semantic: Any) -> Any:
    """Calls a device function that returns an int. `types`: a letter for each parameter, l for 64 and i for 32 bits.

    Pointers become 64-bit integers, as the library declares them."""
    dtypes = tuple(core.int64 if letter == "l" else core.int32 for letter in types)
    values = []
    for argument, dtype in zip(arguments, dtypes):
        value = _semantic.to_tensor(argument)
        if value.type.is_block():
            raise TypeError(f"gdrkit.shmem.triton: cannot pass a block to {name}; pass scalars")
        values.append(core.cast(value, dtype, _semantic=_semantic))
    symbols = {dtypes: (f"gdrkit_device_{name}", core.int32)}
    return core.extern_elementwise("", "", values, symbols, is_pure=False, _semantic=_semantic)


@core.extern
def my_pe(_semantic: Any = None) -> Any:
    """Returns the number of the calling PE."""
    return _call("my_pe", "", [], _semantic)


@core.extern
def n_pes(_semantic: Any = None) -> Any:
    """Returns the number of PEs of the job."""
    return _call("n_pes", "", [], _semantic)


@core.extern
def put(target: Any, source: Any, size_bytes: Any, pe: Any, _semantic: Any = None) -> Any:
    """Copies to PE `pe`. The source may be reused when the call returns."""
    return _call("put_block", "llli", [target, source, size_bytes, pe], _semantic)


@core.extern
def put_nbi(target: Any, source: Any, size_bytes: Any, pe: Any, _semantic: Any = None) -> Any:
    """Copies to PE `pe`. The source may be reused after `quiet`."""
    return _call("put_nbi_block", "llli", [target, source, size_bytes, pe], _semantic)


@core.extern
def get(target: Any, source: Any, size_bytes: Any, pe: Any, _semantic: Any = None) -> Any:
    """Copies from PE `pe`."""
    return _call("get_block", "llli", [target, source, size_bytes, pe], _semantic)


@core.extern
def put_signal(
    target: Any, source: Any, size_bytes: Any, signal: Any, value: Any, operation: Any, pe: Any, _semantic: Any = None
) -> Any:
    """Copies to PE `pe`, then updates the 64-bit word `signal` there."""
    arguments = [target, source, size_bytes, signal, value, operation, pe]
    return _call("put_signal_block", "lllllii", arguments, _semantic)


@core.extern
def signal_op(signal: Any, value: Any, operation: Any, pe: Any, _semantic: Any = None) -> Any:
    """Updates the 64-bit word `signal` at PE `pe` once. A fence before it orders it after earlier puts."""
    return _call("signal_op_block", "llii", [signal, value, operation, pe], _semantic)


@core.extern
def signal_wait_until(signal: Any, comparison: Any, value: Any, _semantic: Any = None) -> Any:
    """Waits until the caller's own word compares with `value` as requested. Data put before it is visible then."""
    return _call("signal_wait_until_block", "lil", [signal, comparison, value], _semantic)


@core.extern
def fence(_semantic: Any = None) -> Any:
    """Orders earlier puts of the program before later ones to the same PE."""
    return _call("fence", "", [], _semantic)


@core.extern
def quiet(_semantic: Any = None) -> Any:
    """Waits until earlier puts of the program are visible at their targets."""
    return _call("quiet_block", "", [], _semantic)


@core.extern
def barrier_all(_semantic: Any = None) -> Any:
    """Waits for one program of each PE. Launch one program, or call it from one program only."""
    return _call("barrier_all_block", "", [], _semantic)


@core.extern
def ptr(address: Any, pe: Any, _semantic: Any = None) -> Any:
    """Returns PE `pe`'s copy of a pointer, for `tl.load` and `tl.store`; null if the GPU cannot reach it."""
    value = _semantic.to_tensor(address)
    symbols = {(core.int64, core.int32): ("gdrkit_device_ptr", core.int64)}
    arguments = [core.cast(value, core.int64, _semantic=_semantic), core.cast(_semantic.to_tensor(pe), core.int32, _semantic=_semantic)]
    moved = core.extern_elementwise("", "", arguments, symbols, is_pure=True, _semantic=_semantic)
    return core.cast(moved, value.type, _semantic=_semantic)
