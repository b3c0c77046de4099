# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Element types by the name that NumPy and PyTorch give them, and what gdrkit/shmem.h and DLPack call them."""
from __future__ import annotations

import struct
from typing import Any, NamedTuple


class DType(NamedTuple):
    """An element type."""

    name: str
    itemsize: int
    dlpack_code: int
    shmem_type: int  #: enum gdrkit_shmem_type; 0: collectives do not compute with it
    character: str  #: struct's; "" where Python has none

    @property
    def word(self) -> int:
        """enum gdrkit_shmem_word; 0 unless it is an integer of 4 or 8 bytes."""
        if self.dlpack_code > 1 or self.itemsize < 4:
            return 0
        return self.itemsize if self.dlpack_code == 1 else -self.itemsize

    def pack(self, value: float) -> bytes:
        if not self.character:
            raise TypeError(f"cannot store one {self.name} value: Python has no type {self.name}; use put with a tensor")
        return struct.pack(f"={self.character}", value)

    def unpack(self, data: bytes) -> Any:
        if not self.character:
            raise TypeError(f"cannot load one {self.name} value: Python has no type {self.name}; use get with a tensor")
        return struct.unpack(f"={self.character}", data)[0]


_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6
_SIGNED, _FLOATING, _BRAIN = 16, 32, 64  # bits of enum gdrkit_shmem_type
_DTYPES = {
    dtype.name: dtype
    for dtype in (
        *(DType(f"uint{8 * size}", size, _UINT, size, character) for size, character in zip((1, 2, 4, 8), "BHIQ")),
        *(DType(f"int{8 * size}", size, _INT, _SIGNED + size, character) for size, character in zip((1, 2, 4, 8), "bhiq")),
        *(
            DType(f"float{8 * size}", size, _FLOAT, _FLOATING + _SIGNED + size, character)
            for size, character in zip((2, 4, 8), "efd")
        ),
        DType("bfloat16", 2, _BFLOAT, _BRAIN + _FLOATING + _SIGNED + 2, ""),
        DType("bool", 1, _BOOL, 0, "?"),
    )
}
_KIND_OF_CHARACTER = {**dict.fromkeys("bhilqn", "int"), **dict.fromkeys("BHILQN", "uint"), **dict.fromkeys("efd", "float")}


def find_dtype(dtype: Any) -> DType | None:
    """Of "float32", numpy.float32, numpy.dtype("float32"), torch.float32; None for what is not in the table."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
    return _DTYPES.get(name if isinstance(name, str) else str(dtype).rpartition(".")[2])


def dtype_of(dtype: Any) -> DType:
    """find_dtype, for what must be in the table."""
    found = find_dtype(dtype)
    if found is None:
        raise TypeError(f"invalid element type {dtype!r}; use one of {', '.join(_DTYPES)}")
    return found


def dtype_of_memory(view: memoryview) -> str | None:
    """The type's name; None for raw bytes, which may be anything, and for formats without a common name."""
    character = view.format.lstrip("@=<") if view.format else "B"
    if character in ("B", "b", "c"):
        return None
    if character == "?":
        return "bool"
    kind = _KIND_OF_CHARACTER.get(character)
    return f"{kind}{8 * view.itemsize}" if kind else None
