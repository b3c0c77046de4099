#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""nvshmem4py, unmodified, on gdrkit's libnvshmem_host.so.3 (GDRKIT_NVSHMEM_HOST) and the emulated device.

GDRKIT_CUDA_STUB: the directory of cuda_stub.c's libcuda.so.1, which replaces the driver that cuda.core loads."""
import ctypes
import os
import subprocess
import sys
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
        attributes, unique_id = nvshmem.InitAttr(), nvshmem.uniqueid()
        nvshmem.set_attr_uniqueid_args(0, 0, unique_id.ptr, attributes.ptr)
        with self.assertRaises(nvshmem.NVSHMEMError):
            nvshmem.hostlib_init_attr(nvshmem.Flags.INIT_WITH_UNIQUEID, attributes.ptr)

    def test_python_api_cases_pass(self):
        cases = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nvshmem4py_cases.py")
        environment = {**os.environ, "LD_PRELOAD": os.environ["GDRKIT_NVSHMEM_HOST"],
                       "LD_LIBRARY_PATH": os.environ["GDRKIT_CUDA_STUB"]}
        ended = subprocess.run([sys.executable, "-B", cases, "-n", str(PES), "all"], capture_output=True, text=True,
                               check=False, timeout=100, env=environment)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertGreaterEqual(ended.stdout.count(": ok\n"), 9 * PES, ended.stdout)


if __name__ == "__main__":
    REASON = why_not()
    if REASON:
        print(f"skipped: {REASON}")
        sys.exit(77)
    unittest.main()
