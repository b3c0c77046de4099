// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/stream/stream_control.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "base/blocked_signals.hpp"
#include "gdrkit/shmem_device.cuh"

namespace gdrkit::shmem_impl::stream {
namespace {

using shmem::detail::Control;

constexpr auto watch_every = std::chrono::milliseconds(500);

Control& control_at(const platform::Allocation& words) noexcept { return *reinterpret_cast<Control*>(words.address()); }

}  // namespace

base::Result<std::unique_ptr<StreamControl>> StreamControl::make(platform::Device& device, node::Node& node) noexcept
    try {
  std::unique_ptr<StreamControl> made(new StreamControl(device, node));
  auto words = device.allocate(platform::AllocationKind::host, sizeof(Control));
  if (!words) return base::pass(words);
  made->words_ = std::move(*words);
  auto* const host = reinterpret_cast<void*>(made->words_.address());
  std::memset(host, 0, sizeof(Control));
  auto address = device.device_address(host);
  if (!address) return base::pass(address);
  made->device_address_ = *address;
  return made;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while preparing GPU kernels that wait");
}

StreamControl::~StreamControl() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    ending_.notify_all();
  }
  if (watcher_.joinable()) watcher_.join();
  const platform::DeviceScope scope(device_);
  (void)words_.free();
}

base::Status StreamControl::watch() noexcept try {
  const std::lock_guard lock(mutex_);
  if (watcher_.joinable()) return {};
  const base::BlockedSignals blocked;
  watcher_ = std::thread([this] { run(); });
  return {};
} catch (const std::system_error& error) {
  return base::fail(EAGAIN, "cannot start the thread that detects ended PEs: %s", error.what());
}

void StreamControl::run() noexcept {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, watch_every, [this] { return is_ending_; })) {
    lock.unlock();
    const int dead = node_.first_dead();
    lock.lock();
    if (dead < 0) continue;
    dead_pe_ = dead;
    std::atomic_ref(control_at(words_).is_broken).store(1, std::memory_order_relaxed);
    return;
  }
}

std::optional<std::uint64_t> StreamControl::take_timed_out_wait() noexcept {
  std::atomic_ref timed_out_address(control_at(words_).timed_out_address);
  if (timed_out_address.load(std::memory_order_relaxed) == 0) return std::nullopt;
  // A store of the GPU between the two accesses reports another timeout, which this result includes.
  return timed_out_address.exchange(0, std::memory_order_relaxed);
}

int StreamControl::dead_pe() const noexcept {
  const std::lock_guard lock(mutex_);
  return dead_pe_;
}

}  // namespace gdrkit::shmem_impl::stream
