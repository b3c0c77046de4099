// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Helpers that call the table of CUDA driver functions, and the errors of those functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "driver/cuda_calls.hpp"

namespace gdrkit::driver {

/// The result of one cuPointerGetAttributes call. Fields that the driver does not support for this pointer stay 0.
struct PointerAttributes {
  void* context = nullptr;        ///< nullptr: the memory belongs to no context
  std::uint32_t memory_type = 0;  ///< CU_MEMORYTYPE_*: 0 not CUDA memory, 1 host, 2 device, 3 array, 4 unified
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

/// One EXPORT_TO_DMABUF_FD ioctl that libcuda issued while it exported a range: the request word and the argument's
/// bytes after the call. The driver filled the bytes, so validate what you decode.
struct ObservedIoctl {
  unsigned long request = 0;
  int result = 0;  ///< 0 or negative errno
  std::vector<std::uint8_t> argument;
};

struct ObservedExport {
  int dmabuf_fd = -1;  ///< owned by the caller
  base::Status hook;   ///< an error if the ioctls could not be observed
  std::vector<ObservedIoctl> ioctls;
};

using CudaUuid = std::array<std::uint8_t, 16>;
using CudaIpcHandle = std::array<std::uint8_t, 64>;

// Helpers for operations that take several calls or a composed argument. Each returns the CUresult (0: success) and
// sets outputs on success only. None synchronizes a device.

int pointer_attributes(const CudaCalls& calls, std::uint64_t address, PointerAttributes* attributes) noexcept;
/// Stores the address at which the CPU can access that byte of device memory, or 0 if it cannot. Call it only if the
/// link to the GPU is coherent: drivers may return an error for other memory.
int pointer_host_address(const CudaCalls& calls, std::uint64_t address, std::uint64_t* host) noexcept;
int device_attribute(const CudaCalls& calls, int ordinal, int attribute, int* value) noexcept;
int device_pci_bus_id(const CudaCalls& calls, int ordinal, char* text, int capacity) noexcept;
int device_uuid(const CudaCalls& calls, int ordinal, CudaUuid* uuid) noexcept;
int primary_ctx_is_active(const CudaCalls& calls, int ordinal, int* active) noexcept;
/// Gathers `rows` pieces of `width` bytes, which lie `pitch` bytes apart in device memory (pitch >= width, at most
/// 2^31 - 1), into contiguous pageable host memory.
int gather_async(const CudaCalls& calls, void* target, std::uint64_t source, std::size_t pitch, std::size_t width,
                 std::size_t rows, void* stream) noexcept;
/// The implementation of CudaCalls::export_dmabuf for libcuda.
int export_dmabuf_observed(std::uint64_t address, std::size_t size, unsigned long long flags,
                           ObservedExport* observed) noexcept;

/// Whether the device has all of `access` (cuda_mem_access_*) to memory of cuMemCreate. Empty for other memory, and if
/// CUDA cannot determine it.
[[nodiscard]] std::optional<bool> has_access(const CudaCalls& calls, std::uint64_t address, int ordinal,
                                             int access) noexcept;
/// Returns the device that should access memory without a CUDA context, such as memory imported from another process
/// for one device. This is `own`, the memory's device, unless CUDA reports that `own` has no access: then it is the
/// first other device that has access.
[[nodiscard]] int device_with_access(const CudaCalls& calls, std::uint64_t address, int own, int access) noexcept;

/// "CUDA_ERROR_INVALID_VALUE" and the like; "CUresult <number>" for codes that the table does not contain.
[[nodiscard]] const char* cuda_result_name(int result) noexcept;
/// 801 NOT_SUPPORTED -> EOPNOTSUPP, 2 OUT_OF_MEMORY -> ENOMEM, 1 INVALID_VALUE -> EINVAL, 100/101 -> ENODEV,
/// 3 NOT_INITIALIZED -> EINVAL, else EIO.
[[nodiscard]] int cuda_result_errno(int result) noexcept;
/// The error of a call that returned `result`. Its text is the formatted text, ": " and the name of the result.
[[gnu::format(printf, 2, 3)]] tl::unexpected<base::Error> cuda_failure(int result, const char* format, ...) noexcept;

}  // namespace gdrkit::driver
