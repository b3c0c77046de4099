// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Proxy: the thread that does for GPU kernels what their GPU cannot: it carries out the commands that they write into a
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

/// What carries the commands out. Called by the proxy's thread alone.
class ProxyWork {
 public:
  virtual ~ProxyWork() = default;
  /// Begins it, in the order of the calls. `fetched`, where an answer is wanted, is written by the end of the next
  /// complete().
  virtual base::Status begin(const shmem::detail::ProxyCommand& command, std::uint64_t* fetched) noexcept = 0;
  /// All that was begun is complete, and visible to every PE.
  virtual base::Status complete() noexcept = 0;
};

/// All functions are thread-safe but make and the destructor.
///
/// Commands that are there together are begun one after the other and completed together, so that many threads that
/// wait for answers share one round trip. A command that fails is answered, too: no GPU kernel hangs for it, and the
/// first failure is told to whoever asks (take_failure).
class Proxy {
 public:
  /// `heaps_away`: by PE (ProxyRing). The device must be current; it and `work` must outlive the result.
  [[nodiscard]] static base::Result<std::unique_ptr<Proxy>> make(platform::Device& device, ProxyWork& work,
                                                                 const std::vector<std::int32_t>& heaps_away) noexcept;
  /// The GPU kernels that know of it must have ended.
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  /// For gdrkit_shmem_device_state::proxy_address.
  [[nodiscard]] std::uint64_t device_address() const noexcept { return ring_.address(); }
  /// From now on commands are carried out. EAGAIN: no thread.
  base::Status serve() noexcept;
  /// No command is begun after it.
  void stop() noexcept;
  /// What GPU kernels had written at the call has been begun. `limit` 0: none. ETIMEDOUT names it.
  base::Status drain(std::chrono::milliseconds limit) noexcept;
  /// The first since the last such question.
  base::Status take_failure() noexcept;
  /// What a GPU kernel waited for that gave up waiting for `address` of the ring; nullopt: that is not in it.
  [[nodiscard]] std::optional<std::string> text_of_wait(std::uint64_t address) noexcept;

  /// "put of 8 bytes to PE 1".
  [[nodiscard]] static std::string text_of(const shmem::detail::ProxyCommand& command);

 private:
  Proxy(platform::Device& device, ProxyWork& work) noexcept : device_(device), work_(work) {}
  base::Status open(const std::vector<std::int32_t>& heaps_away);

  void run() noexcept;
  /// false: there was no command.
  bool carry_out_batch() noexcept;
  [[nodiscard]] bool is_there(std::uint64_t position) const noexcept;
  [[nodiscard]] shmem::detail::ProxyCommand command_at(std::uint64_t position) const noexcept;
  void answer(std::uint64_t position) noexcept;
  void note(const base::Status& done, const shmem::detail::ProxyCommand* command) noexcept;
  void look_for_overflow() noexcept;

  platform::Device& device_;
  ProxyWork& work_;
  platform::Allocation host_;           // commands, answers, and words
  platform::Allocation ring_;           // ProxyRing
  platform::Allocation away_;           // ProxyRing::heaps_away
  std::uint64_t commands_address_ = 0;  // as GPU kernels see them
  shmem::detail::ProxyCommand* commands_ = nullptr;
  shmem::detail::ProxyAnswer* answers_ = nullptr;
  std::uint64_t* taken_ = nullptr;
  std::uint64_t* has_overflown_ = nullptr;
  // What was fetched, by place. Stays for as long as an answer from another machine may come.
  std::unique_ptr<std::uint64_t[]> fetched_ = std::make_unique<std::uint64_t[]>(shmem::detail::proxy_places);
  std::vector<std::uint64_t> waiting_;  // positions, of this batch
  std::uint64_t next_ = 0;              // the thread's
  bool is_overflow_noted_ = false;

  std::mutex mutex_;  // of all below
  std::atomic<bool> is_stopping_{false};
  base::Status failure_;
  std::thread thread_;
};

}  // namespace gdrkit::shmem_impl::proxy
