// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CudaScope: makes the CUDA calls of a pin, a buffer or an engine legal on this thread in every state of CUDA.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

/// Sets the thread's stream-capture mode to relaxed, so that captures on this and other threads stay valid. Makes a
/// context current that can access the memory. The destructor restores both. Creates a context only if the memory
/// belongs to none, the primary context of its device is inactive, and the thread has no current context.
class CudaScope {
 public:
  /// `address`: an address of memory that belongs to no context; 0 skips the check of access. If the memory's device
  /// has no access (memory of another process or device, imported for one device), a device that has access is used
  /// instead.
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
  int capture_mode_ = -1;     ///< the original mode of the thread; -1: not changed
  int retained_device_ = -1;  ///< CUdevice; -1: none
  bool is_pushed_ = false;
};

}  // namespace gdrkit::backend
