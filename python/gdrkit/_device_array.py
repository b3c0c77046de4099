# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The memory of an array of any framework, from __cuda_array_interface__, else from DLPack.

Neither way makes a framework synchronise a stream, so that an array may be mapped while a CUDA graph is captured.
"""
from __future__ import annotations

import math
from typing import Any, NamedTuple

from gdrkit import _core
from gdrkit._dtypes import find_dtype

_KINDS = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
_DLPACK_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}
_DLPACK_CPU, _DLPACK_CUDA, _DLPACK_CUDA_MANAGED = 1, 2, 13


class DeviceArray(NamedTuple):
    """Contiguous memory: where, what, and the objects that keep it allocated."""

    address: int
    nbytes: int
    shape: tuple[int, ...]
    dtype: str | None  #: as NumPy and PyTorch name it ("float32", "bfloat16"); None where there is no common name
    readonly: bool
    owner: object
    is_host: bool = False  #: by its own word; the emulated device's memory is, too


def describe(array: Any, is_emulated: bool) -> DeviceArray:
    """Raises TypeError unless it is an array in device memory, ValueError if it is empty or not contiguous."""
    if getattr(array, "requires_grad", False):
        array = array.detach()  # the same memory; frameworks export no other
    try:
        interface = getattr(array, "__cuda_array_interface__", None)
    except Exception:  # PyTorch raises KeyError for types that the interface cannot name, such as those of 8-bit floats
        interface = None
    if interface is not None:
        return _from_interface(array, interface)
    if hasattr(array, "__dlpack__"):
        return _from_dlpack(array, is_emulated)
    raise TypeError(f"cannot map {type(array).__name__}: it has neither __cuda_array_interface__ nor __dlpack__; pass a GPU array")


def _from_interface(array: object, interface: dict[str, Any]) -> DeviceArray:
    shape = tuple(int(extent) for extent in interface["shape"])
    kind, itemsize = interface["typestr"][1], int(interface["typestr"][2:])
    address, readonly = interface["data"]
    if interface.get("mask") is not None:
        raise TypeError("cannot map the array: it has a mask; map the array without its mask")
    # The array's own type first: a typestr cannot name bfloat16, which PyTorch gives as "<V2", and 2.5 gave as "<f2".
    own = find_dtype(getattr(array, "dtype", None))
    dtype: str | None
    if own is not None and own.itemsize == itemsize:
        dtype = own.name
    elif kind == "b":
        dtype = "bool"
    else:
        dtype = f"{_KINDS[kind]}{8 * itemsize}" if kind in _KINDS else None
    strides = interface.get("strides")
    _require_contiguous(shape, strides, itemsize)
    return DeviceArray(int(address), _size_of(shape, itemsize), shape, dtype, bool(readonly), array)


def _from_dlpack(array: Any, is_emulated: bool) -> DeviceArray:
    device_type = int(array.__dlpack_device__()[0])
    allowed = (_DLPACK_CUDA, _DLPACK_CUDA_MANAGED, *((_DLPACK_CPU,) if is_emulated else ()))
    if device_type not in allowed:
        where = "host memory" if device_type == _DLPACK_CPU else f"memory of DLPack device type {device_type}"
        raise TypeError(f"cannot map {type(array).__name__}: the array is in {where}; copy the array to an NVIDIA GPU first")
    # -1: wait for no stream. JAX would take it for a stream's handle, and waits for none where it is not given. JAX's
    # arrays are immutable, which its interface reports and its DLPack cannot.
    is_jax = type(array).__module__.partition(".")[0] in ("jax", "jaxlib")
    arguments = {"stream": -1} if device_type != _DLPACK_CPU and not is_jax else {}
    try:
        capsule = array.__dlpack__(max_version=(1, 1), **arguments)
    except TypeError:  # from before DLPack 1.0
        capsule = array.__dlpack__(**arguments)
    address, shape, strides, code, bits, lanes, _, keep = _core.read_dlpack(capsule)
    dtype = f"{_DLPACK_CODES[code]}{bits}" if code in _DLPACK_CODES and lanes == 1 else None
    if code == 6:
        dtype = "bool"
    _require_contiguous(shape, strides, 1)
    nbytes = (math.prod(shape) * bits * lanes + 7) // 8
    return DeviceArray(
        address, _size_of((nbytes,), 1), shape, dtype, is_jax, (array, keep), device_type == _DLPACK_CPU
    )


def _require_contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None, unit: int) -> None:
    if strides is None:
        return
    expected = unit
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != expected:
            raise ValueError("cannot map the array: it is not contiguous; pass a contiguous array")
        expected *= extent


def _size_of(shape: tuple[int, ...], itemsize: int) -> int:
    nbytes = math.prod(shape) * itemsize
    if nbytes == 0:
        raise ValueError("cannot map the array: it is empty; map at least one element")
    return nbytes
