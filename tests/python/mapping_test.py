# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Mappings: bytes, segments, started copies, views, lifetimes. The oracle is the driver's own copy (Buffer)."""
import errno
import gc
import threading
import weakref

import gdrkit
import pytest
from conftest import USES_GPU

# The emulated device has no GPU that copies.
ENGINES = [None, "cpu", "automatic", *(["lanes", "copy_engine", "mover"] if USES_GPU else [])]


def pattern(size, seed=1):
    return bytes((i * 131 + seed * 17) % 251 for i in range(size))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", [0, 1, 8, 100, 4096, 70_001])
def test_write_changes_the_device_memory(context, buffer, engine, size):
    data = pattern(size)
    with context.map(buffer, engine=engine) as mapping:
        buffer.copy_from_host(0, bytes(len(buffer)))
        mapping.write(3, data)
        assert buffer.copy_to_host(0, size + 16) == bytes(3) + data + bytes(13)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", [0, 1, 8, 100, 4096, 70_001])
def test_read_returns_the_device_memory(context, buffer, engine, size):
    data = pattern(size, 2)
    with context.map(buffer, engine=engine) as mapping:
        buffer.copy_from_host(5, data)
        assert mapping.read(5, size) == data
        target = bytearray(size)
        mapping.read_into(5, target)
        assert target == data


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_write_accepts_the_buffer_protocol(mapping, buffer, kind):
    mapping.write(8, kind(b"01234567"))
    assert buffer.copy_to_host(8, 8) == b"01234567"


def test_read_into_rejects_read_only_memory(mapping):
    with pytest.raises(BufferError):
        mapping.read_into(0, b"12345678")


@pytest.mark.parametrize("call", [
    lambda mapping: mapping.write(len(mapping) - 3, b"1234"),
    lambda mapping: mapping.read(len(mapping) - 3, 4),
    lambda mapping: mapping.read(0, 1 << 62),
    lambda mapping: mapping.read_into(len(mapping) - 3, bytearray(4)),
    lambda mapping: mapping.write_segments([(0, b"right"), (len(mapping), b"wrong")]),
    lambda mapping: mapping.load_flag(len(mapping)),
    lambda mapping: mapping.store_flag(len(mapping), 1),
])
def test_rejects_a_range_past_the_end_with_its_numbers(mapping, buffer, call):
    before = buffer.copy_to_host(0, len(buffer))
    with pytest.raises(gdrkit.Error) as caught:
        call(mapping)
    assert caught.value.errno == errno.EINVAL
    assert isinstance(caught.value, OSError)
    assert str(len(mapping)) in caught.value.strerror, "the text has the size of the mapping"
    assert buffer.copy_to_host(0, len(buffer)) == before


@pytest.mark.parametrize("call", [
    lambda mapping: mapping.write(-8, b"12345678"),
    lambda mapping: mapping.read(-8, 8),
    lambda mapping: mapping.store_flag(-8, 1),
])
def test_rejects_a_negative_offset(mapping, call):
    with pytest.raises(ValueError, match="negative"):
        call(mapping)


def test_writes_and_reads_segments(mapping, buffer):
    pieces = [(i * 5000, pattern(1000 + i, i)) for i in range(10)]
    mapping.write_segments(pieces)
    for offset, data in pieces:
        assert buffer.copy_to_host(offset, len(data)) == data
    targets = [(offset, bytearray(len(data))) for offset, data in pieces]
    mapping.read_segments(targets)
    assert [bytes(target) for _, target in targets] == [data for _, data in pieces]


@pytest.mark.parametrize("wrong", [[(0,)], [(0, b"", 1)], [5], [(0, "text")], [("0", b"")]])
def test_rejects_segments_of_another_shape(mapping, wrong):
    with pytest.raises((TypeError, RuntimeError)):
        mapping.write_segments(wrong)


@pytest.mark.parametrize("engine", ENGINES)
def test_started_copies_are_complete_when_finished(context, buffer, engine):
    with context.map(buffer, engine=engine) as mapping:
        data = pattern(100_000)
        with mapping.start_write([(0, data[:50_000]), (50_000, data[50_000:])]) as copy:
            pass
        assert copy.done
        copy.finish()  # a finished copy stays finished
        assert buffer.copy_to_host(0, len(data)) == data
        target = bytearray(len(data))
        started = mapping.start_read([(0, target)])
        started.finish()
        assert target == data


def test_started_copy_keeps_mapping_and_memory_alive(mapping):
    target = bytearray(1000)
    copy = mapping.start_read([(0, target)])
    with pytest.raises(BufferError, match="still use the mapping"):
        mapping.close()
    with pytest.raises(BufferError):
        target.extend(b"more")  # would move it
    copy.finish()
    target.extend(b"more")
    mapping.close()


