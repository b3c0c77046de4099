// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The seam for the CUDA driver API: the few calls made for pins and buffers, replaceable by fakes and recorders.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"

namespace gdrkit::driver {

/// One cuPointerGetAttributes call. Fields the driver does not know for this pointer stay 0.
struct PointerAttributes {
  std::uint64_t context = 0;
  std::uint32_t memory_type = 0;  ///< CU_MEMORYTYPE_*: 0 unknown to CUDA, 1 host, 2 device, 3 array, 4 unified
  std::uint32_t is_managed = 0;
  std::int32_t device_ordinal = -1;
  std::uint64_t range_start = 0;
  std::uint64_t range_size = 0;
  std::uint64_t mapping_base = 0;
  std::uint64_t mapping_size = 0;
  std::uint64_t buffer_id = 0;
  std::uint64_t allowed_handle_types = 0;
  std::uint32_t is_legacy_ipc_capable = 0;
};

/// One EXPORT_TO_DMABUF_FD ioctl seen while libcuda exported a range: the request word and the argument's bytes as
/// they were after the call. The bytes are the driver's; decode them before believing them.
struct ObservedIoctl {
  unsigned long request = 0;
  int result = 0;  ///< 0 or negative errno
  std::vector<std::uint8_t> argument;
};

struct ObservedExport {
  int dmabuf_fd = -1;  ///< owned by the caller
  base::Status hook;   ///< why the ioctls were not observed, where they were not
  std::vector<ObservedIoctl> ioctls;
};

using CudaUuid = std::array<std::uint8_t, 16>;
using CudaIpcHandle = std::array<std::uint8_t, 64>;

/// Every call returns the CUresult (0 success) and sets outputs only then, except where said. Nothing here may
/// synchronise a device, except where said. Thread safe as the driver is. Handles of contexts, streams and allocations
/// are opaque words.
class Cuda {
 public:
  static constexpr int not_supported = 801;
  virtual ~Cuda() = default;

  virtual int driver_get_version(int* version) noexcept = 0;
  virtual int pointer_get_attributes(std::uint64_t address, PointerAttributes* attributes) noexcept = 0;
  virtual int device_get_attribute(int ordinal, int attribute, int* value) noexcept = 0;
  virtual int device_get_pci_bus_id(int ordinal, char* text, int capacity) noexcept = 0;
  virtual int device_get_uuid(int ordinal, CudaUuid* uuid) noexcept = 0;

  virtual int ctx_get_current(std::uint64_t* context) noexcept = 0;
  virtual int ctx_push_current(std::uint64_t context) noexcept = 0;
  virtual int ctx_pop_current() noexcept = 0;
  virtual int primary_ctx_is_active(int ordinal, int* active) noexcept = 0;
  virtual int primary_ctx_retain(int ordinal, std::uint64_t* context) noexcept = 0;
  virtual int primary_ctx_release(int ordinal) noexcept = 0;
  /// cuThreadExchangeStreamCaptureMode: swaps *mode with the thread's.
  virtual int exchange_stream_capture_mode(int* mode) noexcept = 0;

  /// cuMemGetHandleForAddressRange(DMA_BUF_FD) while the ioctls it issues are observed. `observed` is filled with
  /// what was seen even when the call fails; dmabuf_fd only on success.
  virtual int export_dmabuf(std::uint64_t address, std::size_t size, std::uint64_t flags,
                            ObservedExport* observed) noexcept = 0;
  virtual int mem_retain_allocation_handle(std::uint64_t address, std::uint64_t* handle) noexcept = 0;
  virtual int mem_release(std::uint64_t handle) noexcept = 0;
  virtual int mem_export_to_fd(std::uint64_t handle, int* fd) noexcept = 0;
  virtual int ipc_get_mem_handle(std::uint64_t address, CudaIpcHandle* handle) noexcept = 0;

  virtual int stream_create_non_blocking(std::uint64_t* stream) noexcept = 0;
  virtual int stream_destroy(std::uint64_t stream) noexcept = 0;
  virtual int stream_synchronize(std::uint64_t stream) noexcept = 0;
  /// Gathers `rows` pieces of `width` bytes, `pitch` bytes apart in device memory (pitch >= width, at most 2^31 - 1),
  /// packed into pageable host memory.
  virtual int gather_dtoh_async(void* target, std::uint64_t source, std::size_t pitch, std::size_t width,
                                std::size_t rows, std::uint64_t stream) noexcept = 0;
  virtual int memcpy_htod_async(std::uint64_t target, const void* source, std::size_t size,
                                std::uint64_t stream) noexcept = 0;
  virtual int mem_alloc_async(std::uint64_t* address, std::size_t size, std::uint64_t stream) noexcept = 0;
  virtual int mem_free_async(std::uint64_t address, std::uint64_t stream) noexcept = 0;

  /// At which address the CPU may use that byte of device memory; 0: at none. Asked for where the link to the GPU is
  /// coherent alone: of other memory drivers may answer with an error.
  virtual int pointer_get_host_address(std::uint64_t /*address*/, std::uint64_t* /*host*/) noexcept {
    return not_supported;
  }
  /// cuMemGetAccess: whether that device may access the memory at `address`. Fails for memory that cuMemCreate did not
  /// make. What stands in for the driver in a test need not know it.
  virtual int mem_get_access(std::uint64_t /*address*/, int /*ordinal*/, bool* /*has_access*/) noexcept {
    return not_supported;
  }

  // Made for buffers of the library's own, never while pinning. What stands in for the driver in a test of pins need
  // not know them: CUDA_ERROR_NOT_SUPPORTED.
  virtual int init() noexcept { return not_supported; }
  /// In the current context, by cuMemAlloc.
  virtual int mem_alloc(std::uint64_t* /*address*/, std::size_t /*size*/) noexcept { return not_supported; }
  virtual int mem_free(std::uint64_t /*address*/) noexcept { return not_supported; }  ///< synchronises the device
  virtual int memcpy_dtoh_async(void* /*target*/, std::uint64_t /*source*/, std::size_t /*size*/,
                                std::uint64_t /*stream*/) noexcept {
    return not_supported;
  }
};

/// Loads libcuda.so.1 (initialises nothing, creates no context) and resolves the calls above; an error names
/// the library or the missing symbol. Lives for the whole process once loaded.
[[nodiscard]] base::Result<Cuda*> real_cuda() noexcept;

/// "CUDA_ERROR_INVALID_VALUE" and the like; a number's text for codes the table does not know.
[[nodiscard]] const char* cuda_result_name(int result) noexcept;
/// 801 NOT_SUPPORTED -> EOPNOTSUPP, 2 OUT_OF_MEMORY -> ENOMEM, 1 INVALID_VALUE -> EINVAL, 100/101 -> ENODEV,
/// 3 NOT_INITIALIZED -> EINVAL, else EIO.
[[nodiscard]] int cuda_result_errno(int result) noexcept;
/// The error of a call that returned `result`: printf's text, ": ", the result's name; its errno; the vendor code.
[[gnu::format(printf, 2, 3)]] tl::unexpected<base::Error> cuda_failure(int result, const char* format, ...) noexcept;

}  // namespace gdrkit::driver
