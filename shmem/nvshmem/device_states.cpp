// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/nvshmem/device_states.hpp"

#include <gdrkit/detail/shmem_private.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

namespace gdrkit::shmem_impl::nvshmem {
namespace {

constexpr const char* lasting_advice = "compile the GPU code with gdrkit's nvshmem.h";

std::string text_of(const Version& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
}

/// One write(2), so that the lines of two PEs do not mix.
int report(int result, const std::string& text) {
  std::fputs((text + "\n").c_str(), stderr);
  return result;
}

int report_version(const Version& version) {
  std::string known;
  for (const StateLayout& layout : layouts) {
    known += (known.empty() ? "" : " and ") + std::to_string(layout.version.major) + "." +
             std::to_string(layout.version.minor);
  }
  return report(-EPROTO, "cannot initialize GPU code of NVSHMEM " + text_of(version) + ": gdrkit supports " + known +
                             "; " + lasting_advice);
}

int report_failure(const Version& version, int result) {
  const std::string cause = result == -EOPNOTSUPP
                                ? std::string(
                                      "the GPU cannot access the memory of all PEs; run them on one node with "
                                      "P2P access, or ") +
                                      lasting_advice
                                : gdrkit_shmem_last_error();
  return report(result, "cannot initialize GPU code of NVSHMEM " + text_of(version) + ": " + cause);
}

}  // namespace

// Never destroyed: programs finalize in their static destructors.
DeviceStates& DeviceStates::of_process() noexcept {
  static auto* const one = new DeviceStates;
  return *one;
}

int DeviceStates::find_or_make(const Version& version, const DeviceState** found) {
  const StateLayout* const layout = find_layout(version);
  if (layout == nullptr) return report_version(version);
  for (const auto& state : states_) {
    if (&state->layout() == layout) {
      *found = state.get();
      return 0;
    }
  }
  std::unique_ptr<DeviceState> made;
  int result = DeviceState::make(*layout, &made);
  for (const std::int32_t team : teams_) {
    if (result == 0) result = made->add_team(team);
  }
  if (result != 0) return report_failure(version, result);
  *found = made.get();
  states_.push_back(std::move(made));
  return 0;
}

int DeviceStates::fill(const Version& version, Locate locate) {
  const std::lock_guard lock(mutex_);
  const DeviceState* state = nullptr;
  if (const int result = find_or_make(version, &state); result != 0) return result;
  struct Found {
    Locate locate;
    void *state, *transport_state;
  } found{locate, nullptr, nullptr};
  int result = gdrkit_shmem_call_with_gpu(
      [](void* argument) {
        auto& one = *static_cast<Found*>(argument);
        one.locate(&one.state, &one.transport_state);
      },
      &found);
  if (result == 0 && found.state == nullptr) {
    return report(-ENOENT, "cannot initialize GPU code of NVSHMEM " + text_of(version) +
                               ": the program has no code for the PE's GPU; compile it for this GPU");
  }
  if (result == 0) result = gdrkit_shmem_copy_to_gpu(found.state, state->image().data(), state->layout().state_bytes);
  return result == 0 ? 0 : report_failure(version, result);
}

int DeviceStates::fill_module(void* module, bool* is_nvshmem) {
  void *target = nullptr, *version_address = nullptr;
  std::size_t bytes = 0;
  Version version{};
  *is_nvshmem = gdrkit_shmem_find_variable(module, "nvshmemi_device_state_d", &target, &bytes) == 0;
  if (!*is_nvshmem) return 0;
  int result = gdrkit_shmem_find_variable(module, "nvshmemi_device_lib_version_d", &version_address, nullptr);
  if (result == 0) result = gdrkit_shmem_copy_from_gpu(&version, version_address, sizeof version);
  if (result != 0) return report_failure(version, result);
  const std::lock_guard lock(mutex_);
  const DeviceState* state = nullptr;
  if (result = find_or_make(version, &state); result != 0) return result;
  if (bytes != state->layout().state_bytes) return report_version(version);
  result = gdrkit_shmem_copy_to_gpu(target, state->image().data(), bytes);
  return result == 0 ? 0 : report_failure(version, result);
}

int DeviceStates::add_team(std::int32_t handle) {
  if (handle == GDRKIT_SHMEM_TEAM_INVALID) return 0;
  const std::lock_guard lock(mutex_);
  teams_.push_back(handle);
  if (states_.empty()) return 0;
  int first = 0;
  for (const auto& state : states_) {
    const int result = state->add_team(handle);
    if (first == 0) first = result;
  }
  if (first != 0) {
    (void)report(first, "cannot describe team " + std::to_string(handle) + " to GPU code of NVSHMEM: " +
                            (first == -ERANGE ? "255 teams had its place before" : gdrkit_shmem_last_error()) +
                            "; create fewer teams");
  }
  // Also after a failure, because the other members wait. A member's GPU code may write into this PE's words only after
  // they are cleared.
  const int met = gdrkit_shmem_team_sync(handle);
  return first != 0 ? first : met;
}

void DeviceStates::remove_team(std::int32_t handle) {
  const std::lock_guard lock(mutex_);
  if (std::erase(teams_, handle) == 0) return;
  for (const auto& state : states_) (void)state->remove_team(handle);
}

void DeviceStates::forget_ended_pe() {
  const std::lock_guard lock(mutex_);
  if (gdrkit_shmem_my_pe() >= 0) return;
  states_.clear();
  teams_.clear();
}

}  // namespace gdrkit::shmem_impl::nvshmem
