// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The part of the CUDA driver's ABI that Device speaks (x86-64 Linux, CUDA 11.3 on); a test compares it with cuda.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::platform {

struct CudaMemLocation {
  int type = 0;
  int id = 0;
};
struct CudaMemAllocationProp {
  int type = 0;
  int requested_handle_types = 0;
  CudaMemLocation location;
  void* win32_handle_meta_data = nullptr;
  struct {
    unsigned char compression_type = 0;
    unsigned char gpu_direct_rdma_capable = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};
struct CudaMemAccessDesc {
  CudaMemLocation location;
  int flags = 0;
};

inline constexpr int cuda_mem_allocation_type_pinned = 1;
inline constexpr int cuda_mem_handle_type_posix_fd = 1;
inline constexpr int cuda_mem_location_type_device = 1;
inline constexpr int cuda_mem_access_read_write = 3;
inline constexpr int cuda_mem_granularity_recommended = 1;
inline constexpr unsigned cuda_mem_attach_global = 1;
inline constexpr unsigned cuda_stream_non_blocking = 1;
inline constexpr int cuda_pointer_attribute_sync_memops = 6;
inline constexpr unsigned cuda_event_default = 0;
inline constexpr unsigned cuda_host_register_portable_and_mapped = 3;
inline constexpr int cuda_error_not_ready = 600;
inline constexpr int cuda_error_peer_access_already_enabled = 704;

/// One pointer for each function of cuda_device_calls.def. All return a CUresult. Contexts, streams and device
/// addresses are words.
struct CudaDeviceCalls {
#define GDRKIT_CUDA_CALL(member, symbol, ...) int (*member)(__VA_ARGS__) = nullptr;
#include "platform/device/cuda_device_calls.def"
#undef GDRKIT_CUDA_CALL
};

/// The functions of libcuda, which stays loaded; the error names the library or the missing function.
[[nodiscard]] base::Result<const CudaDeviceCalls*> cuda_device_calls() noexcept;

}  // namespace gdrkit::platform
