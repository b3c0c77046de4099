// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The calling PE's state for GPU kernels that do not get it as a parameter: gdrkit::shmem::state().
//
// Each translation unit that includes this has a copy in constant memory, which gdrkit_shmem_init fills on the PE's
// GPU; no relocatable device code is needed. With several PEs in a process each GPU has its own. Needs the CUDA
// runtime, in the translation unit alone.
//
// A module of the driver API (nvcc -cubin, NVRTC) defines GDRKIT_SHMEM_MODULE before, in one of its sources, and is
// given its copy by gdrkit_shmem_module_init.
#ifndef GDRKIT_SHMEM_STATE_CUH
#define GDRKIT_SHMEM_STATE_CUH

#include <gdrkit/shmem_device.cuh>

#if defined(__CUDACC_RTC__) && !defined(GDRKIT_SHMEM_MODULE)
#define GDRKIT_SHMEM_MODULE
#endif

#if defined(__CUDACC__) && defined(GDRKIT_SHMEM_MODULE)
extern "C" __constant__ gdrkit_shmem_device_state gdrkit_shmem_state;
extern "C" {
__constant__ gdrkit_shmem_device_state gdrkit_shmem_state;
}
namespace gdrkit::shmem {
GDRKIT_SHMEM_FUNCTION const State& state() { return gdrkit_shmem_state; }
}  // namespace gdrkit::shmem

#elif defined(__CUDACC__)
#include <cuda_runtime.h>
#include <gdrkit/detail/shmem_private.h>

namespace gdrkit::shmem {
namespace {

__constant__ gdrkit_shmem_device_state state_of_this_file;

inline int fill_state_of_this_file(const gdrkit_shmem_device_state* state) {
  // By reference: of a pointer, the runtime's C++ overload would take the address of the pointer for the symbol.
  return static_cast<int>(cudaMemcpyToSymbol(state_of_this_file, state, sizeof *state, 0, cudaMemcpyHostToDevice));
}

/// Registered while the file's static objects live.
struct StateOfThisFile {
  StateOfThisFile() { (void)gdrkit_shmem_register_state(&fill_state_of_this_file); }
  ~StateOfThisFile() { (void)gdrkit_shmem_unregister_state(&fill_state_of_this_file); }
};
const StateOfThisFile registered_state_of_this_file;

/// This file's; valid after gdrkit_shmem_init.
GDRKIT_SHMEM_FUNCTION const State& state() { return state_of_this_file; }

}  // namespace
}  // namespace gdrkit::shmem
#endif

#endif
