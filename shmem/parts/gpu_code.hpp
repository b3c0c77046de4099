// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuCode: what a PE does for GPU kernels that use it: their state, their launch, and the end of their waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "platform/device/device.hpp"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/transfers.hpp"
#include "shmem/stream/stream_control.hpp"

namespace gdrkit::shmem_impl::parts {

/// Thread-safe.
class GpuCode {
 public:
  /// The device is current. Both must outlive it.
  [[nodiscard]] static base::Result<std::unique_ptr<GpuCode>> make(Connections& connections, Transfers& transfers);
  GpuCode(const GpuCode&) = delete;
  GpuCode& operator=(const GpuCode&) = delete;

  /// What GPU kernels on this PE's GPU need to know of it.
  [[nodiscard]] gdrkit_shmem_device_state state() const noexcept;
  /// From now on another PE's end also ends the waits of this PE's GPU kernels.
  base::Status watch_peers() noexcept { return control_->watch(); }
  /// The same, and they reach PEs of other machines: call it before any may do so.
  base::Status watch() noexcept;
  /// ETIMEDOUT: a wait of a GPU kernel gave up; ECONNRESET: it did because a PE has ended. Each is reported once.
  base::Status check_waits() noexcept;

  /// Calls it with the state and the GPU current. Does nothing on the emulated device.
  base::Status fill_state(gdrkit_shmem_fill_state_t fill) noexcept;
  /// A CUmodule: its symbol gdrkit_shmem_state gets the state.
  base::Status initialise_module(void* module) noexcept;
  /// A CUfunction: how many of its blocks run at once, and a launch of blocks that do.
  [[nodiscard]] base::Result<int> cooperative_blocks(void* function, unsigned threads,
                                                     std::size_t shared_bytes) noexcept;
  base::Status launch_cooperative(void* function, const platform::CooperativeShape& shape, void* stream,
                                  void** parameters) noexcept;

 private:
  GpuCode(Connections& connections, Transfers& transfers, std::unique_ptr<stream::StreamControl> control) noexcept
      : connections_(connections), transfers_(transfers), control_(std::move(control)) {}

  Connections& connections_;
  Transfers& transfers_;
  const std::unique_ptr<stream::StreamControl> control_;
};

}  // namespace gdrkit::shmem_impl::parts
