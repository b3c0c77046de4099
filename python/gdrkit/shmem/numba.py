# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# mypy: ignore-errors, because numba has no types
"""gdrkit shmem in GPU kernels that Numba compiles (numba-cuda).

    from numba import cuda
    import gdrkit.shmem.numba as gshmem

    @cuda.jit
    def send(inbox, outbox, signal):
        peer = (gshmem.my_pe() + 1) % gshmem.n_pes()
        gshmem.put_signal_block(inbox, outbox, signal, 1, gshmem.SIGNAL_SET, peer)
        gshmem.signal_wait_until_block(signal, gshmem.CMP_EQ, 1)

Arrays are symmetric arrays of the caller (`gdrkit.shmem.zeros`), or slices of them; a signal is an array of uint64, of
which the first element counts. A name ends in the group whose threads all call together: `_block`, `_warp`, or neither
for the calling thread alone. A transfer copies as many bytes as the source has. Functions that wait return False if the
wait timed out or a PE has ended. The device functions are compiled by NVRTC when a GPU kernel first uses one.
"""
from __future__ import annotations

from typing import Any

from numba import cuda, types
from numba.cuda import config
from numba.cuda.extending import intrinsic, overload

from gdrkit.shmem._gpu_code import include_path, init_module

CMP_EQ, CMP_NE, CMP_GT, CMP_LE, CMP_LT, CMP_GE = range(6)
SIGNAL_SET, SIGNAL_ADD = 9, 10

_SOURCE = cuda.CUSource("#include <gdrkit/detail/shmem_plain_names.cuh>\n", name="gdrkit_shmem.cu", setup_callback=init_module)
_paths = [path for path in (config.CUDA_NVRTC_EXTRA_SEARCH_PATHS or "").split(":") if path]
config.CUDA_NVRTC_EXTRA_SEARCH_PATHS = ":".join([*_paths, *include_path()])


def _declare(name: str, signature: str) -> Any:
    return cuda.declare_device(f"gdrkit_device_{name}", signature, link=_SOURCE, abi="c")


@intrinsic
def _address(typing_context: Any, array: Any) -> Any:
    """The address of an array's first element."""
    if not isinstance(array, types.Array):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.uint64))

    return types.uint64(array), generate


@intrinsic
def _size_bytes(typing_context: Any, array: Any) -> Any:
    """The size of an array's elements. `array.size * array.itemsize` would load the size of an element from the array."""
    if not isinstance(array, types.Array):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size_type = context.get_value_type(types.uint64)
        item_size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
        count = context.make_array(signature.args[0])(context, builder, arguments[0]).nitems
        return builder.mul(count, size_type(item_size), flags=["nuw", "nsw"])

    return types.uint64(array), generate


def _require_contiguous(name: str, *arrays: Any) -> None:
    for array in arrays:
        if not isinstance(array, types.Array):
            raise TypeError(f"gdrkit.shmem.numba.{name}: cannot use {array}; pass an array")
        if not array.is_contig:
            raise TypeError(f"gdrkit.shmem.numba.{name}: {array} is not contiguous; pass a contiguous array")


def _outside(name: str) -> Any:
    raise RuntimeError(f"cannot call gdrkit.shmem.numba.{name} on the host: it runs only in GPU kernels; on the host use gdrkit.shmem.{name}")


my_pe = _declare("my_pe", "int32()")
n_pes = _declare("n_pes", "int32()")
fence = _declare("fence", "int32()")


def _define_copy(operation: str, group: str) -> Any:
    name = operation if group == "thread" else f"{operation}_{group}"
    device = _declare(f"{operation}_{group}", "int32(uint64, uint64, uint64, int32)")

    def function(target: Any, source: Any, pe: int) -> None:
        _outside(name)

    @overload(function, target="cuda")
    def typed(target: Any, source: Any, pe: Any) -> Any:
        _require_contiguous(name, target, source)

        def implementation(target: Any, source: Any, pe: Any) -> None:
            device(_address(target), _address(source), _size_bytes(source), pe)

        return implementation

    function.__name__ = name
    return function


def _define_put_signal(group: str) -> Any:
    name = "put_signal" if group == "thread" else f"put_signal_{group}"
    device = _declare(f"put_signal_{group}", "int32(uint64, uint64, uint64, uint64, uint64, int32, int32)")

    def function(target: Any, source: Any, signal: Any, value: int, operation: int, pe: int) -> None:
        _outside(name)

    @overload(function, target="cuda")
    def typed(target: Any, source: Any, signal: Any, value: Any, operation: Any, pe: Any) -> Any:
        _require_contiguous(name, target, source, signal)

        def implementation(target: Any, source: Any, signal: Any, value: Any, operation: Any, pe: Any) -> None:
            device(_address(target), _address(source), _size_bytes(source), _address(signal), value, operation, pe)

        return implementation

    function.__name__ = name
    return function


def _define_signal_op(group: str) -> Any:
    name = "signal_op" if group == "thread" else f"signal_op_{group}"
    device = _declare(f"signal_op_{group}", "int32(uint64, uint64, int32, int32)")

    def function(signal: Any, value: int, operation: int, pe: int) -> None:
        _outside(name)

    @overload(function, target="cuda")
    def typed(signal: Any, value: Any, operation: Any, pe: Any) -> Any:
        _require_contiguous(name, signal)

        def implementation(signal: Any, value: Any, operation: Any, pe: Any) -> None:
            device(_address(signal), value, operation, pe)

        return implementation

    function.__name__ = name
    return function


