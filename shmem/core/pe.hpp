// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pe: one processing element, composed of its parts. Functions that need several parts are here.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "shmem/collective/team_collectives.hpp"
#include "shmem/heap/symmetric_heap.hpp"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/gpu_code.hpp"
#include "shmem/parts/streams.hpp"
#include "shmem/parts/synchronization.hpp"
#include "shmem/parts/transfers.hpp"
#include "shmem/parts/waits.hpp"

namespace gdrkit::shmem_impl::core {

struct PeOptions : parts::ConnectionOptions {
  bool compares_stream_collectives = false;
  bool leaves_device_current = false;  ///< in the thread that starts the PE
};

/// Thread-safe, except start and finalize. One thread of each PE calls the collective functions.
class Pe {
 public:
  /// Collective.
  [[nodiscard]] static base::Result<std::unique_ptr<Pe>> start(const PeOptions& options) noexcept;
  ~Pe();
  /// Collective: waits for all PEs. The destructor releases the resources.
  base::Status finalize() noexcept;

  [[nodiscard]] int pe() const noexcept { return connections_->pe(); }
  [[nodiscard]] int n_pes() const noexcept { return connections_->n_pes(); }
  [[nodiscard]] int node_pes() const noexcept { return connections_->node_pes(); }
  [[nodiscard]] const heap::SymmetricHeap& heap() const noexcept { return connections_->heap(); }
  [[nodiscard]] platform::Device& device() const noexcept { return connections_->device(); }
  [[nodiscard]] std::chrono::milliseconds limit() const noexcept { return connections_->limit(); }
  void set_limit(std::chrono::milliseconds limit) noexcept { connections_->set_limit(limit); }

  [[nodiscard]] parts::Connections& connections() noexcept { return *connections_; }
  [[nodiscard]] parts::Transfers& transfers() noexcept { return *transfers_; }
  [[nodiscard]] parts::Waits& waits() noexcept { return *waits_; }
  [[nodiscard]] parts::Streams& streams() noexcept { return *streams_; }
  [[nodiscard]] parts::GpuCode& gpu_code() noexcept { return *gpu_code_; }
  [[nodiscard]] collective::TeamCollectives& collectives() noexcept { return *collectives_; }

  // Symmetric memory. Collective.
  [[nodiscard]] base::Result<void*> allocate(std::size_t size_bytes, std::size_t alignment, bool is_zeroed) noexcept;
  base::Status free(void* address) noexcept;
  /// Registers memory of the application as symmetric. Returns its address in the heap's address range.
  [[nodiscard]] base::Result<void*> register_symmetric(const void* address, std::size_t size_bytes) noexcept;
  base::Status unregister_symmetric(const void* address) noexcept;

  base::Status sync_all() noexcept { return synchronization_->sync_all("sync_all"); }

  // These three functions also report waits of GPU kernels that timed out (ETIMEDOUT) or that ended because a PE ended
  // (ECONNRESET). Each such wait is reported once.
  base::Status barrier_all() noexcept;
  base::Status quiet() noexcept;
  base::Status synchronize_stream(void* stream) noexcept;

 private:
  Pe() noexcept = default;
  base::Status connect(const PeOptions& options);
  base::Status check_gpu_waits() noexcept;

  // Members are destroyed in reverse order.
  std::unique_ptr<parts::Connections> connections_;
  std::optional<parts::Synchronization> synchronization_;
  std::unique_ptr<parts::Transfers> transfers_;
  std::unique_ptr<parts::GpuCode> gpu_code_;
  std::optional<parts::Waits> waits_;
  std::optional<parts::Streams> streams_;
  std::unique_ptr<collective::TeamCollectives> collectives_;
  std::mutex collective_mutex_;
};

}  // namespace gdrkit::shmem_impl::core
