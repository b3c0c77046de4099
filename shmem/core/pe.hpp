// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pe: one processing element: its GPU, its heap, the ways to the others, and everything that it can do to them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "platform/device/device.hpp"
#include "shmem/collective/team_collectives.hpp"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/gpu_code.hpp"
#include "shmem/parts/synchronization.hpp"
#include "shmem/parts/transfers.hpp"
#include "shmem/stream/stream_work.hpp"

namespace gdrkit::shmem_impl::core {

struct PeOptions : parts::ConnectionOptions {
  bool compares_stream_collectives = false;
};

/// A word of 4 or 8 bytes in the own heap, and how it is compared.
struct Word {
  const void* address = nullptr;
  std::size_t size_bytes = 8;
  bool is_signed = false;
};

/// Words that follow each other, and what is asked of each.
struct Words {
  Word first;
  std::size_t count = 0;
  gdrkit_shmem_comparison comparison = GDRKIT_SHMEM_EQ;
  const std::uint64_t* values = nullptr;
  std::size_t value_count = 0;  ///< 1, or `count`
  const int* left_out = nullptr;
};

/// Thread-safe but for start and finalize, as gdrkit/shmem.h says of its functions; collective functions by one
/// thread of each PE.
class Pe {
 public:
  /// Collective.
  [[nodiscard]] static base::Result<std::unique_ptr<Pe>> start(const PeOptions& options) noexcept;
  ~Pe();
  /// Collective: waits for all PEs. The rest is the destructor's.
  base::Status finalize() noexcept;

  [[nodiscard]] int pe() const noexcept { return connections_->pe(); }
  [[nodiscard]] int n_pes() const noexcept { return connections_->n_pes(); }
  [[nodiscard]] int node_pes() const noexcept { return connections_->node_pes(); }
  [[nodiscard]] const heap::SymmetricHeap& heap() const noexcept { return connections_->heap(); }
  [[nodiscard]] const platform::Device& device() const noexcept { return connections_->device(); }
  [[nodiscard]] platform::Device& own_device() noexcept { return connections_->device(); }
  [[nodiscard]] node::Node& node() const noexcept { return connections_->node(); }
  [[nodiscard]] parts::Connections& connections() const noexcept { return *connections_; }
  [[nodiscard]] parts::Transfers& transfers() const noexcept { return *transfers_; }
  [[nodiscard]] parts::GpuCode& gpu_code() const noexcept { return *gpu_code_; }
  [[nodiscard]] collective::TeamCollectives& collectives() const noexcept { return *collectives_; }
  [[nodiscard]] std::chrono::milliseconds limit() const noexcept { return connections_->limit(); }
  /// Between its own transports and others': for tests of transports.
  [[nodiscard]] transport::TransportSetting transport_setting() const noexcept {
    return connections_->transport_setting();
  }
  /// In transports' numbering.
  [[nodiscard]] base::Result<int> slot_of(int pe) const noexcept { return connections_->slot_of(pe); }
  /// nullptr: all PEs are on this machine.
  [[nodiscard]] remote::Remote* remote() const noexcept { return connections_->remote(); }
  /// Collective: makes memory of the application's symmetric; the answer is its address in the heap's range.
  [[nodiscard]] base::Result<void*> register_symmetric(const void* address, std::size_t size_bytes) noexcept;
  base::Status unregister_symmetric(const void* address) noexcept;
  void set_limit(std::chrono::milliseconds limit) noexcept { connections_->set_limit(limit); }

  [[nodiscard]] base::Result<void*> allocate(std::size_t size_bytes, std::size_t alignment, bool is_zeroed) noexcept;
  base::Status free(void* address) noexcept;
  /// EOPNOTSUPP: this process's GPU does not reach that PE's memory.
  [[nodiscard]] base::Result<void*> pointer(const void* address, int pe) const noexcept;

  [[nodiscard]] base::Result<std::uint64_t> load(const Word& word) noexcept;
  [[nodiscard]] base::Result<bool> test(const Word& word, gdrkit_shmem_comparison comparison,
                                        std::uint64_t value) noexcept;
  /// Answers what the word held.
  [[nodiscard]] base::Result<std::uint64_t> wait_until(const Word& word, gdrkit_shmem_comparison comparison,
                                                       std::uint64_t value) noexcept;

  /// Each has compared as asked at some time.
  base::Status wait_until_all(const Words& words) noexcept;
  /// Which words do, in rising order: at least one, unless all are left out.
  [[nodiscard]] base::Result<std::vector<std::size_t>> wait_until_some(const Words& words) noexcept;
  [[nodiscard]] base::Result<std::vector<std::size_t>> test_some(const Words& words) noexcept;

  /// Also tells of waits of GPU kernels that gave up, once: ETIMEDOUT, or ECONNRESET where a PE has ended.
  base::Status quiet() noexcept;
  base::Status check_gpu_waits() noexcept;

  // Work of a stream of this PE's GPU (a CUstream; nullptr: the default stream): added, not waited for.

  /// `signal.address` 0: no signal.
  base::Status put_on_stream(void* target, const void* source, std::size_t size_bytes, int pe,
                             const platform::StreamSignal& signal, void* stream) noexcept;
  /// Reads `value` during the call.
  base::Status put_value_on_stream(void* target, const void* value, std::size_t size_bytes, int pe,
                                   void* stream) noexcept;
  base::Status get_on_stream(void* target, const void* source, std::size_t size_bytes, int pe, void* stream) noexcept;
  base::Status put_signal_on_stream(void* target, const void* source, std::size_t size_bytes, void* word,
                                    std::uint64_t value, gdrkit_shmem_signal operation, int pe, void* stream) noexcept;
  base::Status signal_on_stream(void* word, std::uint64_t value, gdrkit_shmem_signal operation, int pe,
                                void* stream) noexcept;
  base::Status wait_on_stream(const Word& word, gdrkit_shmem_comparison comparison, std::uint64_t value,
                              void* stream) noexcept;
  base::Status quiet_on_stream(void* stream) noexcept;
  [[nodiscard]] base::Result<void*> create_stream() noexcept;
  base::Status destroy_stream(void* stream) noexcept;
  /// Waits for it, and tells of waits that gave up as quiet() does.
  base::Status synchronize_stream(void* stream) noexcept;

  base::Status sync_all() noexcept { return synchronization_->sync_all("sync_all"); }
  base::Status barrier_all() noexcept;

 private:
  Pe() noexcept = default;
  base::Status connect(const PeOptions& options);
  [[nodiscard]] base::Result<platform::StreamSignal> stream_signal(const void* word, std::uint64_t value,
                                                                   gdrkit_shmem_signal operation,
                                                                   int pe) const noexcept;
  [[nodiscard]] bool is_beyond_gpu(int pe) const noexcept;
  /// For work of a stream to a PE that this GPU does not reach: waits for the stream's earlier work, then does it, so
  /// that it is done before the call returns.
  template <class Call>
  base::Status by_cpu_in_order(const void* address, std::size_t size_bytes, int pe, void* stream, Call call) noexcept;
  // Destroyed from the last to the first.
  std::unique_ptr<parts::Connections> connections_;
  std::optional<parts::Synchronization> synchronization_;
  std::unique_ptr<parts::Transfers> transfers_;
  std::unique_ptr<parts::GpuCode> gpu_code_;
  std::optional<stream::StreamWork> stream_work_;
  std::unique_ptr<collective::TeamCollectives> collectives_;
  std::mutex collective_mutex_;
};

}  // namespace gdrkit::shmem_impl::core
