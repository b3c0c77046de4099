# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Symmetric memory as PyTorch's tensors: allocated, registered, or from a memory pool of PyTorch's allocator."""
from __future__ import annotations

import ctypes
import errno
import functools
import math
import struct
from typing import Any, NamedTuple

import torch  # type: ignore[import-not-found, unused-ignore]
from torch import Tensor  # type: ignore[import-not-found, unused-ignore]

from gdrkit import _shmem, shmem
from gdrkit._errors import Error
from gdrkit._symmetric import SymmetricArray


class _Region:
    """Symmetric bytes that tensors of this module use: one allocation, or one registered allocation of PyTorch."""

    def __init__(self, array: SymmetricArray, base: int | None = None) -> None:
        self.array = array
        self.base = base  # of a registered allocation: its address in PyTorch
        self.tensors = 1  # number of calls of free() that it needs
        self.owners: list[Tensor] = []  # keep PyTorch from giving the memory to another tensor

    def tensor(self, offset: int, shape: Any, dtype: torch.dtype) -> Tensor:
        """A tensor that is not a view, so that free() can take the memory from it."""
        raw: Tensor = self.array.tensor()
        stride = torch.empty(shape, device="meta").stride()
        made: Any = torch.empty(0, dtype=dtype, device=raw.device)
        tensor: Tensor = made.set_(raw.untyped_storage(), offset // dtype.itemsize, tuple(shape), stride)
        return tensor


_regions: dict[int, _Region] = {}  # by symmetric address


def _live_regions() -> list[_Region]:
    """Without those that finalize() has freed."""
    for address, region in list(_regions.items()):
        if region.array._allocation.is_freed:
            del _regions[address]
    return list(_regions.values())


def zeros(*shape: Any, dtype: torch.dtype = torch.float32) -> Tensor:
    """Collective: allocates a symmetric tensor of zeros on every PE's GPU, with the same shape and type."""
    return _allocate(shape, dtype, shmem.zeros)


def empty(*shape: Any, dtype: torch.dtype = torch.float32) -> Tensor:
    """Collective: allocates a symmetric tensor with undefined contents."""
    return _allocate(shape, dtype, shmem.empty)


def _allocate(shape: tuple[Any, ...], dtype: torch.dtype, allocate: Any) -> Tensor:
    extents = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    _live_regions()
    array = allocate(max(math.prod(extents) * dtype.itemsize, 1), "uint8")
    region = _regions[array.address] = _Region(array)
    return region.tensor(0, extents, dtype)


def free(tensor: Tensor) -> None:
    """Collective: frees or unregisters the memory of a tensor that this module returned. The tensor becomes empty.

    Raises BufferError, without taking part, while other tensors use an allocation. A registered allocation is kept for
    them.
    """
    found = next((region for region in _live_regions() if _contains(region, tensor)), None)
    if found is None:
        raise ValueError("cannot free the tensor: it does not come from gdrkit.shmem.torch; pass a tensor that zeros, empty or register returned")
    whole: Any = tensor
    with torch.no_grad():
        whole.set_()
    if found.tensors == 1:
        address = found.array.address
        found.array.free()
        del _regions[address]
    found.tensors -= 1


def _contains(region: _Region, tensor: Tensor) -> bool:
    return bool(0 <= tensor.data_ptr() - region.array.address < region.array.nbytes)


# Registration


class _Place(NamedTuple):
    """Where the memory of a tensor is in its allocation."""

    base: int
    size_bytes: int
    offset: int


def register(tensor: Tensor) -> Tensor:
    """Collective: makes a tensor's memory symmetric, without a copy, and returns a tensor at its symmetric address.

    The memory comes from CUDA's virtual memory management, in one physical allocation: from torch.distributed's
    _symmetric_memory.empty, or from PyTorch's allocator with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True. Every PE
    passes a tensor of the same size at the same place of its allocation.
    """
    problem: Exception | None = None
    place = _Place(0, 0, 0)
    try:
        place = _place_of(tensor)
    except (TypeError, ValueError) as error:
        problem = error
    known = next((region for region in _live_regions() if problem is None and region.base == place.base), None)
    _require_agreement(place, tensor.nbytes, known is not None, problem)
    if known is None:
        try:
            array = shmem.register(_Memory(place.base, place.size_bytes))
        except Error as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            advice = "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or allocate by gdrkit.shmem.torch.empty"
            raise Error(error.errno, f"{error.strerror}; {advice}") from None
        known = _regions[array.address] = _Region(array, place.base)
    else:
        known.tensors += 1
    known.owners.append(tensor)
    return known.tensor(place.offset, tensor.shape, tensor.dtype)


class _Memory:
    """A physical allocation as an array of bytes."""

    def __init__(self, base: int, size_bytes: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size_bytes,), "typestr": "|u1", "data": (base, False), "version": 2}