def test_completes_a_deleted_copy(mapping, buffer):
    mapping.start_write([(0, b"dropped!")])
    gc.collect()
    assert buffer.copy_to_host(0, 8) == b"dropped!"
    mapping.close()


def test_rejects_host_memory(context):
    numpy = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="cannot map ndarray: the array is in host memory"):
        context.map(numpy.zeros(100))


def test_a_memoryview_shows_the_device_memory(mapping, buffer):
    buffer.copy_from_host(100, b"seen")
    with mapping.view() as view:
        assert view.nbytes == len(mapping) and not view.readonly
        assert bytes(view[100:104]) == b"seen"
        view[200:205] = b"there"
        mapping.flush()
    assert buffer.copy_to_host(200, 5) == b"there"


def test_memoryview_keeps_mapping_and_context_open(context, mapping):
    view = memoryview(mapping)
    with pytest.raises(BufferError, match=r"memoryviews, copies or calls still use the mapping \(number of uses: 1\)"):
        mapping.close()
    with pytest.raises(BufferError, match=r"memoryviews, copies or calls still use mappings of the context \(number of uses: 1\)"):
        context.close()
    view[:4] = b"fine"
    view.release()
    mapping.close()
    assert mapping.closed


def test_memoryview_outlives_all_references_to_the_mapping(context, buffer):
    view = memoryview(context.map(buffer))
    gc.collect()
    view[:4] = b"live"
    assert buffer.copy_to_host(0, 4) == b"live"
    view.release()


def test_numpy_array_has_the_mapped_type_and_shape(context, buffer, mapping):
    numpy = pytest.importorskip("numpy")
    array = mapping.numpy("float32")
    array[:3] = (1, 2, 3.5)
    mapping.flush()
    assert buffer.copy_to_host(0, 12) == numpy.array([1, 2, 3.5], "float32").tobytes()
    del array
    if not buffer.is_emulated:
        return  # the rest takes the device memory for an array of NumPy's
    matrix = numpy.from_dlpack(buffer)[:48].view("int32").reshape(3, 4)
    with context.map(matrix) as small:
        assert small.nbytes == 48 and small.shape == (3, 4) and small.dtype == "int32"
        view = small.numpy()
        assert view.shape == (3, 4) and view.dtype == numpy.int32
        assert (view == matrix).all()
        del view


def test_a_flag_follows_stores_through_a_view(mapping, buffer):
    with mapping.view() as view:
        view[0:8] = b"announce"
        mapping.store_flag(64, 1)
    assert buffer.copy_to_host(0, 8) == b"announce"


@pytest.mark.parametrize("use", [
    lambda mapping: mapping.write(0, b"1"),
    lambda mapping: mapping.read(0, 1),
    lambda mapping: mapping.read_into(0, bytearray(1)),
    lambda mapping: mapping.store_flag(0, 1),
    lambda mapping: mapping.load_flag(0),
    lambda mapping: mapping.wait_flag(0, 1, timeout=1),
    lambda mapping: mapping.write_segments([(0, b"1")]),
    lambda mapping: mapping.start_read([(0, bytearray(1))]),
    lambda mapping: mapping.is_invalidated(),
    lambda mapping: mapping.info,
    memoryview,
])
@pytest.mark.parametrize("closer", ["mapping", "context"])
def test_use_after_close_raises(context, mapping, use, closer):
    {"mapping": mapping, "context": context}[closer].close()
    assert mapping.closed
    with pytest.raises((ValueError, BufferError), match="closed"):
        use(mapping)
    mapping.close()  # a second close succeeds


class Array:
    """Another framework's, by __cuda_array_interface__; a class so that it can be watched."""

    def __init__(self, buffer, **more):
        self.memory = buffer
        self.__cuda_array_interface__ = {**buffer.__cuda_array_interface__, **more}


def test_mapping_keeps_its_source_alive(context, buffer):
    array = Array(buffer)
    watch = weakref.ref(array)
    mapping = context.map(array)
    del array
    gc.collect()
    assert watch() is mapping.owner
    mapping.close()
    gc.collect()
    assert watch() is None and mapping.owner is None


def test_a_cycle_of_array_and_mapping_is_collected(context, buffer):
    array = Array(buffer)
    array.mapping = context.map(array)
    watch = weakref.ref(array)
    del array
    gc.collect()
    assert watch() is None


def test_the_buffer_lives_as_long_as_its_mapping(context):
    mapping = context.map(context.allocate(4096))
    gc.collect()
    mapping.write(0, b"still there")
    assert mapping.owner.copy_to_host(0, 11) == b"still there"


