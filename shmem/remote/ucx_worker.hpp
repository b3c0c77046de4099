// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// UcxWorker: one UCX context with one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "platform/vendor/ucx_library.hpp"
#include "shmem/bootstrap/star_wire.hpp"

namespace gdrkit::shmem_impl::remote {

/// The data that PEs exchange when they start UCX.
struct WorkerCard {
  std::uint64_t address_bytes = 0;
  std::int32_t leader = 0;
  bootstrap::PeOutcome started;  ///< whether UCX could be started on this PE
  bootstrap::Token nonce{};      ///< the keys of the job's messages are derived from PE 0's nonce
};

/// Receives messages. UcxWorker calls it inside progress().
class UcxReceiver {
 public:
  virtual void receive(const void* header, std::size_t header_bytes, const void* data,
                       std::size_t size_bytes) noexcept = 0;
  /// A message by rendezvous. No PE sends such a message, so its data are not fetched.
  virtual void receive_rendezvous(const void* header, std::size_t header_bytes) noexcept = 0;

 protected:
  ~UcxReceiver() = default;
};

/// Not thread-safe. The destructor frees UCX's resources; close all endpoints before.
class UcxWorker {
 public:
  /// `receiver` and `calls` must outlive the worker. `is_direct` enables UCX's own puts and gets, unless `needs_cuda`
  /// is set and this UCX does not support GPU memory. If UCX emulates puts and gets in software, as over TCP, any host
  /// that connects can then write to any address of this process.
  [[nodiscard]] static base::Result<std::unique_ptr<UcxWorker>> open(const platform::UcxCalls& calls,
                                                                     std::size_t endpoints, bool is_direct,
                                                                     bool needs_cuda, UcxReceiver& receiver);
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;
  ~UcxWorker();

  [[nodiscard]] const platform::UcxCalls& calls() const noexcept { return calls_; }
  [[nodiscard]] platform::UcxContext* context() const noexcept { return context_; }
  [[nodiscard]] const std::vector<char>& address() const noexcept { return address_; }
  [[nodiscard]] bool supports_cuda() const noexcept { return (memory_types_ >> platform::ucx_memory_cuda & 1) != 0; }
  /// Returns whether this PE can use UCX's own puts and gets, and other PEs can use them on this PE's memory.
  [[nodiscard]] bool is_direct() const noexcept { return is_direct_; }
  /// Becomes readable when there is work, if arm() returned true before.
  [[nodiscard]] int event_fd() const noexcept { return event_fd_; }
  [[nodiscard]] bool arm() noexcept { return calls_.worker_arm(worker_) == platform::ucx_ok; }
  void wake() noexcept { (void)calls_.worker_signal(worker_); }
  unsigned progress() noexcept { return calls_.worker_progress(worker_); }

  using ErrorHandler = void (*)(void* argument, platform::UcxEndpoint* endpoint, platform::UcxStatus status);
  /// UCX calls `handler` when the other process ends, if UCX's transports support that. Before about version 1.16, its
  /// shared memory does not. The caller must then detect the end itself.
  [[nodiscard]] base::Result<platform::UcxEndpoint*> connect(const void* address, ErrorHandler handler,
                                                             void* argument) noexcept;
  static constexpr unsigned message_id = 1;

 private:
  explicit UcxWorker(const platform::UcxCalls& calls) noexcept : calls_(calls) {}
  base::Status open_context(std::size_t endpoints, bool is_direct) noexcept;
  base::Status open_worker(UcxReceiver& receiver);

  const platform::UcxCalls& calls_;
  platform::UcxContext* context_ = nullptr;
  platform::UcxWorkerHandle* worker_ = nullptr;
  std::uint64_t memory_types_ = 0;
  bool is_direct_ = false;
  int event_fd_ = -1;
  int error_mode_ = platform::ucx_error_mode_peer;
  std::vector<char> address_;
};

/// "ucp_init: Out of memory", as an error.
[[nodiscard]] tl::unexpected<base::Error> ucx_failure(const platform::UcxCalls& calls, const char* call,
                                                      platform::UcxStatus status) noexcept;
[[nodiscard]] int errno_of_ucx(platform::UcxStatus status) noexcept;

}  // namespace gdrkit::shmem_impl::remote
