# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Contexts, buffers and mappings, over the extension module."""
from __future__ import annotations

import errno
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gdrkit import _core
from gdrkit._device_array import describe
from gdrkit._errors import Error

_MAPPING_TYPES = ("default", "write_combining", "cached", "device")
_VERIFICATIONS = ("interface", "content", "structural", "calibrated")


# nanobind allows its types one base class only, so what Mapping and Context share is not in a class.
_Closable = TypeVar("_Closable", bound="Mapping | Context")


def _enter(opened: _Closable) -> _Closable:
    return opened


def _close_at_exit(
    opened: Mapping | Context, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
) -> None:
    opened.close()


class ContextInfo(NamedTuple):
    """What a context uses."""

    backend: str
    page_size: int
    store_kernel: str  #: copy kernel for host to device
    load_kernel: str  #: copy kernel for device to host
    is_persistent: bool  #: the memory stays readable through the mapping after its owner freed it
    is_emulated: bool


class MappingInfo(NamedTuple):
    """How memory is mapped."""

    mapping_type: str
    verification: str  #: how the library made sure that the mapping shows the right memory
    page_size: int
    device_address: int
    address: int  #: the CPU's


class BackendReport(NamedTuple):
    """Whether a backend can run on this machine."""

    name: str
    summary: str
    is_usable: bool
    is_automatic: bool  #: may be chosen when none is named
    errno: int
    reason: str  #: why it is not usable


class Buffer(_core.Buffer):
    """Device memory of the library's own, freed with the object. Frameworks take it by DLPack."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self.device_address, False), "strides": None, "version": 3}

    def __dlpack__(self, **arguments: Any) -> object:
        return self._array().__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._array().__dlpack_device__()
        return device

    def __repr__(self) -> str:
        if self.freed:
            return "<gdrkit.Buffer: freed>"
        return f"<gdrkit.Buffer: {self.nbytes} bytes on device {self.device}>"


class Mapping(_core.Mapping):
    """Device memory in this process's address space; offsets are in bytes. memoryview(mapping) shows the bytes.

    It keeps the mapped array alive, and may be used as a context manager.
    """

    shape: tuple[int, ...]
    dtype: str | None

    if TYPE_CHECKING:  # at run time the extension module has it

        def __buffer__(self, flags: int, /) -> memoryview: ...

    @property
    def info(self) -> MappingInfo:
        mapping_type, verification, page_size, device_address, address = self._info()
        return MappingInfo(_MAPPING_TYPES[mapping_type], _VERIFICATIONS[verification], page_size, device_address, address)

    def view(self) -> memoryview:
        """The bytes. Plain loads from a GPU are slow: read() reads whole lines. flush() follows stores."""
        return memoryview(self)

    def numpy(self, dtype: Any = None) -> Any:
        """A NumPy array on the device memory, of the mapped array's type and shape, or flat of `dtype`."""
        import numpy

        if dtype is not None:
            return numpy.frombuffer(memoryview(self), dtype)
        if self.dtype is None or not hasattr(numpy, self.dtype) and self.dtype != "bool":
            cause = f"NumPy has no type {self.dtype}" if self.dtype else "the mapping has no element type"
            raise TypeError(f"cannot make a NumPy array: {cause}; pass dtype, such as 'uint16'")
        return numpy.frombuffer(memoryview(self), self.dtype).reshape(self.shape)

    __enter__, __exit__ = _enter, _close_at_exit

    def __repr__(self) -> str:
        if self.closed:
            return "<gdrkit.Mapping: closed>"
        return f"<gdrkit.Mapping: {self.nbytes} bytes, {self.info.mapping_type}>"


class Context(_core.Context):
    """A way to device memory: `backend`, or $GDRKIT_BACKEND, or the first that can run here."""

    @property
    def info(self) -> ContextInfo:
        return ContextInfo(*self._info())

    def map(
        self, array: Any, *, engine: str | None = None, mapping_type: str = "default", readonly: bool | None = None
    ) -> Mapping:
        """Maps the memory of an array on a GPU: PyTorch, CuPy, JAX, gdrkit.Buffer, any object with
        __cuda_array_interface__ or __dlpack__.

        engine: what performs reads and writes: "cpu" (the default), "lanes", "copy_engine", "mover" or "automatic".
        readonly: that of the array, unless given. Mapping does not wait for streams, and is not ordered with them.
        """
        found = describe(array, self.info.is_emulated)
        is_readonly = found.readonly if readonly is None else readonly
        try:
            return self._map(
                found.address, found.nbytes, found.owner, engine, mapping_type, is_readonly, found.shape, found.dtype
            )
        except Error as error:
            if not found.is_host or error.errno != errno.EINVAL:
                raise
            raise TypeError(
                f"cannot map {type(array).__name__}: the array is in host memory; on the emulated device, map memory"
                " from gdrkit.allocate"
            ) from error

    def map_address(
        self,
        address: int,
        size: int,
        *,
        owner: object = None,
        engine: str | None = None,
        mapping_type: str = "default",
        readonly: bool = False,
    ) -> Mapping:
        """Maps `size` bytes from a device address on. `owner` is kept alive as long as the mapping."""
        return self._map(address, size, owner, engine, mapping_type, readonly, (size,), "uint8")

    def allocate(self, size: int, device: int = 0) -> Buffer:
        """Device memory on CUDA's device number `device`. Its contents are undefined."""
        return Buffer(self, size, device)

    def _map(
        self,
        address: int,
        size: int,
        owner: object,
        engine: str | None,
        mapping_type: str,
        readonly: bool,
        shape: tuple[int, ...],
        dtype: str | None,
    ) -> Mapping:
        if mapping_type not in _MAPPING_TYPES:
            raise ValueError(f"invalid mapping type '{mapping_type}'; use one of {', '.join(_MAPPING_TYPES)}")
        mapping = Mapping(self, address, size, owner, engine, _MAPPING_TYPES.index(mapping_type), readonly)
        mapping.shape, mapping.dtype = shape, dtype
        return mapping

    __enter__, __exit__ = _enter, _close_at_exit

    def __repr__(self) -> str:
        return "<gdrkit.Context: closed>" if self.closed else f"<gdrkit.Context: {self.info.backend}>"


_contexts: dict[int, Context] = {}


def context() -> Context:
    """The context that gdrkit.map and gdrkit.allocate use: one for each process, opened on first use."""
    pid = os.getpid()  # a forked child's inherited context is dead
    found = _contexts.get(pid)
    if found is None or found.closed:
        found = _contexts[pid] = Context()
    return found


def map(
    array: Any, *, engine: str | None = None, mapping_type: str = "default", readonly: bool | None = None
) -> Mapping:
    """Context.map of the process's context."""
    return context().map(array, engine=engine, mapping_type=mapping_type, readonly=readonly)


def allocate(size: int, device: int = 0) -> Buffer:
    """Context.allocate of the process's context."""
    return context().allocate(size, device)


def backends() -> list[BackendReport]:
    """Whether each backend can run on this machine, in probe order."""
    return [BackendReport(*report) for report in _core.probe()]


def copy_kernels() -> list[tuple[str, bool]]:
    """The copy kernels in order of preference, each with whether this CPU runs it."""
    return list(_core.copy_kernels())
