// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// StreamControl: ends the waits of a PE's GPU kernels when another PE has died, and reads which waits timed out.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "shmem/node/node.hpp"

namespace gdrkit::shmem_impl::stream {

/// The CPU's side of shmem::detail::Control (gdrkit/shmem_device.cuh). The CPU cannot observe the state of a stream. A
/// wait in a stream that fails writes a report to host memory, and the next call that waits for completion returns the
/// error. Thread-safe.
class StreamControl {
 public:
  /// Both must outlive it. The device must be current.
  [[nodiscard]] static base::Result<std::unique_ptr<StreamControl>> make(platform::Device& device,
                                                                         node::Node& node) noexcept;
  /// GPU kernels that use it must have ended.
  ~StreamControl();
  StreamControl(const StreamControl&) = delete;
  StreamControl& operator=(const StreamControl&) = delete;

  /// For gdrkit_shmem_device_state::control_address.
  [[nodiscard]] std::uint64_t device_address() const noexcept { return device_address_; }
  /// Starts a thread that checks twice a second whether all PEs are alive. If a PE has ended, the thread
  /// ends the waits of GPU kernels. Fails with EAGAIN if the thread cannot be started.
  base::Status watch() noexcept;
  /// Returns the address of the word of the last wait that timed out since the last call.
  [[nodiscard]] std::optional<std::uint64_t> take_timed_out_wait() noexcept;
  /// Returns the PE whose end ended the waits; -1: none.
  [[nodiscard]] int dead_pe() const noexcept;

 private:
  StreamControl(platform::Device& device, node::Node& node) noexcept : device_(device), node_(node) {}
  void run() noexcept;

  platform::Device& device_;
  node::Node& node_;
  platform::Allocation words_;
  std::uint64_t device_address_ = 0;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable ending_;
  bool is_ending_ = false;
  int dead_pe_ = -1;
  std::thread watcher_;
};

}  // namespace gdrkit::shmem_impl::stream
