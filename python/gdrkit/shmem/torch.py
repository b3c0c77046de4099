# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit shmem on PyTorch's tensors and streams, in CUDA graphs and under torch.compile.

    from gdrkit.shmem import torch as gshmem

    inbox, signal = gshmem.zeros(1000), gshmem.zeros(1, dtype=torch.int64)
    gshmem.put_signal(inbox, outbox, signal, 1, peer)
    gshmem.signal_wait_until(signal, ">=", 1, [inbox])

Transfers and collectives are operators of PyTorch (torch.ops.gdrkit). They run on the current stream and can be captured
in a CUDA graph. Symmetric tensors are those of `zeros`, `empty`, `register` and `pool`, and contiguous views of them.
Other tensors are contiguous and on the same GPU. On the emulated device all tensors are in host memory, and the operators
block.

torch.compile orders an operator by the tensors that it writes. A wait and a barrier therefore take the tensors that other
PEs write or read meanwhile. In a compiled function only these operators may write symmetric tensors, because
torch.compile lets others write a copy.
"""
from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch  # type: ignore[import-not-found, unused-ignore]
from torch import Tensor  # type: ignore[import-not-found, unused-ignore]

from gdrkit import _shmem, shmem
from gdrkit._dtypes import find_dtype
from gdrkit._errors import Error
from gdrkit.shmem import Team, world
from gdrkit.shmem._torch_memory import empty, free, pool, register, zeros

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "barrier_all",
    "broadcast",
    "empty",
    "free",
    "get",
    "pool",
    "put",
    "put_signal",
    "reduce_scatter",
    "register",
    "signal_op",
    "signal_wait_until",
    "synchronize",
    "zeros",
]

_COMPARISONS, _SIGNALS, _REDUCTIONS = shmem._COMPARISONS, shmem._SIGNALS, shmem._REDUCTIONS
_choice = shmem._choice
_WORD = (1 << 64) - 1  # two's complement


def _stream(tensor: Tensor | None = None) -> int | None:
    """The current stream of the tensor's GPU; None on the emulated device."""
    if tensor is not None:
        return torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else None
    information = shmem.info()
    return None if information.is_emulated else torch.cuda.current_stream(information.device).cuda_stream


def synchronize() -> None:
    """Waits until the current stream has performed all its work. Raises an error if a wait of a stream failed."""
    stream = _stream()
    if stream is not None:
        _shmem.stream_synchronize(stream)


# Checks of arguments. torch.compile performs them when it traces, on tensors without memory.


def _require_like(one: Tensor, other: Tensor, one_name: str = "target", other_name: str = "source") -> None:
    if not (one.is_contiguous() and other.is_contiguous()):
        name = other_name if one.is_contiguous() else one_name
        raise ValueError(f"the {name} is not contiguous; use a contiguous tensor")
    if one.get_device() != other.get_device():
        raise ValueError(f"the {one_name} is on {one.device}, but the {other_name} is on {other.device}; use one device")
    if one.dtype != other.dtype:
        raise TypeError(f"the {one_name} has type {one.dtype}, but the {other_name} has type {other.dtype}; use one type")


def _require_fit(symmetric: Tensor, local: Tensor, symmetric_name: str, local_name: str) -> None:
    _require_like(symmetric, local, symmetric_name, local_name)
    if local.numel() > symmetric.numel():
        raise ValueError(f"the {local_name} is too large: it has {local.numel()} elements, but the {symmetric_name} has {symmetric.numel()}")


def _require_parts(target: Tensor, source: Tensor, target_parts: int, source_parts: int) -> None:
    _require_like(target, source)
    if target.numel() * source_parts != source.numel() * target_parts:
        raise ValueError(
            f"the sizes do not match: the target has {target.numel()} elements, the source has {source.numel()}; "
            f"use a ratio of {target_parts}:{source_parts} (target:source)"
        )


_HINT = "in a function for torch.compile, write symmetric tensors only with gdrkit's operators; other operators may write a copy"


def _require_symmetric(tensors: Sequence[Tensor]) -> None:
    heap, heap_bytes = _shmem.info()[5], _shmem.info()[8]
    for tensor in tensors:
        if not 0 <= tensor.data_ptr() - heap < heap_bytes:
            raise ValueError(
                f"the tensor at 0x{tensor.data_ptr():x} is not in symmetric memory; allocate the tensor with "
                "gdrkit.shmem.torch.zeros, and under torch.compile write the tensor only with gdrkit's operators"
            )


def _require_signal(signal: Tensor) -> None:
    if signal.dtype not in (torch.int64, torch.uint64) or signal.numel() != 1:
        raise TypeError(
            f"cannot use a tensor of shape {tuple(signal.shape)} and type {signal.dtype} as a signal; "
            "use one element of type int64 or uint64"
        )


def _shmem_type(tensor: Tensor) -> int:
    found = find_dtype(tensor.dtype)
    if found is None or not found.shmem_type:
        raise TypeError(f"cannot reduce elements of type {tensor.dtype}: the type is not supported")
    return found.shmem_type


