// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Start and end of a PE.
#include "shmem/core/pe.hpp"

#include <new>

#include "platform/device/device_scope.hpp"

namespace gdrkit::shmem_impl::core {

base::Result<std::unique_ptr<Pe>> Pe::start(const PeOptions& options) noexcept try {
  std::unique_ptr<Pe> pe(new Pe());
  if (auto connected = pe->connect(options); !connected) return base::pass(connected);
  if (options.leaves_device_current) {
    if (auto current = pe->device().make_current(); !current) return base::pass(current);
  }
  return pe;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while starting a PE");
}

base::Status Pe::connect(const PeOptions& options) {
  auto connections = parts::Connections::start(options);
  if (!connections) return base::pass(connections);
  connections_ = std::move(*connections);
  synchronization_.emplace(*connections_);
  platform::Device& device = connections_->device();
  const platform::DeviceScope scope(device);
  if (auto current = scope.status(); !current) return current;
  auto transfers = parts::Transfers::make(*connections_);
  if (!transfers) return base::pass(transfers);
  transfers_ = std::move(*transfers);
  auto gpu_code = parts::GpuCode::make(*connections_, *transfers_);
  if (!gpu_code) return base::pass(gpu_code);
  gpu_code_ = std::move(*gpu_code);
  waits_.emplace(*connections_, *transfers_);
  streams_.emplace(*connections_, *transfers_, *gpu_code_);
  auto collectives =
      collective::TeamCollectives::make({*connections_, *transfers_, *gpu_code_}, options.compares_stream_collectives);
  if (!collectives) return base::pass(collectives);
  collectives_ = std::move(*collectives);
  return synchronization_->sync_all("init");
}

base::Status Pe::finalize() noexcept {
  auto ended = barrier_all();
  connections_->node().leave();
  if (ended) synchronization_->wait_for_farewell();
  return ended;
}

Pe::~Pe() {
  if (connections_ == nullptr) return;
  const platform::DeviceScope scope(connections_->device());
  // GPU kernels on the application's streams may still use memory that is freed here. Their waits are bounded.
  (void)connections_->device().synchronize_all();
  collectives_.reset();
  streams_.reset();
  gpu_code_.reset();
  if (transfers_ != nullptr) transfers_->stop_proxy();
  connections_->close();
  transfers_.reset();
}

}  // namespace gdrkit::shmem_impl::core
