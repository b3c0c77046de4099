// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// driver_copy: the CUDA driver's copies between this PE's device or host memory and the other PEs' memory. One stream
// keeps them in the order of the calls.
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>

#include "platform/device/device.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem_impl::transport {
namespace {

/// Up to this size, a get into host memory that is not pinned goes through a pinned buffer. Gets of 8 to 128 KiB
/// between two H200 then take 9.9 to 20.3 us. The driver's copy into such memory, which NVSHMEM 3.8.0 uses, takes 12.8
/// to 25.8 us (docs/results/2026-11-28-h200-x2/host_and_stream.txt).
constexpr std::size_t largest_staged = 128 << 10;

class DriverCopy final : public Transport {
 public:
  explicit DriverCopy(const TransportSetting& setting) noexcept
      : device_(*setting.device), heap_(*setting.heap), node_pes_(setting.node_pes) {
    const platform::DeviceScope scope(device_);
    auto stream = device_.create_stream();
    if (!stream) {
      opened_ = base::pass(stream);
      return;
    }
    stream_ = *stream;
    // Allocated here, because a later allocation could end a capture, or wait for a GPU kernel that waits for this PE.
    auto staging = device_.allocate(platform::AllocationKind::host, largest_staged);
    if (staging) staging_.emplace(std::move(*staging));
  }
  ~DriverCopy() override {
    if (!opened_) return;
    const platform::DeviceScope scope(device_);
    (void)device_.synchronize(stream_);
    (void)device_.destroy_stream(stream_);
    staging_.reset();
  }

  [[nodiscard]] const char* name() const noexcept override { return "driver_copy"; }
  [[nodiscard]] const TransportLimits& limits() const noexcept override { return no_limits; }
  base::Status serves(int slot) noexcept override {
    if (!opened_) return opened_;
    return check_on_this_node(slot, node_pes_);
  }

  base::Status put(int slot, const heap::HeapPosition& target, const void* source, std::size_t size_bytes,
                   LocalMemory memory, bool is_async) noexcept override {
    const platform::DeviceScope scope(device_);
    if (auto current = scope.status(); !current) return current;
    const std::uint64_t at = heap_.address(slot, target.offset);
    auto started = is_host(memory) ? device_.copy_to_device_async(at, source, size_bytes, stream_)
                                   : device_.copy_device_to_device_async(at, reinterpret_cast<std::uint64_t>(source),
                                                                         size_bytes, stream_);
    return finish(std::move(started), is_async);
  }

  base::Status get(int slot, const heap::HeapPosition& source, void* target, std::size_t size_bytes, LocalMemory memory,
                   bool is_async) noexcept override {
    const platform::DeviceScope scope(device_);
    if (auto current = scope.status(); !current) return current;
    const std::uint64_t at = heap_.address(slot, source.offset);
    if (memory == LocalMemory::host && size_bytes <= largest_staged && !is_async) {
      const std::unique_lock lock(staging_mutex_, std::try_to_lock);
      if (lock && staging_) {
        void* const staging = reinterpret_cast<void*>(staging_->address());
        auto started = device_.copy_to_host_async(staging, at, size_bytes, stream_);
        if (auto done = finish(std::move(started), false); !done) return done;
        std::memcpy(target, staging, size_bytes);
        return {};
      }
    }
    auto started = is_host(memory) ? device_.copy_to_host_async(target, at, size_bytes, stream_)
                                   : device_.copy_device_to_device_async(reinterpret_cast<std::uint64_t>(target), at,
                                                                         size_bytes, stream_);
    return finish(std::move(started), is_async);
  }

  [[nodiscard]] bool is_pending(int slot) const noexcept override {
    return slot < node_pes_ && completed_.load(std::memory_order_acquire) < issued_.load(std::memory_order_acquire);
  }

  base::Status complete(int slot) noexcept override {
    if (!is_pending(slot)) return {};
    const platform::DeviceScope scope(device_);
    if (auto current = scope.status(); !current) return current;
    return synchronize();
  }

 private:
  base::Status finish(base::Status started, bool is_async) noexcept {
    if (!started) return started;
    issued_.fetch_add(1, std::memory_order_release);
    return is_async ? base::Status() : synchronize();
  }

  base::Status synchronize() noexcept {
    const std::uint64_t issued = issued_.load(std::memory_order_acquire);
    if (auto done = device_.synchronize(stream_); !done) return done;
    std::uint64_t completed = completed_.load(std::memory_order_relaxed);
    while (completed < issued && !completed_.compare_exchange_weak(completed, issued, std::memory_order_release)) {
    }
    return {};
  }

  platform::Device& device_;
  const heap::SymmetricHeap& heap_;
  const int node_pes_;
  platform::Stream stream_;
  base::Status opened_;
  std::atomic<std::uint64_t> issued_{0};
  std::atomic<std::uint64_t> completed_{0};
  std::mutex staging_mutex_;                     // guards the contents
  std::optional<platform::Allocation> staging_;  // empty if the allocation failed: gets are not staged then
};

}  // namespace

base::Result<std::unique_ptr<Transport>> make_driver_copy(const TransportSetting& setting) noexcept try {
  return std::make_unique<DriverCopy>(setting);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while creating transport 'driver_copy'");
}

}  // namespace gdrkit::shmem_impl::transport
