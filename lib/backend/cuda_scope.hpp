// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CudaScope: makes the CUDA calls of a pin, a buffer or an engine legal on this thread, in any state of it.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

/// While alive: the thread's stream-capture mode is relaxed (a capture in progress on this or another thread stays
/// valid), and a context that reaches the memory is current. Restores both. Creates a context only for memory that
/// belongs to none, on a device whose primary context is not active, when the thread has none either.
class CudaScope {
 public:
  /// `address`: of memory that belongs to no context. Where its own device was not given access (memory of another
  /// process or device, imported for one device), a device that was takes its place; 0 where it need not be asked.
  static base::Result<CudaScope> enter(const driver::CudaCalls& cuda, void* memory_context, int device_ordinal,
                                       std::uint64_t address = 0) noexcept;
  CudaScope(CudaScope&& other) noexcept;
  CudaScope& operator=(CudaScope&&) = delete;
  ~CudaScope();

 private:
  explicit CudaScope(const driver::CudaCalls& cuda) noexcept : cuda_(&cuda) {}
  base::Status choose_context(void* memory_context, int device_ordinal) noexcept;
  base::Status push(void* context) noexcept;

  const driver::CudaCalls* cuda_;
  int capture_mode_ = -1;     ///< the thread's own mode, -1 when not exchanged
  int retained_device_ = -1;  ///< as the driver names it
  bool is_pushed_ = false;
};

}  // namespace gdrkit::backend
