// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Proxy: the thread that accesses PEs of other nodes for GPU kernels. It executes the commands that they write into a
// ring (gdrkit/detail/shmem_proxy.cuh).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "gdrkit/detail/shmem_proxy.cuh"
#include "platform/device/device.hpp"

namespace gdrkit::shmem_impl::proxy {

/// Executes the commands. Called by the proxy's thread only.
class ProxyWork {
 public:
  virtual ~ProxyWork() = default;
  /// Starts a command, in the order of the calls. If the command has a result, `fetched` is written before the next
  /// complete() returns.
  virtual base::Status begin(const shmem::detail::ProxyCommand& command, std::uint64_t* fetched) noexcept = 0;
  /// Completes all started commands. They are visible to every PE.
  virtual base::Status complete() noexcept = 0;
};

/// All functions are thread-safe except make and the destructor.
/// Pending commands are started one after the other and completed together, so that waiting threads share one round
/// trip. A failed command also gets a reply, so that no GPU kernel hangs. take_failure() returns the first failure.
class Proxy {
 public:
  /// `heaps_away`: by PE (ProxyRing). The device must be current; it and `work` must outlive the result.
  [[nodiscard]] static base::Result<std::unique_ptr<Proxy>> make(platform::Device& device, ProxyWork& work,
                                                                 const std::vector<std::int32_t>& heaps_away) noexcept;
  /// GPU kernels that use it must have ended.
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  /// For gdrkit_shmem_device_state::proxy_address.
  [[nodiscard]] std::uint64_t device_address() const noexcept { return ring_.address(); }
  /// Starts the execution of commands. Fails with EAGAIN if the thread cannot be started.
  base::Status serve() noexcept;
  /// Stops the thread. It starts no more commands.
  void stop() noexcept;
  /// Waits until all commands that were written before the call have been started. Fails with ETIMEDOUT after
  /// `limit`; 0: no limit.
  base::Status drain(std::chrono::milliseconds limit) noexcept;
  /// Returns the first failure since the last call.
  base::Status take_failure() noexcept;
  /// Describes the wait of a GPU kernel for `address` in the ring that timed out; nullopt: the address is not in the
  /// ring.
  [[nodiscard]] std::optional<std::string> text_of_wait(std::uint64_t address) noexcept;

  /// "put of 8 bytes to PE 1".
  [[nodiscard]] static std::string text_of(const shmem::detail::ProxyCommand& command);

 private:
  Proxy(platform::Device& device, ProxyWork& work) noexcept : device_(device), work_(work) {}
  base::Status open(const std::vector<std::int32_t>& heaps_away);

  void run() noexcept;
  /// Returns false if there was no command.
  bool execute_batch() noexcept;
  [[nodiscard]] bool is_there(std::uint64_t position) const noexcept;
  [[nodiscard]] shmem::detail::ProxyCommand command_at(std::uint64_t position) const noexcept;
  void reply(std::uint64_t position) noexcept;
  void note(const base::Status& done, const shmem::detail::ProxyCommand* command) noexcept;
  void check_overflow() noexcept;

  platform::Device& device_;
  ProxyWork& work_;
  platform::Allocation host_;           // commands, replies, and words
  platform::Allocation ring_;           // ProxyRing
  platform::Allocation away_;           // ProxyRing::heaps_away
  std::uint64_t commands_address_ = 0;  // the address of the commands for GPU kernels
  shmem::detail::ProxyCommand* commands_ = nullptr;
  shmem::detail::ProxyReply* replies_ = nullptr;
  std::uint64_t* taken_ = nullptr;
  std::uint64_t* has_overflown_ = nullptr;
  // Results by place. They exist as long as a reply of another node may arrive.
  std::unique_ptr<std::uint64_t[]> fetched_ = std::make_unique<std::uint64_t[]>(shmem::detail::proxy_places);
  std::vector<std::uint64_t> waiting_;  // positions, of this batch
  std::uint64_t next_ = 0;              // position of the next command; only the thread uses it
  bool is_overflow_noted_ = false;

  std::mutex mutex_;  // guards all below
  std::atomic<bool> is_stopping_{false};
  base::Status failure_;
  std::thread thread_;
};

}  // namespace gdrkit::shmem_impl::proxy
