# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Arrays in the symmetric heap, and the local side of transfers."""
from __future__ import annotations

import gc
import math
import operator
import time
from collections.abc import Collection
from typing import Any

from gdrkit import _shmem
from gdrkit._device_array import describe
from gdrkit._dtypes import DType, dtype_of_memory

_DLPACK_CPU, _DLPACK_CUDA = 1, 2
_LEASES_END_S = 1.0


class Allocation:
    """One allocation of the symmetric heap: freed by all PEs together, never by the garbage collector."""

    def __init__(self, address: int, is_registered: bool, owner: object = None) -> None:
        self.address = address
        self.is_registered = is_registered
        self.owner = owner  # of registered memory
        self.leases = 0
        self.is_freed = False
        info = _shmem.info()
        self.device: int = info[3]
        self.is_emulated: bool = info[4]

    def free(self) -> None:
        if self.is_freed:
            return
        require_no_leases([self])
        self.is_freed = True
        (_shmem.unregister_symmetric if self.is_registered else _shmem.free)(self.address)
        self.owner = None


def require_no_leases(allocations: Collection[Allocation]) -> None:
    """Waits for tensors that are about to be destroyed: those in reference cycles, and those that a framework's thread
    drops after the call that used them has returned (torch.distributed). Raises BufferError for others."""
    deadline = time.monotonic() + _LEASES_END_S
    is_collected = False
    while leases := sum(allocation.leases for allocation in allocations):
        if not is_collected:
            gc.collect()
            is_collected = True
        elif time.monotonic() < deadline:
            time.sleep(0.001)
        else:
            raise BufferError(f"cannot free symmetric memory: tensors of other frameworks still use the memory (number of tensors: {leases}); "
                              "delete these tensors first")


class _Lease:
    """Held by an exported DLPack tensor. The memory is freed only after the tensor."""

    def __init__(self, allocation: Allocation) -> None:
        self._allocation = allocation
        allocation.leases += 1

    def __del__(self) -> None:
        self._allocation.leases -= 1


class SymmetricArray:
    """An object of the symmetric heap, named by the address of this PE's copy.

    It is contiguous; array[i] and array[i:j] are parts of it along its first dimension. Frameworks import this PE's
    copy by DLPack: torch.from_dlpack(array). All PEs free it together, by free() or shmem.finalize().
    """

    __slots__ = ("_address", "_allocation", "_dtype", "_shape")

    def __init__(self, allocation: Allocation, address: int, shape: tuple[int, ...], dtype: DType) -> None:
        self._allocation = allocation
        self._address = address
        self._shape = shape
        self._dtype = dtype

    @property
    def address(self) -> int:
        """Address of this PE's copy, for its GPU. Raises ValueError after it was freed."""
        if self._allocation.is_freed:
            raise ValueError("cannot use the symmetric array: it has been freed")
        return self._address

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def dtype(self) -> str:
        return self._dtype.name

    @property
    def element(self) -> DType:
        return self._dtype

    @property
    def size(self) -> int:
        return math.prod(self._shape)

    @property
    def nbytes(self) -> int:
        return self.size * self._dtype.itemsize

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("cannot return the length of the symmetric array: the array has no dimensions")
        return self._shape[0]

    def __getitem__(self, index: int | slice) -> SymmetricArray:
        length, rest = len(self), self._shape[1:]
        if isinstance(index, slice):
            start, stop, step = index.indices(length)
            if step != 1:
                raise ValueError(f"cannot slice a symmetric array with step {step}: slices must be contiguous; use step 1")
            shape: tuple[int, ...] = (max(stop - start, 0), *rest)
        else:
            start = operator.index(index)
            start += length if start < 0 else 0
            if not 0 <= start < length:
                raise IndexError(f"index {index} is out of range: the symmetric array has {length} elements in this dimension")
            shape = rest
        offset = start * math.prod(rest) * self._dtype.itemsize
        return SymmetricArray(self._allocation, self._address + offset, shape, self._dtype)

    def reshape(self, *shape: int) -> SymmetricArray:
        if math.prod(shape) != self.size:
            raise ValueError(f"cannot reshape {self.size} elements to {shape}: this shape has {math.prod(shape)} elements")
        return SymmetricArray(self._allocation, self._address, shape, self._dtype)

    def at_pe(self, pe: int) -> int | None:
        """Address at which this PE's GPU accesses PE `pe`'s copy; None if it cannot."""
        return _shmem.ptr(self.address, pe)

    def __dlpack__(self, **arguments: Any) -> object:
        return self._export().__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        if self._allocation.is_emulated:
            return _DLPACK_CPU, 0
        return _DLPACK_CUDA, self._allocation.device

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For Numba and CuPy. Unlike a tensor by DLPack, their arrays do not keep free() from freeing the memory."""
        if self._allocation.is_emulated:
            raise AttributeError("__cuda_array_interface__ is not available: the emulated device uses host memory; use __dlpack__")
        kind = "V" if self.dtype == "bfloat16" else self.dtype[0]
        order = "|" if self._dtype.itemsize == 1 else "<"
        typestr = f"{order}{kind}{self._dtype.itemsize}"
        return {"shape": self._shape, "typestr": typestr, "data": (self.address, False), "version": 3, "stream": None}

    def tensor(self) -> Any:
        """This PE's copy as a PyTorch tensor."""
        import torch  # type: ignore[import-not-found, unused-ignore]

        return torch.from_dlpack(self)  # type: ignore[attr-defined, unused-ignore]

    def _export(self) -> Any:
        device_type, device = self.__dlpack_device__()
        return _shmem.export_array(
            self.address, self._shape, self._dtype.dlpack_code, 8 * self._dtype.itemsize, device_type, device,
            _Lease(self._allocation),
        )

    def free(self) -> None:
        """Collective: all PEs free it. Raises BufferError, and has no part in it, while tensors are on the memory."""
        if self._address != self._allocation.address:
            raise ValueError("cannot free a part of a symmetric array; free the whole array")
        self._allocation.free()

    def __repr__(self) -> str:
        state = " freed" if self._allocation.is_freed else ""
        return f"<gdrkit.shmem.SymmetricArray: {self.dtype}{list(self._shape)}{state}>"


def local_side(memory: Any, other: SymmetricArray, role: str) -> tuple[Any, int, object]:
    """(address or object with the buffer protocol, size in bytes, what to hold) of a transfer with `other`.

    Raises TypeError for elements of another type, ValueError where it does not fit into `other`.
    """
    view: Any
    if isinstance(memory, SymmetricArray):
        found, nbytes, dtype, keep = memory.address, memory.nbytes, memory.dtype, None
    else:
        try:
            view = memoryview(memory)
        except TypeError:
            array = describe(memory, True)
            found, nbytes, dtype, keep = array.address, array.nbytes, array.dtype or "?", array.owner
        else:
            found, nbytes, dtype, keep = memory, view.nbytes, dtype_of_memory(view) or other.dtype, None
    if dtype != other.dtype:
        raise TypeError(f"the {role} has type {dtype}, but the symmetric array has type {other.dtype}; use one type")
    if nbytes > other.nbytes:
        raise ValueError(f"the {role} is too large: it has {nbytes} bytes, but the symmetric array has {other.nbytes}")
    return found, nbytes, keep
