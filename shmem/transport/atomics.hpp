// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Atomics: read-modify-write of other PEs' words by this PE's GPU, as a CPU has none through BAR1.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "platform/device/device.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"

namespace gdrkit::shmem_impl::transport {

/// In the order of enum gdrkit_shmem_atomic_operation.

/// Thread-safe.
class Atomics {
 public:
  virtual ~Atomics() = default;
  /// Both must outlive it.
  [[nodiscard]] static base::Result<std::unique_ptr<Atomics>> make(platform::Device& device,
                                                                   platform::GpuKernels& gpu_kernels) noexcept;

  /// Performs an operation other than FETCH and SET on a naturally aligned word of 4 or 8 bytes that the device can
  /// access. Waits for the result if `fetched` is not nullptr; otherwise complete() waits.
  virtual base::Status run(std::uint64_t address, std::size_t size_bytes, gdrkit_shmem_atomic_operation operation,
                           std::uint64_t operand, std::uint64_t compare, std::uint64_t* fetched) noexcept = 0;
  virtual base::Status complete() noexcept = 0;
};

}  // namespace gdrkit::shmem_impl::transport
