// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuCode: support for GPU kernels that call shmem: their state, cooperative launches, and timeouts of their waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "gdrkit/detail/shmem_private.h"
#include "platform/device/device.hpp"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/transfers.hpp"
#include "shmem/stream/stream_control.hpp"

namespace gdrkit::shmem_impl::parts {

/// Thread-safe.
class GpuCode {
 public:
  /// The caller must make the device current. `connections` and `transfers` must outlive the object.
  [[nodiscard]] static base::Result<std::unique_ptr<GpuCode>> make(Connections& connections, Transfers& transfers);
  GpuCode(const GpuCode&) = delete;
  GpuCode& operator=(const GpuCode&) = delete;

  /// Returns the state that GPU kernels on this PE's GPU read.
  [[nodiscard]] gdrkit_shmem_device_state state() const noexcept;
  /// From now on, waits of this PE's GPU kernels also end if another PE ends.
  base::Status watch_peers() noexcept { return control_->watch(); }
  /// Like watch_peers, and starts the proxy. GPU kernels can access PEs of other nodes only after this call.
  base::Status watch() noexcept;
  /// Fails with ETIMEDOUT if a wait of a GPU kernel timed out, and with ECONNRESET if it ended because a PE ended. Each
  /// such wait is reported once.
  base::Status check_waits() noexcept;

  /// Calls `fill` with the state while the GPU is current. Does nothing on the emulated device.
  base::Status fill_state(gdrkit_shmem_fill_state_t fill) noexcept;
  /// Finds a variable of `module`, a CUmodule.
  [[nodiscard]] base::Result<platform::Symbol> find_variable(void* module, const char* name) noexcept;
  /// Returns the CUmodule of `library`, a CUlibrary.
  [[nodiscard]] base::Result<void*> module_of(void* library) noexcept;
  /// Copies the state into the symbol gdrkit_shmem_state of `module`, a CUmodule.
  base::Status initialise_module(void* module) noexcept;
  /// The same for a CUlibrary.
  base::Status initialise_library(void* library) noexcept;
  /// Returns the maximum number of co-resident blocks of `function`, a CUfunction.
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