@pytest.mark.parametrize("more, error, text", [
    ({"strides": (2,)}, ValueError, "contiguous"),
    ({"shape": (0,)}, ValueError, "empty"),
    ({"mask": object()}, TypeError, "it has a mask"),
])
def test_rejects_arrays_that_cannot_be_mapped(context, buffer, more, error, text):
    with pytest.raises(error, match=text):
        context.map(Array(buffer, **more))


@pytest.mark.parametrize("typestr, dtype, itemsize", [
    ("<f4", "float32", 4), ("<i8", "int64", 8), ("|b1", "bool", 1), ("<c16", "complex128", 16), ("<f2", "float16", 2),
    ("<V2", None, 2)])
def test_converts_type_strings_to_type_names(context, buffer, typestr, dtype, itemsize):
    with context.map(Array(buffer, typestr=typestr, shape=(2, 5), strides=(5 * itemsize, itemsize))) as mapping:
        assert mapping.dtype == dtype and mapping.shape == (2, 5) and mapping.nbytes == 10 * itemsize


class FrameworksType:
    """Has only a text, as PyTorch's types do."""

    def __init__(self, name):
        self.text = f"framework.{name}"

    def __repr__(self):
        return self.text


@pytest.mark.parametrize("typestr, own, dtype", [
    ("<V2", "bfloat16", "bfloat16"), ("<f2", "bfloat16", "bfloat16"),  # PyTorch's, later and in 2.5
    ("<f4", "float32", "float32"), ("|b1", "bool", "bool"),
    ("<c16", "complex128", "complex128"), ("<V8", "void64", None), ("|u1", "float32", "uint8")])
def test_prefers_the_type_name_of_the_array(context, buffer, typestr, own, dtype):
    array = Array(buffer, typestr=typestr, shape=(10,))
    for array.dtype in (FrameworksType(own), own):
        with context.map(array) as mapping:
            assert (mapping.dtype, mapping.nbytes) == (dtype, 10 * int(typestr[2:]))


def test_reports_a_type_missing_in_numpy(context, buffer):
    pytest.importorskip("numpy")
    array = Array(buffer, typestr="<V2", shape=(10,))
    array.dtype = FrameworksType("bfloat16")
    with context.map(array) as mapping:
        with pytest.raises(TypeError, match="type bfloat16; pass dtype"):
            mapping.numpy()
        assert mapping.numpy("uint16").shape == (10,)


class Exporter:
    """By DLPack alone, from a GPU; records the request."""

    def __init__(self, buffer):
        self.memory = buffer
        self.requested = {}

    def __dlpack__(self, **arguments):
        self.requested = arguments
        return self.memory.__dlpack__()

    def __dlpack_device__(self):
        return 2, 0


def test_requests_no_stream_synchronization_from_the_exporter(context, buffer):
    exporter = Exporter(buffer)
    with context.map(exporter) as mapping:
        assert exporter.requested["stream"] == -1 and mapping.nbytes == len(buffer) and not mapping.readonly
    jaxs = type("ArrayImpl", (Exporter,), {"__module__": "jaxlib._jax"})(buffer)
    with context.map(jaxs) as mapping:
        assert "stream" not in jaxs.requested and mapping.nbytes == len(buffer) and mapping.readonly


def test_does_not_write_a_read_only_array(context, buffer):
    array = Array(buffer, data=(buffer.device_address, True))
    with context.map(array) as mapping:
        assert mapping.readonly and memoryview(mapping).readonly
        for call in (lambda: mapping.write(0, b"1"), lambda: mapping.store_flag(0, 1),
                     lambda: mapping.write_segments([(0, b"1")]), lambda: mapping.start_write([(0, b"1")])):
            with pytest.raises(TypeError, match="read-only"):
                call()
    with context.map(array, readonly=False) as mapping:
        mapping.write(0, b"anyway")
    assert buffer.copy_to_host(0, 6) == b"anyway"


def test_rejects_objects_that_are_not_arrays(context):
    with pytest.raises(TypeError, match="cannot map list"):
        context.map([1, 2, 3])


def test_rejects_an_unknown_engine(context, buffer):
    with pytest.raises(gdrkit.Error, match="fastest") as caught:
        context.map(buffer, engine="fastest")
    assert caught.value.errno == errno.EINVAL
    with pytest.raises(ValueError, match="sideways"):
        context.map(buffer, mapping_type="sideways")


def test_threads_copy_concurrently(context):
    """Each has a part of its own; large copies and waits run without the GIL."""
    part, rounds = 64 * 1024, 20
    buffer = context.allocate(4 * part)
    mapping = context.map(buffer)
    wrong = []

    def work(number):
        for turn in range(rounds):
            data = pattern(part, number * rounds + turn)
            mapping.write(number * part, data)
            if mapping.read(number * part, part) != data:
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    mapping.close()
