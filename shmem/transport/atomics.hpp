// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Atomics: read-modify-write of other PEs' words by this PE's GPU, because a CPU cannot perform them through BAR1.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "platform/device/device.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"

namespace gdrkit::shmem_impl::transport {

/// Thread-safe.
class Atomics {
 public:
  /// Both must outlive it.
  [[nodiscard]] static base::Result<std::unique_ptr<Atomics>> make(platform::Device& device,
                                                                   platform::GpuKernels& gpu_kernels) noexcept;
  Atomics(const Atomics&) = delete;
  Atomics& operator=(const Atomics&) = delete;
  ~Atomics();

  /// Performs an operation other than FETCH and SET on a naturally aligned word of 4 or 8 bytes that the device can
  /// access. Waits for the result if `fetched` is not nullptr; otherwise complete() waits.
  base::Status run(std::uint64_t address, std::size_t size_bytes, gdrkit_shmem_atomic_operation operation,
                   std::uint64_t operand, std::uint64_t compare, std::uint64_t* fetched) noexcept;
  base::Status complete() noexcept;

 private:
  Atomics(platform::Device& device, platform::GpuKernels& gpu_kernels) noexcept
      : device_(device), gpu_kernels_(gpu_kernels) {}
  base::Status open() noexcept;
  base::Status finish() noexcept;

  platform::Device& device_;
  platform::GpuKernels& gpu_kernels_;
  std::mutex mutex_;  // guards result_ and is_pending_
  bool is_pending_ = false;
  platform::Allocation result_;
  std::uint64_t result_address_ = 0;
  platform::Stream stream_;
};

}  // namespace gdrkit::shmem_impl::transport
