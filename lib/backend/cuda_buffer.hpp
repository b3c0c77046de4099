// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CudaBuffer: device memory from cuMemAlloc, for every backend whose memory is CUDA's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

/// Holds a reference on the device's primary context, the one that the CUDA runtime uses too, until it is freed.
class CudaBuffer final : public BackendBuffer {
 public:
  /// Initialises CUDA unless that was done. `cuda` outlives the buffer.
  [[nodiscard]] static base::Result<std::unique_ptr<BackendBuffer>> allocate(const driver::CudaCalls& cuda, int device,
                                                                             std::size_t size_bytes) noexcept;
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  ~CudaBuffer() override;

  /// On a stream of their own: they do not wait for other work of the device.
  base::Status copy_from_host(std::size_t offset, const void* source, std::size_t size_bytes) noexcept override;
  base::Status copy_to_host(std::size_t offset, void* target, std::size_t size_bytes) noexcept override;
  base::Status free() noexcept override;
  void abandon_after_fork() noexcept override;

 private:
  CudaBuffer(const driver::CudaCalls& cuda, int device) noexcept : cuda_(cuda), device_(device) {}
  base::Status take(std::size_t size_bytes) noexcept;
  base::Status free_memory() noexcept;
  /// Calls `copy(stream)`, which starts one copy, and waits for its end.
  template <class Copy>
  base::Status run_copy(const char* call, Copy copy) noexcept;

  const driver::CudaCalls& cuda_;
  int device_;
  void* context_ = nullptr;
  int retained_device_ = -1;  ///< as the driver names it
};

}  // namespace gdrkit::backend
