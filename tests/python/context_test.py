# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Contexts and buffers: their information, errors with the library's text, forks, and whether the package is whole."""
import errno
import os
import subprocess
import sys
from pathlib import Path

import gdrkit
import pytest


def test_context_reports_its_backend(context):
    info = context.info
    assert info.backend in [report.name for report in gdrkit.backends()]
    assert info.store_kernel in [name for name, usable in gdrkit.copy_kernels() if usable]
    assert info.page_size > 0 and info.is_emulated == (info.backend == "emulated")
    assert info.backend in repr(context)


def test_every_backend_reports_whether_it_can_run():
    reports = gdrkit.backends()
    assert {"rm", "gdrdrv", "emulated"} <= {report.name for report in reports}
    for report in reports:
        assert report.is_usable == (report.reason == "") == (report.errno == 0)


def test_rejects_an_unknown_backend_with_the_library_message():
    with pytest.raises(gdrkit.Error) as caught:
        gdrkit.Context(backend="tape")
    assert caught.value.errno == errno.EINVAL and "tape" in caught.value.strerror
    assert not caught.value.strerror.endswith("Invalid argument"), "errno's text appears once"


def test_context_accepts_a_copy_kernel():
    with gdrkit.Context(copy_kernel="scalar") as context:
        assert context.info.store_kernel == "scalar"


def test_closed_context_raises(context, buffer, mapping):
    context.close()
    assert context.closed and mapping.closed
    for call in (lambda: context.info, lambda: context.allocate(1), lambda: context.map(buffer)):
        with pytest.raises(ValueError, match="closed"):
            call()
    context.close()


def test_the_process_has_one_context_until_it_is_closed():
    first = gdrkit.context()
    assert gdrkit.context() is first
    with gdrkit.map(gdrkit.allocate(4096)) as mapping:
        assert mapping.info.verification in ("interface", "content", "structural", "calibrated")
        assert mapping.info.address > 0 and mapping.info.device_address == mapping.owner.device_address
    first.close()
    assert gdrkit.context() is not first


def test_buffer_reports_its_properties(context):
    buffer = context.allocate(1000)
    assert len(buffer) == buffer.nbytes == 1000 and buffer.device == 0
    assert buffer.__cuda_array_interface__["data"] == (buffer.device_address, False)
    buffer.free()
    buffer.free()
    assert buffer.freed
    for call in (lambda: buffer.nbytes, lambda: buffer.copy_to_host(0, 1), lambda: context.map(buffer)):
        with pytest.raises(ValueError, match="freed"):
            call()


@pytest.mark.parametrize("size, number", [(0, errno.EINVAL), (1 << 60, errno.ENOMEM)])
def test_rejects_invalid_buffers(context, size, number):
    with pytest.raises(gdrkit.Error) as caught:
        context.allocate(size)
    assert caught.value.errno == number


def test_a_buffer_is_a_dlpack_array(context, buffer):
    numpy = pytest.importorskip("numpy")
    if not buffer.is_emulated:
        assert buffer.__dlpack_device__() == (2, 0)
        return
    array = numpy.from_dlpack(buffer)
    buffer.copy_from_host(0, b"shared")
    assert array.shape == (len(buffer),) and bytes(array[:6]) == b"shared"


def test_maps_an_address_and_a_size(context, buffer):
    with context.map_address(buffer.device_address + 100, 50, owner=buffer) as mapping:
        mapping.write(0, b"by address")
        assert mapping.owner is buffer and len(mapping) == 50
    assert buffer.copy_to_host(100, 10) == b"by address"
    with pytest.raises(gdrkit.Error) as caught:
        context.map_address(4096, 50)
    assert caught.value.strerror


def test_forked_child_opens_a_separate_context(context, mapping):
    gdrkit.context()
    context_is_emulated = context.info.is_emulated
    mapping.write(0, b"parent's")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            try:
                mapping.read(0, 8)
            except gdrkit.Error as error:
                status = 2
                if not context_is_emulated:
                    status = 0  # CUDA, which allocates below, does not survive a fork
                elif error.errno in (errno.EACCES, errno.EINVAL):
                    own = gdrkit.map(gdrkit.allocate(4096))
                    own.write(0, b"child's")
                    status = 0 if own.read(0, 7) == b"child's" else 3
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert mapping.read(0, 8) == b"parent's"


def test_a_program_that_ends_with_everything_open_prints_nothing():
    pytest.importorskip("numpy")
    program = ("import gdrkit, numpy, sys\n"
               "class Cycle: pass\n"
               "kept = Cycle(); kept.itself = kept\n"
               "buffer = gdrkit.Context(backend='emulated').allocate(4096)\n"
               "kept.array = numpy.from_dlpack(buffer)\n"
               "kept.mapping = gdrkit.context().map(numpy.from_dlpack(gdrkit.allocate(4096)))\n")
    ended = subprocess.run([sys.executable, "-c", program], env={**os.environ, "GDRKIT_BACKEND": "emulated"}, text=True,
                           capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_versions_match():
    assert gdrkit.__version__.count(".") == 2


def run_mypy(cache, *arguments):
    package = Path(gdrkit.__file__).parent
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), *arguments]
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(package.parent)}, capture_output=True, text=True,
                           timeout=240, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def test_package_exports_its_types(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    assert (Path(gdrkit.__file__).parent / "py.typed").exists()
    code, output = run_mypy(tmp_path / "cache", "-p", "gdrkit")
    assert code == 0, output
    program = tmp_path / "program.py"
    program.write_text("""import gdrkit
from gdrkit import shmem
mapping = gdrkit.map(gdrkit.allocate(4096), engine="cpu")
mapping.write(0, bytearray(8))
data: bytes = mapping.read(0, 8)
view: memoryview = memoryview(mapping)
with mapping.start_read([(0, bytearray(8))]) as copy:
    done: bool = copy.done
array: shmem.SymmetricArray = shmem.zeros((4, 8), "int32")[1:]
mapping.write("0", b"")
mapping.read(0, 8, 9)
mapping.wirte(0, b"")
number: str = mapping.info.page_size
array.put(b"")
""", encoding="utf-8")
    code, output = run_mypy(tmp_path / "cache", str(program))
    wrong = sorted({int(line.split(":")[1]) for line in output.splitlines() if ": error: " in line})
    assert code == 1 and wrong == [10, 11, 12, 13, 14], output


def test_benchmark_rejects_an_unknown_option():
    ended = subprocess.run([sys.executable, "-m", "gdrkit.bench", "--rounds", "3"], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2 and "--rounds" in ended.stderr
