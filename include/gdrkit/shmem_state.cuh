// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief gdrkit shmem for GPU kernels: gdrkit::shmem::state(), the state of the PE without an argument.
#ifndef GDRKIT_SHMEM_STATE_CUH
#define GDRKIT_SHMEM_STATE_CUH

#include <gdrkit/shmem_device.cuh>

/// @defgroup shmem_device_state State without an argument
/// @ingroup shmem_device
/// @brief The state of the PE for GPU kernels that do not take it as an argument.
///
/// Each translation unit that includes gdrkit/shmem_state.cuh has a copy of the state in constant memory.
/// gdrkit_shmem_init() fills it on the PE's GPU; with several PEs in a process, each GPU has its own copy. The
/// header requires the CUDA runtime in that translation unit. It does not require relocatable device code.
///
/// In a module of the driver API (nvcc -cubin, NVRTC), define GDRKIT_SHMEM_MODULE in one source before including the
/// header, and call gdrkit_shmem_module_init().
///
/// @code{.cu}
/// #include <gdrkit/shmem_state.cuh>
///
/// __global__ void store_own_number(int* target, int pe) {
///   const auto& state = gdrkit::shmem::state();
///   gdrkit::shmem::p(state, target, state.pe, pe);
/// }
/// @endcode
/// @{

#if defined(__CUDACC_RTC__) && !defined(GDRKIT_SHMEM_MODULE)
#define GDRKIT_SHMEM_MODULE
#endif

#if defined(__CUDACC__) && defined(GDRKIT_SHMEM_MODULE)
/// @brief The module's copy of the state, which gdrkit_shmem_module_init() finds by its name.
extern "C" __constant__ gdrkit_shmem_device_state gdrkit_shmem_state;
extern "C" {
__constant__ gdrkit_shmem_device_state gdrkit_shmem_state;
}
namespace gdrkit::shmem {
/// @brief Returns the state of the PE. Valid after gdrkit_shmem_module_init().
/// @return The state.
GDRKIT_SHMEM_FUNCTION const State& state() { return gdrkit_shmem_state; }
}  // namespace gdrkit::shmem

#elif defined(__CUDACC__)
#include <cuda_runtime.h>
#include <gdrkit/detail/shmem_private.h>

namespace gdrkit::shmem {
namespace {

__constant__ gdrkit_shmem_device_state state_of_this_file;

inline int fill_state_of_this_file(const gdrkit_shmem_device_state* state) {
  // Pass the variable, not a pointer: the runtime's C++ overload takes the address of its argument as the symbol.
  return static_cast<int>(cudaMemcpyToSymbol(state_of_this_file, state, sizeof *state, 0, cudaMemcpyHostToDevice));
}

/// Registers the copy for the lifetime of the translation unit's static objects.
struct StateOfThisFile {
  StateOfThisFile() { (void)gdrkit_shmem_register_state(&fill_state_of_this_file); }
  ~StateOfThisFile() { (void)gdrkit_shmem_unregister_state(&fill_state_of_this_file); }
};
const StateOfThisFile registered_state_of_this_file;

/// @brief Returns this translation unit's copy of the state. Valid after gdrkit_shmem_init().
/// @return The state.
GDRKIT_SHMEM_FUNCTION const State& state() { return state_of_this_file; }

}  // namespace
}  // namespace gdrkit::shmem
#endif

/// @}

#endif
