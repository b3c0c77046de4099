// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// StreamWork: puts, gets, signals and waits as work of a stream of the PE's GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/stream_params.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem_impl::stream {

/// Each call adds work to the stream and returns. Addresses of other PEs' memory are those at which this GPU accesses
/// it. Arguments have been checked, and the device is current. Thread-safe. Ordering: a stream performs its work in
/// order. A signal follows a fence of system scope, which is part of cuStreamWriteValue, or of a GPU kernel that starts
/// after all earlier work of its stream. So a PE that observes the signal also observes earlier puts, regardless of the
/// engine.
class StreamWork {
 public:
  /// Both must outlive it.
  StreamWork(platform::Device& device, platform::GpuKernels& gpu_kernels) noexcept
      : device_(device), gpu_kernels_(gpu_kernels) {}

  /// Maximum size of a value that is passed with the launch of a GPU kernel.
  static constexpr std::size_t inline_bytes = sizeof platform::StreamValueParameters{}.words;

  /// Host memory may be read during the call, other memory when the stream performs the put. `signal.address` 0: no
  /// signal.
  base::Status put(platform::Stream stream, std::uint64_t target, const void* source, std::size_t size_bytes,
                   transport::LocalMemory memory, const platform::StreamSignal& signal) noexcept;
  /// Reads `value`, of at most inline_bytes, during the call.
  base::Status put_value(platform::Stream stream, std::uint64_t target, const void* value,
                         std::size_t size_bytes) noexcept;
  base::Status get(platform::Stream stream, void* target, std::uint64_t source, std::size_t size_bytes,
                   transport::LocalMemory memory) noexcept;
  base::Status signal(platform::Stream stream, const platform::StreamSignal& signal) noexcept;
  base::Status wait(platform::Stream stream, const platform::StreamWaitParameters& parameters) noexcept;

 private:
  base::Status store(platform::Stream stream, std::uint64_t target, std::uint64_t value,
                     std::size_t size_bytes) noexcept;

  platform::Device& device_;
  platform::GpuKernels& gpu_kernels_;
};

}  // namespace gdrkit::shmem_impl::stream