def _place_of(tensor: Tensor) -> _Place:
    information = shmem.info()
    if not tensor.is_contiguous() or tensor.numel() == 0:
        raise ValueError("cannot register an empty or non-contiguous tensor; pass a contiguous tensor with at least one element")
    address = tensor.data_ptr()
    if information.is_emulated:
        return _Place(address, tensor.nbytes, 0)
    if tensor.device != torch.device("cuda", information.device):
        raise TypeError(f"cannot register a tensor on {tensor.device}: this PE uses cuda:{information.device}; use a tensor on cuda:{information.device}")
    base, size_bytes = _allocation_of(address, tensor.device)
    if address + tensor.nbytes > base + size_bytes:
        raise ValueError(
            f"cannot register a tensor of {tensor.nbytes} bytes at offset {address - base} of a physical allocation: the "
            f"allocation has only {size_bytes} bytes; allocate the tensor with gdrkit.shmem.torch.empty"
        )
    return _Place(base, size_bytes, address - base)


def _allocation_of(address: int, device: torch.device) -> tuple[int, int]:
    """(start, bytes) of the physical allocation behind an address."""
    torch.cuda.synchronize(device)  # makes CUDA's context current
    start, size_bytes = ctypes.c_uint64(), ctypes.c_size_t()
    result = ctypes.CDLL("libcuda.so.1").cuMemGetAddressRange_v2(
        ctypes.byref(start), ctypes.byref(size_bytes), ctypes.c_uint64(address)
    )
    if result != 0:
        raise ValueError(f"cannot register the tensor at 0x{address:x}: cuMemGetAddressRange failed with CUDA error {result}; "
                         "pass a tensor that CUDA allocated")
    return start.value, size_bytes.value


def _require_agreement(place: _Place, nbytes: int, is_known: bool, problem: Exception | None) -> None:
    """Raises on all PEs if one PE cannot register its tensor, or if sizes or offsets in the allocation differ."""
    own = (problem is None, nbytes, place.size_bytes, place.offset, is_known)
    n_pes = shmem.n_pes()
    mine, all_of_them = shmem.empty(5, "int64"), shmem.empty((n_pes, 5), "int64")
    shmem.put(mine, struct.pack("=5q", *own), shmem.my_pe())
    shmem.fcollect(all_of_them, mine)
    data = bytearray(all_of_them.nbytes)
    shmem.get(data, all_of_them, shmem.my_pe())
    mine.free()
    all_of_them.free()
    if problem is not None:
        raise problem
    for pe in range(n_pes):
        other = struct.unpack_from("=5q", data, pe * mine.nbytes)
        if not other[0]:
            raise Error(errno.EPROTO, f"cannot register the tensor: the registration failed on PE {pe}; see the error message of PE {pe}")
        if other[:4] != own[:4]:
            raise Error(
                errno.EPROTO,
                f"cannot register the tensor: this PE has {nbytes} bytes at offset {place.offset} of an allocation of "
                f"{place.size_bytes} bytes, but PE {pe} has {other[1]} bytes at offset {other[3]} of an allocation of "
                f"{other[2]} bytes; "
                "allocate the tensors in the same order on every PE",
            )
        if other != own:
            first, second = (pe, shmem.my_pe()) if other[4] else (shmem.my_pe(), pe)
            raise Error(
                errno.EPROTO,
                f"cannot register the tensor: the tensor's allocation is already registered on PE {first}, but not on PE {second}; "
                "register the tensors in the same order on every PE",
            )


# A pool of PyTorch's allocator


@functools.cache  # a pool has only a pointer to it, and may outlive its Python object
def _allocator() -> Any:
    names = "gdrkit_shmem_torch_allocate", "gdrkit_shmem_torch_release"
    return torch.cuda.memory.CUDAPluggableAllocator(_shmem.__file__, *names)


def pool() -> Any:
    """Returns a torch.cuda.MemPool on the symmetric heap: for torch.cuda.use_mem_pool(pool).

    PyTorch takes segments of 2 MiB, 20 MiB or more for a pool. Each is a collective allocation, so every PE must
    allocate and free tensors of the same sizes in the same order. finalize() frees the segments; no tensor may be used
    afterwards.
    """
    if shmem.info().is_emulated:
        raise Error(errno.EOPNOTSUPP, "cannot create a memory pool on the emulated device: a memory pool requires a GPU; use gdrkit.shmem.torch.empty")
    return torch.cuda.MemPool(_allocator().allocator())
