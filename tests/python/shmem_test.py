# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit.shmem with one PE in this process, its own neighbour: arrays, types, refusals, lifetimes, streams."""
import errno
import gc
import threading

import gdrkit
import pytest
from gdrkit import shmem
from gdrkit._dtypes import dtype_of

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]


@pytest.fixture(scope="module")
def job():
    with shmem.init(timeout=60, heap_bytes=8 << 20) as started:
        yield started
        gc.collect()


@pytest.fixture
def array(job):
    made = shmem.zeros((4, 8), "int32")
    yield made
    made.free()


@pytest.fixture
def signal(job):
    made = shmem.zeros(1, "uint64")
    yield made
    made.free()


def test_runs_a_job_of_one_pe(job):
    info = shmem.info()
    assert (info.pe, info.n_pes, shmem.my_pe(), shmem.n_pes()) == (0, 1, 0, 1)
    assert info.heap_bytes >= 8 << 20
    assert shmem.describe(0)
    with pytest.raises(gdrkit.Error) as caught:
        shmem.describe(5)
    assert caught.value.errno == errno.EINVAL and caught.value.strerror


@pytest.mark.parametrize("dtype", TYPES)
def test_get_returns_the_data_of_put(job, dtype):
    numpy = pytest.importorskip("numpy")
    array = shmem.zeros(100, dtype)
    source = (numpy.arange(100) % 50).astype(dtype)
    shmem.put(array, source, 0)
    target = numpy.zeros(100, dtype)
    shmem.get(target, array, 0)
    assert (target == source).all() and array.dtype == dtype and array.nbytes == source.nbytes
    shmem.store(array[7], 9, 0)
    assert shmem.load(array[7], 0) == 9 and shmem.load(array[8], 0) == source[8]
    array.free()


def test_accepts_raw_bytes_for_any_type(array):
    shmem.put(array, bytes(range(128)), 0)
    target = bytearray(128)
    shmem.get(target, array, 0)
    assert target == bytes(range(128))


def test_indexes_parts_along_the_first_dimension(array):
    shmem.put(array, bytes(range(128)), 0)
    part, row = array[1:3], array[-1]
    assert part.shape == (2, 8) and row.shape == (8,) and row[3].shape == () and len(part) == 2
    target = bytearray(4)
    shmem.get(target, row[3], 0)
    assert target == bytes(range(108, 112))
    assert array.reshape(32)[27].address == row[3].address
    for wrong, error in ((lambda: array[4], IndexError), (lambda: array[::2], ValueError), (lambda: len(row[0]), TypeError),
                         (lambda: array.reshape(5), ValueError), (part.free, ValueError)):
        with pytest.raises(error):
            wrong()


def test_accepts_symmetric_memory_as_source(job, array):
    other = shmem.zeros(8, "int32")
    shmem.put(array[2], bytes(range(32)), 0)
    shmem.put(other, array[2], 0)
    shmem.put_nbi(array[3], other, 0)
    shmem.quiet()
    target = bytearray(32)
    shmem.get(target, array[3], 0)
    assert target == bytes(range(32))
    other.free()


def test_rejects_wrong_types_and_sizes(array):
    numpy = pytest.importorskip("numpy")
    for source, error, text in ((numpy.zeros(4, "float32"), TypeError, "float32"), (bytes(129), ValueError, "129 bytes"),
                                (numpy.zeros((4, 4), "int32")[:, 1], (BufferError, ValueError, TypeError), "contiguous"),
                                (5, TypeError, "int")):
        with pytest.raises(error, match=text):
            shmem.put(array, source, 0)
    with pytest.raises((BufferError, TypeError)):
        shmem.get(bytes(4), array, 0)
    with pytest.raises(TypeError, match="int128"):
        shmem.zeros(1, "int128")
    with pytest.raises(ValueError, match="negative"):
        shmem.zeros((-1, 2))
    with pytest.raises(ValueError, match="GPU"):
        shmem.put_nbi(array, bytes(4), 0)


def test_errors_contain_the_library_message(array):
    with pytest.raises(gdrkit.Error) as caught:
        shmem.put(array, bytes(4), 7)
    assert caught.value.errno == errno.EINVAL and "7" in caught.value.strerror
    with pytest.raises(gdrkit.Error) as caught:
        shmem.zeros(1 << 60, "uint8")
    assert caught.value.errno == errno.ENOMEM and caught.value.strerror


@pytest.mark.parametrize("stream", [False, True])
def test_signals_arrive_after_their_data(array, signal, stream):
    on = shmem.Stream() if stream else None
    source = shmem.empty(32, "int32") if stream else bytes(range(128))
    if stream:
        shmem.put(source, bytes(range(128)), 0)
    shmem.put_signal(array, source, signal, 3, 0, stream=on)
    shmem.signal_wait_until(signal, ">=", 3, stream=on)
    shmem.signal_op(signal, 4, 0, "add", stream=on)
    shmem.quiet(on)
    if stream:
        shmem.barrier_all(on)
        on.synchronize()
        on.destroy()
        source.free()
    assert shmem.signal_fetch(signal) == 7
    assert shmem.test(signal, "==", 7) and not shmem.test(signal, "<", 7)
    target = bytearray(128)
    shmem.get(target, array, 0)
    assert target == bytes(range(128))
    for wrong in (lambda: shmem.signal_op(array, 1, 0), lambda: shmem.signal_op(signal, 1, 0, "times")):
        with pytest.raises((TypeError, ValueError)):
            wrong()


