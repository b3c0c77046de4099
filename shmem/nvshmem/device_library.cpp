// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The functions that NVSHMEM's device library, libnvshmem_device.a, calls. A program that contains it can use the
// functions of the CPU and of streams. Its GPU code reads a state that gdrkit does not have.
#include <nvshmem.h>

#include <cstdio>

namespace {
struct Version {
  int major, minor, patch;
};
/// Stores the addresses of the state in the GPU code.
using InitDevice = int (*)(void** state, void** transport_state);
}  // namespace

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
  if (init_device != nullptr) {
    std::fprintf(stderr,
                 "nvshmem_init: this program contains GPU code of NVSHMEM %d.%d.%d, which does not work with gdrkit; "
                 "compile the GPU code with gdrkit's nvshmem.h\n",
                 version.major, version.minor, version.patch);
  }
  return 0;
}

void nvshmemid_hostlib_finalize(void* /*state*/, void* /*transport_state*/) { nvshmemx_hostlib_finalize(); }

int nvshmemid_init_status() { return nvshmemx_init_status(); }
