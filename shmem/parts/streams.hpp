// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Streams: puts, gets, signals and waits of a PE, enqueued on a stream of its GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "platform/device/device.hpp"
#include "platform/gpu_code/stream_params.hpp"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/gpu_code.hpp"
#include "shmem/parts/transfers.hpp"
#include "shmem/parts/waits.hpp"
#include "shmem/stream/stream_work.hpp"

namespace gdrkit::shmem_impl::parts {

/// Thread-safe. A stream is a CUstream; nullptr is the default stream. Functions enqueue work and do not wait for it.
class Streams {
 public:
  /// The arguments must outlive the object.
  Streams(Connections& connections, Transfers& transfers, GpuCode& gpu_code) noexcept
      : connections_(connections),
        transfers_(transfers),
        gpu_code_(gpu_code),
        work_(connections.device(), connections.gpu_kernels()) {}

  base::Status put(void* target, const void* source, std::size_t size_bytes, int pe, void* stream) noexcept {
    return put_with(target, source, size_bytes, pe, {}, stream);
  }
  /// Reads `value` during the call.
  base::Status put_value(void* target, const void* value, std::size_t size_bytes, int pe, void* stream) noexcept;
  base::Status get(void* target, const void* source, std::size_t size_bytes, int pe, void* stream) noexcept;
  base::Status put_signal(void* target, const void* source, std::size_t size_bytes, void* word, std::uint64_t value,
                          gdrkit_shmem_signal operation, int pe, void* stream) noexcept;
  base::Status signal(void* word, std::uint64_t value, gdrkit_shmem_signal operation, int pe, void* stream) noexcept;
  base::Status wait(const Word& word, gdrkit_shmem_comparison comparison, std::uint64_t value, void* stream) noexcept;
  base::Status quiet(void* stream) noexcept;

  [[nodiscard]] base::Result<void*> create() noexcept;
  base::Status destroy(void* stream) noexcept;
  /// Waits until the stream has completed its work.
  base::Status synchronize(void* stream) noexcept;

 private:
  /// Without a signal, `signal.address` is 0.
  base::Status put_with(void* target, const void* source, std::size_t size_bytes, int pe,
                        const platform::StreamSignal& signal, void* stream) noexcept;
  [[nodiscard]] base::Result<platform::StreamSignal> signal_of(const void* word, std::uint64_t value,
                                                               gdrkit_shmem_signal operation, int pe) const noexcept;
  [[nodiscard]] bool is_beyond_gpu(int pe) const noexcept;
  /// For a PE whose memory this GPU cannot access: waits for the stream's earlier work, then calls `call`. The
  /// operation is complete when the function returns.
  template <class Call>
  base::Status by_cpu_in_order(const void* address, std::size_t size_bytes, int pe, void* stream, Call call) noexcept;

  Connections& connections_;
  Transfers& transfers_;
  GpuCode& gpu_code_;
  stream::StreamWork work_;
};

}  // namespace gdrkit::shmem_impl::parts
