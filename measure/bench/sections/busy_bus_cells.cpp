// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// busy_bus: copies while another thread makes the driver copy large blocks in both directions.
#include <atomic>
#include <thread>
#include <utility>

#include "base/result.hpp"
#include "measure/bench/measure/copy_station.hpp"
#include "measure/bench/measure/copy_team.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr std::size_t block_bytes = std::size_t{16} << 20;

class BusyBus final : public Disturbance {
 public:
  explicit BusyBus(Session* session) : device_(session->device()) {
    const Elsewhere elsewhere(session->cpus());
    for (Way& way : ways_) {
      way.on_device = take(device_->allocate(platform::AllocationKind::cuda_malloc, block_bytes));
      way.on_host = take(device_->allocate(platform::AllocationKind::host, block_bytes));
      way.stream = take(device_->create_stream());
    }
    thread_ = std::thread([this] { work(); });
    // The measurement begins when the bus is busy.
    while (rounds_.load(std::memory_order_acquire) == 0 && !has_failed_.load(std::memory_order_acquire)) {
      std::this_thread::yield();
    }
  }

  ~BusyBus() override {
    is_over_.store(true, std::memory_order_release);
    if (thread_.joinable()) thread_.join();
    for (const Way& way : ways_) (void)device_->destroy_stream(way.stream);
  }

  [[nodiscard]] std::string complaint() const override {
    return has_failed_.load(std::memory_order_acquire) ? "the background copies, which keep the bus busy, failed" : "";
  }

 private:
  struct Way {
    platform::Allocation on_device;
    platform::Allocation on_host;
    platform::Stream stream;
  };

  void work() {
    if (!device_->make_current().has_value()) has_failed_.store(true, std::memory_order_release);
    const Way& out = ways_[0];
    const Way& in = ways_[1];
    while (!is_over_.load(std::memory_order_acquire) && !has_failed_.load(std::memory_order_acquire)) {
      const bool is_copied =
          device_->copy_to_device_async(out.on_device.address(), host_of(out), block_bytes, out.stream).has_value() &&
          device_->copy_to_host_async(host_of(in), in.on_device.address(), block_bytes, in.stream).has_value() &&
          device_->synchronize(out.stream).has_value() && device_->synchronize(in.stream).has_value();
      if (!is_copied) has_failed_.store(true, std::memory_order_release);
      rounds_.fetch_add(1, std::memory_order_release);
    }
  }

  static void* host_of(const Way& way) { return reinterpret_cast<void*>(way.on_host.address()); }

  platform::Device* device_;
  Way ways_[2];
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace

std::vector<Cell> busy_bus_cells(Session* session) {
  CopyScene scene;
  scene.section = "busy_bus";
  scene.title_end = ", while the bus is busy";
  scene.conditions = {{"bus", "busy"}};
  scene.disturb = [=] { return std::make_unique<BusyBus>(session); };
  return busy_cells(session, std::move(scene));
}

}  // namespace gdrkit::measure::bench
