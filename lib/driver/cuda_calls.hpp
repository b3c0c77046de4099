// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The table of CUDA driver functions, and the part of the driver's ABI that they use (x86-64 Linux, CUDA 11.4 and
// later). Declared here so that the build does not require a CUDA toolkit. A test compares both with cuda.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::driver {

struct ObservedExport;

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

/// CUDA_MEMCPY2D_v2.
struct CudaMemcpy2d {
  std::size_t source_x, source_y;
  int source_type;
  const void* source_host;
  std::uint64_t source_device;
  void* source_array;
  std::size_t source_pitch;
  std::size_t target_x, target_y;
  int target_type;
  void* target_host;
  std::uint64_t target_device;
  void* target_array;
  std::size_t target_pitch;
  std::size_t width, height;
};

inline constexpr int cuda_memory_type_host = 1;
inline constexpr int cuda_memory_type_device = 2;
inline constexpr int cuda_mem_allocation_type_pinned = 1;
inline constexpr int cuda_mem_handle_type_posix_fd = 1;
inline constexpr int cuda_mem_range_handle_type_dmabuf_fd = 1;
inline constexpr int cuda_mem_location_type_device = 1;
inline constexpr int cuda_mem_access_read = 1;
inline constexpr int cuda_mem_access_read_write = 3;
inline constexpr int cuda_mem_granularity_recommended = 1;
inline constexpr unsigned cuda_mem_attach_global = 1;
inline constexpr unsigned cuda_stream_non_blocking = 1;
inline constexpr int cuda_pointer_attribute_memory_type = 2;
inline constexpr int cuda_pointer_attribute_sync_memops = 6;
inline constexpr int cuda_pointer_attribute_device_ordinal = 9;
inline constexpr unsigned cuda_event_default = 0;
inline constexpr unsigned cuda_host_register_portable_and_mapped = 3;
inline constexpr int cuda_error_not_supported = 801;
inline constexpr int cuda_error_not_ready = 600;
inline constexpr int cuda_error_peer_access_already_enabled = 704;

/// One pointer for each function of cuda_calls.def. All return a CUresult. Contexts, streams and device addresses are
/// machine words. A fake of the driver, or a wrapper around it, is another table.
struct CudaCalls {
#define GDRKIT_CUDA_CALL(member, symbol, ...) int (*member)(__VA_ARGS__) = nullptr;
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL
  /// Calls cuMemGetHandleForAddressRange(DMA_BUF_FD) and observes the ioctls that it issues. Fills `observed` even if
  /// the call fails, but its dmabuf_fd only on success.
  int (*export_dmabuf)(std::uint64_t address, std::size_t size, unsigned long long flags,
                       ObservedExport* observed) = nullptr;
};

/// The functions of libcuda, which stays loaded. Does not initialize CUDA or create a context. The error names the
/// library or the missing function. Thread safe. Failures are not cached, so a later call may succeed.
[[nodiscard]] base::Result<const CudaCalls*> cuda_calls() noexcept;

/// The dlopen handle of libcuda. Loading does not initialize CUDA or create a context. ENOENT: the library cannot be
/// loaded; the text quotes the loader. Thread safe. Failures are not cached, so a later call may succeed.
[[nodiscard]] base::Result<void*> cuda_library() noexcept;

/// The address of the exported function with this exact name ("cuMemAlloc_v2"). ENOSYS: this driver lacks it.
[[nodiscard]] base::Result<void*> cuda_symbol(const char* name) noexcept;

}  // namespace gdrkit::driver