def test_streams_accept_small_values_and_reject_host_memory(array):
    stream = shmem.Stream()
    shmem.store(array[0][0], 77, 0, stream=stream)
    stream.synchronize()
    assert shmem.load(array[0][0], 0) == 77
    big = shmem.zeros(2000, "uint8")
    with pytest.raises(ValueError, match="1024 bytes"):
        shmem.put(big, bytes(2000), 0, stream=stream)
    with pytest.raises(ValueError, match="stream"):
        shmem.get(bytearray(4), array, 0, stream=stream)
    with pytest.raises(TypeError, match="invalid stream"):
        shmem.put(array, bytes(4), 0, stream="default")
    big.free()
    stream.destroy()


@pytest.mark.parametrize("dtype, values", [("int32", [-5, 7]), ("uint32", [5, 2**32 - 1]), ("int64", [-2**63, 7]),
                                           ("uint64", [5, 2**64 - 1])])
def test_supports_signed_and_unsigned_words(job, dtype, values):
    word = shmem.zeros(1, dtype)
    first, second = values
    assert shmem.atomic(word, "swap", first, 0) == 0
    shmem.wait_until(word, "==", first)
    assert shmem.atomic(word, "compare_swap", second, 0, compare=first) == first
    assert shmem.atomic(word, "fetch", 0, 0) == second
    assert shmem.test(word, ">", first)
    with pytest.raises(OverflowError, match=dtype):
        shmem.atomic(word, "add", 2**64, 0)
    word.free()


def test_wait_times_out(signal):
    shmem.set_timeout(0.2)
    try:
        with pytest.raises(gdrkit.Timeout) as caught:
            shmem.signal_wait_until(signal, "==", 99)
        assert caught.value.strerror
    finally:
        shmem.set_timeout(60)


def test_tensor_shares_the_memory_and_keeps_it_alive(job):
    numpy = pytest.importorskip("numpy")
    array = shmem.zeros((2, 3), "float32")
    if not shmem.info().is_emulated:
        assert array.__dlpack_device__() == (2, shmem.info().device)
        array.free()
        return
    tensor = numpy.from_dlpack(array)
    assert tensor.shape == (2, 3) and tensor.dtype == numpy.float32
    shmem.store(array[1][2], 2.5, 0)
    assert tensor[1, 2] == 2.5
    with pytest.raises(BufferError, match=r"tensors of other frameworks .*\(number of tensors: 1\)"):
        array.free()
    with pytest.raises(BufferError, match=r"tensors of other frameworks .*\(number of tensors: 1\)"):
        shmem.finalize()
    del tensor
    gc.collect()
    array.free()
    array.free()
    with pytest.raises(ValueError, match="freed"):
        shmem.store(array[0][0], 1, 0)


def test_gpu_memory_has_the_cuda_array_interface(job):
    array = shmem.zeros((2, 3), "bfloat16")
    assert hasattr(array, "__cuda_array_interface__") != shmem.info().is_emulated
    array._allocation.is_emulated = False
    for dtype, typestr in (("bfloat16", "<V2"), ("float32", "<f4"), ("uint64", "<u8"), ("int8", "|i1"), ("bool", "|b1")):
        typed = shmem.SymmetricArray(array._allocation, array.address, (3,), dtype_of(dtype))
        assert typed.__cuda_array_interface__ == {
            "shape": (3,), "typestr": typestr, "data": (array.address, False), "version": 3, "stream": None}
    array.free()


def test_waits_for_tensors_held_by_threads_or_cycles(job):
    if not shmem.info().is_emulated:
        pytest.skip("needs an array that NumPy takes")
    numpy = pytest.importorskip("numpy")

    class Cycle:
        pass

    array = shmem.zeros(100, "float32")
    held = [numpy.from_dlpack(array)]  # as by torch.distributed's threads, just after a collective
    thread = threading.Timer(0.2, held.clear)
    thread.start()
    cycle = Cycle()
    cycle.itself, cycle.tensor = cycle, numpy.from_dlpack(array)
    del cycle
    array.free()
    thread.join()
    assert held == []


def test_accepts_local_bfloat16_arrays_of_frameworks(job):
    class Array:
        def __init__(self, address):
            self.__cuda_array_interface__ = {"shape": (2,), "typestr": "<V2", "data": (address, False), "version": 2}
            self.dtype = "bfloat16"

    array, mine, other = (shmem.zeros(2, dtype) for dtype in ("bfloat16", "bfloat16", "float16"))
    shmem.put(mine, b"\x80\x3f\x00\x40", 0)
    shmem.put(array, Array(mine.address), 0)
    target = bytearray(4)
    shmem.get(target, array, 0)
    assert target == b"\x80\x3f\x00\x40"
    with pytest.raises(TypeError, match="type bfloat16, but the symmetric array has type float16"):
        shmem.put(other, Array(mine.address), 0)
    for made in (array, mine, other):
        made.free()


def test_rejects_bfloat16_scalars(job):
    array = shmem.zeros(2, "bfloat16")
    shmem.put(array, b"\x80\x3f\x00\x40", 0)
    shmem.reduce(array, array, "sum")
    with pytest.raises(TypeError, match="bfloat16"):
        shmem.store(array[0], 1, 0)
    array.free()


@pytest.mark.parametrize("arguments", [{"pe": 0}, {"n_pes": 1}, {"unique_id": bytes(128)}, {"pe": 0, "n_pes": 1}])
def test_rejects_incomplete_bootstrap_arguments(arguments):
    with pytest.raises(ValueError, match="set all three or none"):
        shmem.init(**arguments)