def _define_signal_wait(group: str) -> Any:
    name = "signal_wait_until" if group == "thread" else f"signal_wait_until_{group}"
    device = _declare(f"signal_wait_until_{group}", "int32(uint64, int32, uint64)")

    def function(signal: Any, comparison: int, value: int) -> bool:
        return bool(_outside(name))

    @overload(function, target="cuda")
    def typed(signal: Any, comparison: Any, value: Any) -> Any:
        _require_contiguous(name, signal)

        def implementation(signal: Any, comparison: Any, value: Any) -> bool:
            return device(_address(signal), comparison, value) != 0

        return implementation

    function.__name__ = name
    return function


put, put_warp, put_block = (_define_copy("put", group) for group in ("thread", "warp", "block"))
put_nbi, put_nbi_warp, put_nbi_block = (_define_copy("put_nbi", group) for group in ("thread", "warp", "block"))
get, get_warp, get_block = (_define_copy("get", group) for group in ("thread", "warp", "block"))
put_signal, put_signal_warp, put_signal_block = (_define_put_signal(group) for group in ("thread", "warp", "block"))
signal_op, signal_op_warp, signal_op_block = (_define_signal_op(group) for group in ("thread", "warp", "block"))
signal_wait_until, signal_wait_until_warp, signal_wait_until_block = (
    _define_signal_wait(group) for group in ("thread", "warp", "block")
)
quiet, quiet_warp, quiet_block = (_declare(f"quiet_{group}", "int32()") for group in ("thread", "warp", "block"))
barrier_all, barrier_all_warp, barrier_all_block = (
    _declare(f"barrier_all_{group}", "int32()") for group in ("thread", "warp", "block")
)

_ELEMENTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
_WORDS = ("int32", "uint32", "int64", "uint64")
_p = {name: _declare(f"p_{name}", f"int32(uint64, {name}, int32)") for name in _ELEMENTS}
_g = {name: _declare(f"g_{name}", f"{name}(uint64, int32)") for name in _ELEMENTS}
_atomics = {
    (operation, name): _declare(f"atomic_{operation}_{name}", f"{name}(uint64, {name}, int32)")
    for operation in ("fetch_add", "fetch_and", "fetch_or", "fetch_xor", "swap")
    for name in _WORDS
}
_compare_swap = {name: _declare(f"atomic_compare_swap_{name}", f"{name}(uint64, {name}, {name}, int32)") for name in _WORDS}


def _element(name: str, functions: dict[str, Any], array: Any) -> Any:
    _require_contiguous(name, array)
    if str(array.dtype) not in functions:
        raise TypeError(f"gdrkit.shmem.numba.{name}: unsupported element type {array.dtype}; use one of {', '.join(functions)}")
    return functions[str(array.dtype)]


def p(target: Any, value: Any, pe: int) -> None:
    """Stores one value in the first element of `target` at PE `pe`."""
    _outside("p")


@overload(p, target="cuda")
def _typed_p(target: Any, value: Any, pe: Any) -> Any:
    device = _element("p", _p, target)

    def implementation(target: Any, value: Any, pe: Any) -> None:
        device(_address(target), value, pe)

    return implementation


def g(source: Any, pe: int) -> Any:
    """Returns the first element of `source` at PE `pe`."""
    return _outside("g")


@overload(g, target="cuda")
def _typed_g(source: Any, pe: Any) -> Any:
    device = _element("g", _g, source)

    def implementation(source: Any, pe: Any) -> Any:
        return device(_address(source), pe)

    return implementation


def _define_atomic(operation: str) -> Any:
    name = f"atomic_{operation}"
    functions = {word: _atomics[operation, word] for word in _WORDS}

    def function(target: Any, value: Any, pe: int) -> Any:
        return _outside(name)

    @overload(function, target="cuda")
    def typed(target: Any, value: Any, pe: Any) -> Any:
        device = _element(name, functions, target)

        def implementation(target: Any, value: Any, pe: Any) -> Any:
            return device(_address(target), value, pe)

        return implementation

    function.__name__ = name
    return function


atomic_fetch_add, atomic_fetch_and, atomic_fetch_or, atomic_fetch_xor, atomic_swap = (
    _define_atomic(operation) for operation in ("fetch_add", "fetch_and", "fetch_or", "fetch_xor", "swap")
)


def atomic_compare_swap(target: Any, compare: Any, value: Any, pe: int) -> Any:
    """Stores `value` in the first element of `target` at PE `pe` if it equals `compare`. Returns the element before."""
    return _outside("atomic_compare_swap")


@overload(atomic_compare_swap, target="cuda")
def _typed_compare_swap(target: Any, compare: Any, value: Any, pe: Any) -> Any:
    device = _element("atomic_compare_swap", _compare_swap, target)

    def implementation(target: Any, compare: Any, value: Any, pe: Any) -> Any:
        return device(_address(target), compare, value, pe)

    return implementation