_registration: Any = torch.library
_library = _registration.Library("gdrkit", "DEF")


def _operator(schema: str) -> Callable[[Callable[..., Callable[[], None]]], Any]:
    """Registers an operator of PyTorch. The function checks the arguments and returns what performs the operation.
    Tracing stops there."""
    name, arguments = schema[: schema.index("(")], schema[schema.index("(") + 1 : -1].split(", ")
    written = [index for index, argument in enumerate(arguments) if "!" in argument]

    def register_function(function: Callable[..., Callable[[], None]]) -> Any:
        def perform(*values: Any) -> None:
            try:
                function(*values)()
            except Error as error:
                if error.errno == errno.EINVAL and hasattr(error, "add_note"):  # Python 3.11
                    error.add_note(_HINT)
                raise
            for index in written:
                _count_change(values[index])

        def trace(*values: Any) -> None:
            if "torch._inductor.config" in sys.modules:  # imported by torch.compile; an import takes seconds
                from gdrkit.shmem import _torch_compile

                _torch_compile.install()
            function(*values)

        # torch.library.custom_op does the same, but adds 25 us to each call.
        _library.define(f"{schema} -> ()")
        for device in ("CPU", "CUDA"):
            _library.impl(name, perform, device)
        _registration.register_fake(f"gdrkit::{name}", trace, lib=_library)
        return getattr(torch.ops.gdrkit, name).default

    return register_function


def _count_change(tensors: Tensor | list[Tensor]) -> None:
    """For autograd, which checks that saved tensors are unchanged."""
    for tensor in [tensors] if isinstance(tensors, Tensor) else tensors:
        if not tensor.is_inference():
            torch.autograd.graph.increment_version(tensor)


@_operator("put(Tensor(a!) target, Tensor source, SymInt pe)")
def _put(target: Tensor, source: Tensor, pe: int) -> Callable[[], None]:
    _require_fit(target, source, "target", "source")
    return lambda: _shmem.put(target.data_ptr(), source.data_ptr(), source.nbytes, pe, _stream(target), False)


@_operator("get(Tensor(a!) target, Tensor source, SymInt pe)")
def _get(target: Tensor, source: Tensor, pe: int) -> Callable[[], None]:
    _require_fit(source, target, "source", "target")
    return lambda: _shmem.get(target.data_ptr(), source.data_ptr(), target.nbytes, pe, _stream(target), False)


@_operator("put_signal(Tensor(a!) target, Tensor source, Tensor(b!) signal, SymInt value, SymInt pe, str operation)")
def _put_signal(
    target: Tensor, source: Tensor, signal: Tensor, value: int, pe: int, operation: str
) -> Callable[[], None]:
    _require_fit(target, source, "target", "source")
    _require_signal(signal)
    how = _choice(_SIGNALS, operation, "a signal operation")
    return lambda: _shmem.put_signal(
        target.data_ptr(), source.data_ptr(), source.nbytes, signal.data_ptr(), value & _WORD, how, pe, _stream(target)
    )


@_operator("signal_op(Tensor(a!) signal, SymInt value, SymInt pe, str operation)")
def _signal_op(signal: Tensor, value: int, pe: int, operation: str) -> Callable[[], None]:
    _require_signal(signal)
    how = _choice(_SIGNALS, operation, "a signal operation")
    return lambda: _shmem.signal_op(signal.data_ptr(), value & _WORD, how, pe, _stream(signal))


@_operator("signal_wait_until(Tensor(a!) signal, str comparison, SymInt value, Tensor(b!)[] arrived)")
def _signal_wait_until(signal: Tensor, comparison: str, value: int, arrived: list[Tensor]) -> Callable[[], None]:
    _require_signal(signal)
    how = _choice(_COMPARISONS, comparison, "a comparison")
    word = -8 if signal.dtype == torch.int64 else 8

    def perform() -> None:
        _require_symmetric(arrived)
        _shmem.wait_until(signal.data_ptr(), word, how, value & _WORD, _stream(signal))

    return perform


@_operator("barrier(Tensor(a!)[] tensors, int team)")
def _barrier(tensors: list[Tensor], team: int) -> Callable[[], None]:
    def perform() -> None:
        _require_symmetric(tensors)
        _shmem.team_barrier(team, _stream(tensors[0]))

    return perform


@_operator("broadcast(Tensor(a!) target, Tensor source, SymInt root, int team)")
def _broadcast(target: Tensor, source: Tensor, root: int, team: int) -> Callable[[], None]:
    _require_parts(target, source, 1, 1)
    return lambda: _shmem.broadcast(team, target.data_ptr(), source.data_ptr(), source.nbytes, root, _stream(target))


