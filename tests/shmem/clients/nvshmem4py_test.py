#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""nvshmem4py, unmodified, on gdrkit's libnvshmem_host.so.3 (GDRKIT_NVSHMEM_HOST) and the emulated device.

GDRKIT_CUDA_STUB: the folder of cuda_stub.c's libcuda.so.1, which replaces the driver that cuda.core loads."""
import ctypes
import os
import subprocess
import sys
import time
import unittest

PES = 2


def load():
    """The bindings, with gdrkit's library in the place of NVIDIA's."""
    ctypes.CDLL(os.environ["GDRKIT_NVSHMEM_HOST"], mode=ctypes.RTLD_GLOBAL)
    from nvshmem import bindings  # pylint: disable=import-error,import-outside-toplevel
    return bindings


def why_not():
    if not os.path.exists(os.environ.get("GDRKIT_NVSHMEM_HOST", "")):
        return "GDRKIT_NVSHMEM_HOST is not a file"
    try:
        load()
    except ImportError as error:
        return f"needs nvshmem4py ({error})"
    return None


def initialize(nvshmem, unique_id, rank, ranks):
    attributes = nvshmem.InitAttr()
    nvshmem.set_attr_uniqueid_args(rank, ranks, unique_id.ptr, attributes.ptr)
    nvshmem.hostlib_init_attr(nvshmem.Flags.INIT_WITH_UNIQUEID, attributes.ptr)


def as_pe(rank):
    """A process of the job. PE 0 writes the unique id to standard output, PE 1 reads it from standard input."""
    nvshmem = load()
    unique_id = nvshmem.uniqueid()
    if rank == 0:
        nvshmem.get_uniqueid(unique_id.ptr)
        print(ctypes.string_at(unique_id.ptr, 128).hex(), flush=True)
    else:
        ctypes.memmove(unique_id.ptr, bytes.fromhex(sys.stdin.readline()), 128)
    initialize(nvshmem, unique_id, rank, PES)
    assert (nvshmem.my_pe(), nvshmem.n_pes()) == (rank, PES)
    other = 1 - rank
    data = nvshmem.calloc(64, 4)
    numbers = (ctypes.c_float * 64).from_address(data)  # the emulated device's memory is the CPU's
    numbers[0] = rank + 1
    nvshmem.barrier_all()
    nvshmem.putmem_on_stream(data + 4, data, 4, other, 0)
    nvshmem.float_sum_reduce_on_stream(0, data + 8, data, 1, 0)
    nvshmem.float_fcollect_on_stream(0, data + 16, data, 1, 0)
    nvshmem.barrier_on_stream(0, 0)
    signal = nvshmem.calloc(1, 8)
    nvshmem.putmem_signal_on_stream(data + 32, data, 4, signal, 7, nvshmem.Signal_op.SIGNAL_SET, other, 0)
    nvshmem.signal_wait_until_on_stream(signal, nvshmem.Cmp_type.CMP_EQ, 7, 0)
    nvshmem.barrier_all_on_stream(0)
    nvshmem.signal_op_on_stream(signal, 8, nvshmem.Signal_op.SIGNAL_SET, rank, 0)
    deadline = time.monotonic() + 20
    while nvshmem.signal_fetch(signal) != 8:  # the end of the stream
        assert time.monotonic() < deadline
    assert list(numbers[:6]) == [rank + 1, other + 1, 3, 0, 1, 2], list(numbers[:6])
    assert numbers[8] == other + 1
    assert nvshmem.uint64_atomic_fetch_add(signal, 4, rank) == 8
    config = nvshmem.TeamConfig()
    nvshmem.team_get_config(0, config.ptr)
    team = ctypes.c_int()
    nvshmem.team_split_strided(0, 0, 1, 2, config.ptr, 0, ctypes.addressof(team))
    assert nvshmem.team_translate_pe(team.value, rank, 0) == rank
    nvshmem.team_destroy(team.value)
    nvshmem.free(signal)
    nvshmem.free(data)
    nvshmem.hostlib_finalize()


class Nvshmem4py(unittest.TestCase):
    def test_every_symbol_resolves(self):
        load()
        from nvshmem.bindings._internal import nvshmem as loader  # pylint: disable=import-outside-toplevel
        addresses = loader._inspect_function_pointers()  # pylint: disable=protected-access
        self.assertGreater(len(addresses), 100)
        self.assertEqual([name for name, address in addresses.items() if not address], [])

    def test_struct_sizes_match_the_bindings(self):
        nvshmem = load()
        self.assertEqual((nvshmem.uniqueid()._data.itemsize, nvshmem.InitAttr()._data.itemsize), (128, 144))
        self.assertEqual(nvshmem.TeamConfig()._data.itemsize, 64)

    def test_missing_functions_raise(self):
        nvshmem = load()
        self.assertNotEqual(nvshmem.cumodule_init(0), 0)
        with self.assertRaises(nvshmem.NVSHMEMError):
            initialize(nvshmem, nvshmem.uniqueid(), 0, 0)

    def test_two_processes_connect_by_unique_id(self):
        command = [sys.executable, "-B", __file__, "--pe"]
        with subprocess.Popen([*command, "0"], stdout=subprocess.PIPE) as first:
            with subprocess.Popen([*command, "1"], stdin=first.stdout) as second:
                self.assertEqual((first.wait(60), second.wait(60)), (0, 0))

    def test_python_api_cases_pass(self):
        cases = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nvshmem4py_cases.py")
        environment = {**os.environ, "LD_PRELOAD": os.environ["GDRKIT_NVSHMEM_HOST"],
                       "LD_LIBRARY_PATH": os.environ["GDRKIT_CUDA_STUB"]}
        ended = subprocess.run([sys.executable, "-B", cases, "-n", str(PES), "all"], capture_output=True, text=True,
                               check=False, timeout=100, env=environment)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertGreaterEqual(ended.stdout.count(": ok\n"), 9 * PES, ended.stdout)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--pe"]:
        as_pe(int(sys.argv[2]))
        sys.exit(0)
    REASON = why_not()
    if REASON:
        print(f"skipped: {REASON}")
        sys.exit(77)
    unittest.main()
