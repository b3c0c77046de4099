// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The functions that NVSHMEM's device library, libnvshmem_device.a, calls. It passes a function that returns the
// address of the state that its GPU code reads.
#include <nvshmem.h>

#include "shmem/nvshmem/device_states.hpp"

using gdrkit::shmem_impl::nvshmem::DeviceStates;
using gdrkit::shmem_impl::nvshmem::Version;
using InitDevice = DeviceStates::Locate;

#pragma GCC visibility push(default)
extern "C" {
/// 0: a proxy thread of the CPU.
int nvshmem_selected_device_transport = 0;
int nvshmemid_hostlib_init_attr(int requested, int* provided, unsigned flags, nvshmemx_init_attr_t* attributes,
                                Version version, InitDevice init_device);
void nvshmemid_hostlib_finalize(void* state, void* transport_state);
int nvshmemid_init_status();
}
#pragma GCC visibility pop

int nvshmemid_hostlib_init_attr(int /*requested*/, int* provided, unsigned flags, nvshmemx_init_attr_t* attributes,
                                Version version, InitDevice init_device) {
  const int result = nvshmemx_hostlib_init_attr(flags, attributes);
  if (result != 0) return result;
  if (provided != nullptr) nvshmem_query_thread(provided);
  // Programs that use only the functions of the CPU and of streams also work without the state.
  if (init_device != nullptr) (void)DeviceStates::of_process().fill(version, init_device);
  return 0;
}

void nvshmemid_hostlib_finalize(void* /*state*/, void* /*transport_state*/) {
  nvshmem_finalize();
  DeviceStates::of_process().forget_ended_pe();
}

int nvshmemid_init_status() { return nvshmemx_init_status(); }