@_operator("all_gather(Tensor(a!) target, Tensor source, int team)")
def _all_gather(target: Tensor, source: Tensor, team: int) -> Callable[[], None]:
    _require_parts(target, source, _shmem.team_n_pes(team), 1)
    return lambda: _shmem.fcollect(team, target.data_ptr(), source.data_ptr(), source.nbytes, _stream(target))


@_operator("all_to_all(Tensor(a!) target, Tensor source, int team)")
def _all_to_all(target: Tensor, source: Tensor, team: int) -> Callable[[], None]:
    _require_parts(target, source, 1, 1)
    n_pes = _shmem.team_n_pes(team)
    if source.numel() % n_pes:
        raise ValueError(f"cannot run all_to_all: the number of source elements ({source.numel()}) is not a multiple of the number of PEs ({n_pes})")
    return lambda: _shmem.alltoall(
        team, target.data_ptr(), source.data_ptr(), source.nbytes // n_pes, _stream(target)
    )


@_operator("all_reduce(Tensor(a!) target, Tensor source, str operation, int team)")
def _all_reduce(target: Tensor, source: Tensor, operation: str, team: int) -> Callable[[], None]:
    _require_parts(target, source, 1, 1)
    how, element = _choice(_REDUCTIONS, operation, "a reduction"), _shmem_type(source)
    return lambda: _shmem.reduce(
        team, element, how, target.data_ptr(), source.data_ptr(), source.numel(), _stream(target)
    )


@_operator("reduce_scatter(Tensor(a!) target, Tensor source, str operation, int team)")
def _reduce_scatter(target: Tensor, source: Tensor, operation: str, team: int) -> Callable[[], None]:
    _require_parts(target, source, 1, _shmem.team_n_pes(team))
    how, element = _choice(_REDUCTIONS, operation, "a reduction"), _shmem_type(source)
    return lambda: _shmem.reducescatter(
        team, element, how, target.data_ptr(), source.data_ptr(), target.numel(), _stream(target)
    )


# What programs call


def put(target: Tensor, source: Tensor, pe: int) -> None:
    """Copies `source` to the start of PE `pe`'s copy of the symmetric `target`."""
    _put(target, source, pe)


def get(target: Tensor, source: Tensor, pe: int) -> None:
    """Fills `target` from the start of PE `pe`'s copy of the symmetric `source`."""
    _get(target, source, pe)


def put_signal(target: Tensor, source: Tensor, signal: Tensor, value: int, pe: int, operation: str = "set") -> None:
    """Puts data, then sets or adds to the symmetric `signal`, one int64 or uint64, at the same PE. A PE that observes
    the signal observes the data."""
    _put_signal(target, source, signal, value, pe, operation)


def signal_op(signal: Tensor, value: int, pe: int, operation: str = "set") -> None:
    """Sets or adds to PE `pe`'s signal."""
    _signal_op(signal, value, pe, operation)


def signal_wait_until(signal: Tensor, comparison: str, value: int, arrived: Sequence[Tensor] = ()) -> None:
    """Makes the stream wait until this PE's signal satisfies the comparison: ==, !=, >, <=, <, >=.

    `arrived`: the tensors that contain the data of other PEs afterwards. torch.compile requires them. If the wait times
    out or a PE ends, the stream continues, and `synchronize` raises the error.
    """
    _signal_wait_until(signal, comparison, value, list(arrived))


def barrier_all(tensors: Sequence[Tensor] = (), team: Team = world) -> None:
    """Collective: completes earlier puts of the stream, then makes it wait for the streams of all PEs of the team.

    `tensors`: those that PEs write or read on one side of the barrier. torch.compile requires them.
    """
    if tensors:
        _barrier(list(tensors), team.handle)
    elif torch.compiler.is_compiling():
        raise ValueError("cannot compile barrier_all: the argument 'tensors' is empty; pass the tensors that the PEs access")
    else:
        _shmem.team_barrier(team.handle, _stream(None))


def broadcast(target: Tensor, source: Tensor, root: int, team: Team = world) -> None:
    """Collective: copies the root's source to the target of every PE. Collectives require symmetric tensors."""
    _broadcast(target, source, root, team.handle)


def all_gather(target: Tensor, source: Tensor, team: Team = world) -> None:
    """Collective: concatenates the sources of all PEs, in the order of their numbers, in the target of every PE."""
    _all_gather(target, source, team.handle)


def all_to_all(target: Tensor, source: Tensor, team: Team = world) -> None:
    """Collective: copies part i of PE j's source to part j of PE i's target."""
    _all_to_all(target, source, team.handle)


def all_reduce(target: Tensor, source: Tensor, operation: str = "sum", team: Team = world) -> None:
    """Collective: reduces all sources element by element to the target of every PE.

    `operation`: sum, prod, min, max, and, or, xor.
    """
    _all_reduce(target, source, operation, team.handle)


def reduce_scatter(target: Tensor, source: Tensor, operation: str = "sum", team: Team = world) -> None:
    """Collective: reduces all sources, and stores part i of the result in PE i's target."""
    _reduce_scatter(target, source, operation, team.handle)
