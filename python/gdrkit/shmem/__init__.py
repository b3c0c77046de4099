# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""One-sided communication between GPUs: a symmetric heap on each PE's GPU, puts, gets, signals, collectives.

    import gdrkit.shmem as shmem

    with shmem.init():
        inbox = shmem.zeros(1000, "int64")
        shmem.put(inbox, numbers, pe=(shmem.my_pe() + 1) % shmem.n_pes())
        shmem.barrier_all()

Collective functions are marked: all PEs call them in the same order. `stream` is None, an object with `cuda_stream`
(PyTorch's streams), a `shmem.Stream`, or CUDA's number of a stream. With a stream the call returns immediately, and the
GPU performs the operation in the order of the stream. Errors are gdrkit.Error. Calls that wait release the GIL; Ctrl-C
takes effect when they end (set_timeout).
"""
from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from types import TracebackType
from typing import Any, NamedTuple

from gdrkit import _shmem
from gdrkit._dtypes import dtype_of
from gdrkit._errors import Error
from gdrkit._symmetric import Allocation, SymmetricArray, local_side, require_no_leases
from gdrkit.shmem._gpu_code import bitcode_path, include_path, init_module

__all__ = [
    "Info",
    "Job",
    "Stream",
    "SymmetricArray",
    "Team",
    "alltoall",
    "atomic",
    "barrier_all",
    "bitcode_path",
    "broadcast",
    "describe",
    "empty",
    "fcollect",
    "fence",
    "finalize",
    "get",
    "get_nbi",
    "include_path",
    "info",
    "init",
    "init_module",
    "load",
    "my_pe",
    "n_pes",
    "node_team",
    "put",
    "put_nbi",
    "put_signal",
    "quiet",
    "reduce",
    "reducescatter",
    "register",
    "set_timeout",
    "shared_team",
    "signal_fetch",
    "signal_op",
    "signal_wait_until",
    "store",
    "sync_all",
    "team_unique_id",
    "test",
    "unique_id",
    "wait_until",
    "world",
    "zeros",
]

_COMPARISONS = {"==": 0, "!=": 1, ">": 2, "<=": 3, "<": 4, ">=": 5}
_SIGNALS = {"set": 9, "add": 10}
_ATOMICS = {"fetch": 0, "set": 1, "add": 2, "swap": 3, "compare_swap": 4, "and": 5, "or": 6, "xor": 7}
_REDUCTIONS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "and": 4, "or": 5, "xor": 6}

_allocations: weakref.WeakSet[Allocation] = weakref.WeakSet()


class Info(NamedTuple):
    """Properties of a PE and its heap."""

    pe: int
    n_pes: int
    node_pes: int  #: number of PEs on this machine
    device: int  #: CUDA device number
    is_emulated: bool
    heap_address: int
    heap_bytes: int
    heap_used_bytes: int
    heap_max_bytes: int


class Job:
    """One PE of a job. As a context manager it finalizes at the end, unless an exception is raised: then the end of
    this PE ends the waits of the others."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def use(self) -> None:
        """Binds the calling thread to this PE. A process may have several PEs."""
        _shmem.use(self._handle)

    def __enter__(self) -> Job:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.use()
            finalize()


class Stream:
    """A stream of this PE's GPU, for programs without a framework, and for the emulated device."""

    def __init__(self) -> None:
        self.cuda_stream: int = _shmem.stream_create()

    def synchronize(self) -> None:
        """Waits until all its work is complete. Raises an error if an operation failed."""
        _shmem.stream_synchronize(self.cuda_stream)

    def destroy(self) -> None:
        _shmem.stream_destroy(self.cuda_stream)


class Team:
    """A subset of the PEs, numbered from 0."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @property
    def handle(self) -> int:
        return self._handle

    @property
    def my_pe(self) -> int:
        return _shmem.team_my_pe(self._handle)

    @property
    def n_pes(self) -> int:
        return _shmem.team_n_pes(self._handle)

    def translate_pe(self, pe: int, other: Team) -> int:
        """Returns the number in `other` of the PE with the number `pe` in this team."""
        return _shmem.team_translate_pe(self._handle, pe, other.handle)

    @classmethod
    def from_unique_id(cls, unique_id: int, n_pes: int, my_pe: int) -> Team:
        """Collective over the new team. Creates it from any PEs in any order. One PE calls team_unique_id() and shares the id."""
        return cls(_shmem.team_init(unique_id, n_pes, my_pe))

    def split_strided(self, start: int, stride: int, size: int) -> Team | None:
        """Collective over this team. Makes a team of its PEs start, start + stride, ...; None on other PEs."""
        return _team_or_none(_shmem.team_split_strided(self._handle, start, stride, size))

    def split_2d(self, x_range: int) -> tuple[Team | None, Team | None]:
        """Collective over this team. Arranges it in rows of x_range PEs, and returns the caller's row and column."""
        row, column = _shmem.team_split_2d(self._handle, x_range)
        return _team_or_none(row), _team_or_none(column)

    def sync(self, stream: Any = None) -> None:
        """Collective: waits for all PEs. Does not complete outstanding puts."""
        _shmem.team_sync(self._handle, _stream_of(stream))

    def barrier(self, stream: Any = None) -> None:
        """Collective: quiet, then sync."""
        _shmem.team_barrier(self._handle, _stream_of(stream))

    def destroy(self) -> None:
        """Collective."""
        _shmem.team_destroy(self._handle)

    def __repr__(self) -> str:
        return f"<gdrkit.shmem.Team {self._handle}>"


def team_unique_id() -> int:
    """Returns an id for one team, which its PEs pass to Team.from_unique_id()."""
    return _shmem.team_unique_id()


def _team_or_none(handle: int) -> Team | None:
    return None if handle < 0 else Team(handle)


world = Team(0)  #: all PEs
shared_team = Team(1)  #: PEs whose memory this PE's GPU can access
node_team = Team(2)  #: PEs of this machine


def _stream_of(stream: Any) -> int | None:
    if stream is None or isinstance(stream, int):
        return stream
    handle = getattr(stream, "cuda_stream", None)
    if handle is None:
        handle = getattr(stream, "ptr", None)  # CuPy
    if not isinstance(handle, int):
        raise TypeError(f"invalid stream of type {type(stream).__name__}: it has no attribute cuda_stream or ptr; pass a PyTorch or CuPy stream")
    return handle


def _choice(table: dict[str, int], name: str, what: str) -> int:
    if name not in table:
        raise ValueError(f"'{name}' is not {what}; use one of {', '.join(table)}")
    return table[name]


# Begin and end


def unique_id() -> bytes:
    """Creates the unique ID of a job. PE 0's process creates it, and the application distributes it to the others."""
    return _shmem.get_unique_id()


def init(
    comm: Any = None,
    *,
    unique_id: bytes | None = None,
    pe: int | None = None,
    n_pes: int | None = None,
    device: int | None = None,
    timeout: float = 0,
    heap_bytes: int = 0,
    heap_max_bytes: int = 0,
) -> Job:
    """Joins a job. Collective. Without arguments the environment of gdrkit run, torchrun, mpirun or srun sets the PE;
    without a launcher the job has one PE. `comm`: an mpi4py communicator, whose processes are the PEs. Alternatively
    set `unique_id`, `pe` and `n_pes`. `timeout`: limit of init, collectives and waits in seconds.
    """
    if comm is not None:
        if (unique_id, pe, n_pes) != (None, None, None):
            raise ValueError("cannot combine comm with unique_id, pe or n_pes; pass either comm or the other three arguments")
        unique_id, pe, n_pes = _join_by(comm)
    elif len({argument is None for argument in (unique_id, pe, n_pes)}) != 1:
        raise ValueError("cannot join the job: only some of unique_id, pe and n_pes are set; set all three or none")
    milliseconds = math.ceil(timeout * 1000)
    return Job(_shmem.init(n_pes or 0, pe or 0, device, milliseconds, unique_id, heap_bytes, heap_max_bytes))


def _join_by(comm: Any) -> tuple[bytes, int, int]:
    """Returns PE 0's unique id on all processes of the communicator, or raises its error on all of them."""
    rank = comm.Get_rank()
    made: bytes | tuple[int, str] | None = None
    if rank == 0:
        try:
            made = unique_id()
        except Error as error:
            made = (error.errno or 0, error.strerror or str(error))
    made = comm.bcast(made, root=0)
    if not isinstance(made, bytes):
        raise Error(*made) if made else Error(71, "cannot join the job: rank 0 sent no unique id; see the error message of rank 0")
    return made, rank, comm.Get_size()


def finalize() -> None:
    """Collective: waits for all PEs and frees the heap. Raises BufferError, without taking part, while tensors of other
    frameworks use symmetric memory."""
    require_no_leases(list(_allocations))
    _shmem.finalize()
    for allocation in list(_allocations):
        allocation.is_freed = True
        allocation.owner = None
    _allocations.clear()


def my_pe() -> int:
    return info().pe


def n_pes() -> int:
    return info().n_pes


def info() -> Info:
    return Info(*_shmem.info())


def set_timeout(seconds: float) -> None:
    """Sets the limit of later collectives and waits of this PE; 0: none."""
    _shmem.set_timeout(math.ceil(seconds * 1000))


def describe(pe: int) -> str:
    """Describes transfers to PE `pe` in human-readable text, one line per transport."""
    return _shmem.describe(pe)


# Symmetric memory


def zeros(shape: int | Iterable[int], dtype: Any = "float32") -> SymmetricArray:
    """Collective: allocates an array of zeros on every PE, with the same shape and type."""
    return _allocate(shape, dtype, True)


def empty(shape: int | Iterable[int], dtype: Any = "float32") -> SymmetricArray:
    """Collective: allocates an array with undefined contents."""
    return _allocate(shape, dtype, False)


def _allocate(shape: int | Iterable[int], dtype: Any, is_zeroed: bool) -> SymmetricArray:
    element = dtype_of(dtype)
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(extent < 0 for extent in extents):
        raise ValueError(f"cannot allocate an array of shape {extents}: an extent is negative; use 0 or more")
    allocation = Allocation(_shmem.allocate(max(math.prod(extents) * element.itemsize, 1), is_zeroed), False)
    _allocations.add(allocation)
    return SymmetricArray(allocation, allocation.address, extents, element)


def register(array: Any) -> SymmetricArray:
    """Collective: makes an array of the application symmetric, without a copy (memory of cuMemCreate, see
    gdrkit_shmem_buffer_register_symmetric). free() unregisters it."""
    from gdrkit._device_array import describe as describe_array

    found = describe_array(array, info().is_emulated)
    element = dtype_of(found.dtype)
    allocation = Allocation(_shmem.register_symmetric(found.address, found.nbytes), True, found.owner)
    _allocations.add(allocation)
    return SymmetricArray(allocation, allocation.address, found.shape, element)


# Transfers


def put(target: SymmetricArray, source: Any, pe: int, stream: Any = None) -> None:
    """Copies `source` to PE `pe`'s copy of `target`. The source is bytes, a NumPy array, a tensor on the GPU or in host
    memory, or symmetric. Bytes match any type. On a stream it is on the GPU, or host memory of at most 1024 bytes."""
    local, nbytes, keep = local_side(source, target, "source")
    _shmem.put(target.address, local, nbytes, pe, _stream_of(stream), False)
    del keep


def get(target: Any, source: SymmetricArray, pe: int, stream: Any = None) -> None:
    """Fills `target` from PE `pe`'s copy of `source`."""
    local, nbytes, keep = local_side(target, source, "target")
    _shmem.get(local, source.address, nbytes, pe, _stream_of(stream), False)
    del keep


def put_nbi(target: SymmetricArray, source: Any, pe: int) -> None:
    """Starts a put. The source is on the GPU, and must exist unchanged until quiet."""
    local, nbytes, _ = local_side(source, target, "source")
    _shmem.put(target.address, local, nbytes, pe, None, True)


def get_nbi(target: Any, source: SymmetricArray, pe: int) -> None:
    """Starts a get. The target is on the GPU, must exist until quiet, and holds the data after it."""
    local, nbytes, _ = local_side(target, source, "target")
    _shmem.get(local, source.address, nbytes, pe, None, True)


def store(target: SymmetricArray, value: float, pe: int, stream: Any = None) -> None:
    """Puts a number to `target`, which has one element: array[index]."""
    _require_one(target)
    put(target, target.element.pack(value), pe, stream)


def load(source: SymmetricArray, pe: int) -> Any:
    """Gets the one element of PE `pe`'s copy."""
    _require_one(source)
    data = bytearray(source.element.itemsize)
    get(data, source, pe)
    return source.element.unpack(bytes(data))


# Signals and words


def put_signal(
    target: SymmetricArray, source: Any, signal: SymmetricArray, value: int, pe: int, operation: str = "set",
    stream: Any = None,
) -> None:
    """Puts data, then updates the signal, one uint64, at the same PE. A PE that observes the signal observes the
    data."""
    _require_signal(signal)
    local, nbytes, keep = local_side(source, target, "source")
    how = _choice(_SIGNALS, operation, "a signal operation")
    _shmem.put_signal(target.address, local, nbytes, signal.address, value, how, pe, _stream_of(stream))
    del keep


def signal_op(signal: SymmetricArray, value: int, pe: int, operation: str = "set", stream: Any = None) -> None:
    """Sets or adds to PE `pe`'s signal."""
    _require_signal(signal)
    _shmem.signal_op(signal.address, value, _choice(_SIGNALS, operation, "a signal operation"), pe, _stream_of(stream))


def signal_fetch(signal: SymmetricArray) -> int:
    """Returns the value of the caller's signal."""
    _require_signal(signal)
    return _shmem.signal_fetch(signal.address)


def signal_wait_until(signal: SymmetricArray, comparison: str, value: int, stream: Any = None) -> None:
    """Waits until the caller's signal satisfies the comparison: signal_wait_until(signal, ">=", 1)."""
    _require_signal(signal)
    wait_until(signal, comparison, value, stream)


def wait_until(word: SymmetricArray, comparison: str, value: int, stream: Any = None) -> None:
    """Waits until the caller's integer of 4 or 8 bytes satisfies the comparison."""
    how = _choice(_COMPARISONS, comparison, "a comparison")
    _shmem.wait_until(word.address, _require_word(word), how, _bits(word, value), _stream_of(stream))


def test(word: SymmetricArray, comparison: str, value: int) -> bool:
    """Returns whether the caller's integer satisfies the comparison."""
    how = _choice(_COMPARISONS, comparison, "a comparison")
    return _shmem.test(word.address, _require_word(word), how, _bits(word, value))


def atomic(target: SymmetricArray, operation: str, value: int, pe: int, compare: int = 0) -> int:
    """Performs fetch, set, add, swap, compare_swap, and, or, xor on PE `pe`'s integer. Returns the old value."""
    _require_word(target)
    how = _choice(_ATOMICS, operation, "an atomic operation")
    itemsize = target.element.itemsize
    before = _shmem.atomic(target.address, itemsize, how, _bits(target, value), _bits(target, compare), pe)
    result: int = target.element.unpack(before.to_bytes(8, "little")[:itemsize])
    return result


def _require_one(array: SymmetricArray) -> None:
    if array.size != 1:
        raise ValueError(f"cannot use an array of {array.size} elements: the function requires an array of one element; pass array[index]")


def _require_signal(array: SymmetricArray) -> None:
    _require_one(array)
    if array.dtype != "uint64":
        raise TypeError(f"cannot use an array of type {array.dtype} as a signal; use type uint64")


def _require_word(array: SymmetricArray) -> int:
    _require_one(array)
    if not array.element.word:
        raise TypeError(f"cannot use an array of type {array.dtype}: the function requires an integer type of 4 or 8 bytes")
    return array.element.word


def _bits(array: SymmetricArray, value: int) -> int:
    """Two's complement of the element's width. Raises OverflowError if the value does not fit."""
    bits, is_signed = 8 * array.element.itemsize, array.element.word < 0
    low, high = (-(1 << bits - 1), 1 << bits - 1) if is_signed else (0, 1 << bits)
    if not low <= value < high:
        raise OverflowError(f"{value} does not fit into {array.dtype}; use {low} to {high - 1}")
    return value & (1 << bits) - 1


# Order


def fence() -> None:
    """Orders earlier puts of this PE to each PE before later ones."""
    _shmem.fence()


def quiet(stream: Any = None) -> None:
    """Completes earlier puts, gets and atomic operations of this PE. They are visible to every PE."""
    _shmem.quiet(_stream_of(stream))


def sync_all() -> None:
    """Collective: waits for all PEs. Does not complete outstanding puts."""
    _shmem.sync_all()


def barrier_all(stream: Any = None) -> None:
    """Collective: quiet, then sync_all."""
    if stream is None:
        _shmem.barrier_all()
    else:
        world.barrier(stream)


# Collectives: all PEs of the team call the same function, with the same sizes and offsets in the heap.


def broadcast(target: SymmetricArray, source: SymmetricArray, root: int, team: Team = world, stream: Any = None) -> None:
    """Copies the root's source to the target of every PE."""
    _require_same(target, source, 1, 1)
    _shmem.broadcast(team.handle, target.address, source.address, source.nbytes, root, _stream_of(stream))


def fcollect(target: SymmetricArray, source: SymmetricArray, team: Team = world, stream: Any = None) -> None:
    """Concatenates the sources of all PEs, in the order of their numbers, in the target of every PE."""
    _require_same(target, source, team.n_pes, 1)
    _shmem.fcollect(team.handle, target.address, source.address, source.nbytes, _stream_of(stream))


def alltoall(target: SymmetricArray, source: SymmetricArray, team: Team = world, stream: Any = None) -> None:
    """Copies part i of PE j's source to part j of PE i's target."""
    _require_same(target, source, 1, 1)
    if source.size % team.n_pes:
        raise ValueError(f"cannot run alltoall: the number of source elements ({source.size}) is not a multiple of the number of PEs ({team.n_pes})")
    part = source.nbytes // team.n_pes
    _shmem.alltoall(team.handle, target.address, source.address, part, _stream_of(stream))


def reduce(
    target: SymmetricArray, source: SymmetricArray, operation: str = "sum", team: Team = world, stream: Any = None
) -> None:
    """Reduces all sources element by element to the target of every PE: sum, prod, min, max, and, or, xor."""
    _require_same(target, source, 1, 1)
    how = _choice(_REDUCTIONS, operation, "a reduction")
    type_ = _shmem_type(source)
    _shmem.reduce(team.handle, type_, how, target.address, source.address, source.size, _stream_of(stream))


def reducescatter(
    target: SymmetricArray, source: SymmetricArray, operation: str = "sum", team: Team = world, stream: Any = None
) -> None:
    """Reduces all sources, and stores part i of the result in PE i's target."""
    _require_same(target, source, 1, team.n_pes)
    how = _choice(_REDUCTIONS, operation, "a reduction")
    type_ = _shmem_type(source)
    _shmem.reducescatter(team.handle, type_, how, target.address, source.address, target.size, _stream_of(stream))


def _require_same(target: SymmetricArray, source: SymmetricArray, target_parts: int, source_parts: int) -> None:
    if target.dtype != source.dtype:
        raise TypeError(f"the target has type {target.dtype}, but the source has type {source.dtype}; use one type")
    if target.size * source_parts != source.size * target_parts:
        raise ValueError(f"the sizes do not match: the target has {target.size} elements, the source has {source.size}; "
                         f"use a ratio of {target_parts}:{source_parts} (target:source)")


def _shmem_type(array: SymmetricArray) -> int:
    if not array.element.shmem_type:
        raise TypeError(f"cannot reduce elements of type {array.dtype}: the type is not supported")
    return array.element.shmem_type
