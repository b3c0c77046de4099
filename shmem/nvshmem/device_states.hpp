// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DeviceStates: the states that GPU code of NVSHMEM reads in this process, one for each version of NVSHMEM in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "shmem/nvshmem/device_state.hpp"

namespace gdrkit::shmem_impl::nvshmem {

/// Thread-safe. Functions that return an int print their errors to stderr and return 0 or a negative errno.
class DeviceStates {
 public:
  [[nodiscard]] static DeviceStates& of_process() noexcept;

  /// Stores the addresses of nvshmemi_device_state_d and of the transport's state. gdrkit does not use the latter.
  using Locate = void (*)(void** state, void** transport_state);

  /// Fills the state of GPU code of that version. Collective over the job for the first GPU code of a version: all PEs
  /// must initialize the versions in the same order. A failure of that call is permanent until the PE ends, because
  /// another attempt would wait for the PEs that succeeded.
  int fill(const Version& version, Locate locate);
  /// The same for a CUmodule. Sets *is_nvshmem to whether the module has NVSHMEM's state. Without it, does nothing and
  /// returns 0.
  int fill_module(void* module, bool* is_nvshmem);

  /// Describes a team that a split made. Collective over its members. After a failure, the team remains usable by the
  /// CPU, and its members must destroy it.
  int add_team(std::int32_t handle);
  /// Call it on each member after the team was destroyed.
  void remove_team(std::int32_t handle);
  /// Call it after a PE has ended.
  void forget_ended_pe();

 private:
  struct Failure {
    const StateLayout* layout;
    int result;
    std::string cause;
  };

  int find_or_make(const Version& version, const DeviceState** found);

  std::mutex mutex_;
  std::vector<std::unique_ptr<DeviceState>> states_;
  std::vector<Failure> failures_;
  std::vector<std::int32_t> teams_;  // that a split made
};

}  // namespace gdrkit::shmem_impl::nvshmem
