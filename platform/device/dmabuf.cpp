// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/device/dmabuf.hpp"

#include <cerrno>
#include <cinttypes>

namespace gdrkit::platform {

base::Result<int> export_dmabuf(const CudaCalls& calls, std::uint64_t address, std::size_t size_bytes) noexcept {
  if (calls.mem_get_range_handle == nullptr) {
    return base::fail_literal(EOPNOTSUPP,
                              "cannot export a dma-buf: the NVIDIA driver is older than CUDA 11.7; update the driver");
  }
  int fd = -1;
  const int result =
      calls.mem_get_range_handle(&fd, address, size_bytes, driver::cuda_mem_range_handle_type_dmabuf_fd, 0);
  if (result == 0) return fd;
  return base::fail_vendor(driver::cuda_result_errno(result), result,
                           "cannot export a dma-buf of %zu bytes at 0x%" PRIx64 ": cuMemGetHandleForAddressRange: %s",
                           size_bytes, address, driver::cuda_result_name(result));
}

base::Result<int> export_dmabuf(const Device& device, std::uint64_t address, std::size_t size_bytes) noexcept {
  if (device.is_emulated()) return base::fail_literal(EOPNOTSUPP, "the emulated device does not export dma-bufs");
  const auto calls = cuda_calls();
  if (!calls) return base::pass(calls);
  return export_dmabuf(**calls, address, size_bytes);
}

}  // namespace gdrkit::platform
