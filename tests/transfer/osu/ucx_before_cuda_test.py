#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""UCX hooks CUDA's functions before CUDA is initialized, wherever UCX will be used. The test uses a fake libcuda.so.1."""
import ctypes.util
import os
import unittest

from program import BIN, HAS_GPU, Test, main, run

TESTS = os.path.join(BIN, "..", "tests")
RECORDING_UCX = os.path.join(TESTS, "bin", "librecording_ucx.so")
INIT = os.path.join(TESTS, "bin", "shmem_init")


@unittest.skipIf(HAS_GPU, "the machine has a GPU, which this test's libcuda.so.1 would hide")
@unittest.skipUnless(ctypes.util.find_library("ucp"), "no UCX (libucx0)")
class UcxBeforeCuda(Test):
    def states(self, *words, **environment):
        """For each process that requested hooks from UCX, the state of CUDA at its first request."""
        record = self.write("record", "")
        ended = run("gdrkit", *words, environment={
            "GDRKIT_UCX_LIBRARY": RECORDING_UCX, "LD_LIBRARY_PATH": os.path.join(TESTS, "stand_in_cuda"),
            "RECORDED_UCX_HOOKS": record, **environment})
        states = {}
        for line in self.read(record).splitlines():
            process, state = line.split(maxsplit=1)
            states.setdefault(process, state)
        return ended, list(states.values())

    def assert_hooked_before_cuda(self, ended, states):
        """The job ends if CUDA has no device: when the first PE ends, before or after the other PE has searched for a device."""
        self.assert_failed(ended, 77, "cannot use a GPU: no GPU was found (CUDA finds no device)")
        self.assertIn(states, (["not loaded"], ["not loaded"] * 2))

    def test_osu_loads_ucx_before_cuda(self):
        ended, states = self.states("run", "-n", "2", "--", f"{BIN}/gdrkit", "osu", "latency", "-m", "8:8", "-i", "5",
                                    EMULATED_CUDA_HAS_NO_DEVICE="1")
        self.assert_hooked_before_cuda(ended, states)

    def test_shmem_programs_load_ucx_before_cuda(self):
        command = ("run", "-n", "2", "--", f"{BIN}/gdrkit", "shmem", "info")
        ended, states = self.states(*command, EMULATED_CUDA_HAS_NO_DEVICE="1", GDRKIT_SHMEM_DISABLE_P2P="1")
        self.assert_hooked_before_cuda(ended, states)
        ended, states = self.states(*command, EMULATED_CUDA_HAS_NO_DEVICE="1")
        self.assertEqual((ended.code, states), (77, []), "UCX was loaded for PEs of one machine")

    def test_library_loads_ucx_before_cuda(self):
        _, states = self.states("run", "-n", "2", "--", INIT, GDRKIT_SHMEM_DISABLE_P2P="1")
        self.assertEqual(states, ["not loaded"] * 2)
        _, states = self.states("run", "-n", "2", "--", INIT)
        self.assertEqual(states, [], "UCX was loaded for PEs of one machine")


if __name__ == "__main__":
    main()
