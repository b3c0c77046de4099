// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Functions over the table of CUDA driver functions, and the errors that its functions return.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "driver/cuda_calls.hpp"

namespace gdrkit::driver {

/// One cuPointerGetAttributes call. Fields that the driver does not have for this pointer stay 0.
struct PointerAttributes {
  void* context = nullptr;        ///< nullptr: memory of no context
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

// Functions over the table for what takes more than one call or an argument that has to be put together. Each returns
// the CUresult (0: success) and sets outputs on success only. None synchronizes a device.

int pointer_attributes(const CudaCalls& calls, std::uint64_t address, PointerAttributes* attributes) noexcept;
/// At which address the CPU may use that byte of device memory; 0: at none. Call it only where the link to the GPU is
/// coherent: drivers may return an error for other memory.
int pointer_host_address(const CudaCalls& calls, std::uint64_t address, std::uint64_t* host) noexcept;
int device_attribute(const CudaCalls& calls, int ordinal, int attribute, int* value) noexcept;
int device_pci_bus_id(const CudaCalls& calls, int ordinal, char* text, int capacity) noexcept;
int device_uuid(const CudaCalls& calls, int ordinal, CudaUuid* uuid) noexcept;
int primary_ctx_is_active(const CudaCalls& calls, int ordinal, int* active) noexcept;
/// Gathers `rows` pieces of `width` bytes, `pitch` bytes apart in device memory (pitch >= width, at most 2^31 - 1),
/// packed into pageable host memory.
int gather_async(const CudaCalls& calls, void* target, std::uint64_t source, std::size_t pitch, std::size_t width,
                 std::size_t rows, void* stream) noexcept;
/// CudaCalls::export_dmabuf of libcuda.
int export_dmabuf_observed(std::uint64_t address, std::size_t size, unsigned long long flags,
                           ObservedExport* observed) noexcept;

/// Whether the device has all of `access` (cuda_mem_access_*) to memory of cuMemCreate; nothing for other memory, or
/// if CUDA does not report it.
[[nodiscard]] std::optional<bool> has_access(const CudaCalls& calls, std::uint64_t address, int ordinal,
                                             int access) noexcept;
/// Which device is to touch memory that belongs to no CUDA context, such as another process's, imported for one device:
/// `own`, the memory's own device, or the first other one that has access where `own` certainly has not.
[[nodiscard]] int device_with_access(const CudaCalls& calls, std::uint64_t address, int own, int access) noexcept;

/// For instance "CUDA_ERROR_INVALID_VALUE"; the number as text for codes that are not in the table.
[[nodiscard]] const char* cuda_result_name(int result) noexcept;
/// 801 NOT_SUPPORTED -> EOPNOTSUPP, 2 OUT_OF_MEMORY -> ENOMEM, 1 INVALID_VALUE -> EINVAL, 100/101 -> ENODEV,
/// 3 NOT_INITIALIZED -> EINVAL, else EIO.
[[nodiscard]] int cuda_result_errno(int result) noexcept;
/// The error of a call that returned `result`: printf's text, ": ", the result's name; its errno; the vendor code.
[[gnu::format(printf, 2, 3)]] tl::unexpected<base::Error> cuda_failure(int result, const char* format, ...) noexcept;

}  // namespace gdrkit::driver
