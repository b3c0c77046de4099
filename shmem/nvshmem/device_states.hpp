// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DeviceStates: the states that GPU code of NVSHMEM reads in this process, one for each version of NVSHMEM in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "shmem/nvshmem/device_state.hpp"

namespace gdrkit::shmem_impl::nvshmem {

/// Thread-safe. Functions print their errors to stderr and return 0 or a negative errno.
class DeviceStates {
 public:
  [[nodiscard]] static DeviceStates& of_process() noexcept;

  /// Stores the address of nvshmemi_device_state_d and of the transport's state, which gdrkit does not use.
  using Locate = void (*)(void** state, void** transport_state);

  /// Fills the state of GPU code of that version. Collective over the job if it is the first of its version.
  int fill(const Version& version, Locate locate);
  /// The same for a CUmodule. Sets *is_nvshmem to whether the module has NVSHMEM's state; without it, does nothing.
  int fill_module(void* module, bool* is_nvshmem);

  /// Collective over the team's members.
  int add_team(std::int32_t handle);
  void remove_team(std::int32_t handle);
  /// Call it after a PE has ended.
  void forget_ended_pe();

 private:
  int find_or_make(const Version& version, const DeviceState** found);

  std::mutex mutex_;
  std::vector<std::unique_ptr<DeviceState>> states_;
  std::vector<std::int32_t> teams_;  // that a split made
};

}  // namespace gdrkit::shmem_impl::nvshmem
