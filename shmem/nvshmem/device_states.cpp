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

constexpr const char* recompile = "compile the GPU code with gdrkit's nvshmem.h";

std::string text_of(const Version& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
}

/// The cause of a failed function of DeviceState, and what to do.
std::string cause_of(int result) {
  if (result == -EOPNOTSUPP) {
    return std::string(
               "the GPU cannot access the memory of all PEs; run the job on one node whose GPUs have P2P access, or ") +
           recompile;
  }
  if (result == -ERANGE) {
    return "255 teams had its slot before; use a team again instead of destroying it and creating another";
  }
  return gdrkit_shmem_last_error();
}

std::string cause_for_team(std::int32_t handle, int result) {
  return "cannot describe team " + std::to_string(handle) + " to GPU code of NVSHMEM: " + cause_of(result);
}

/// Prints a line and returns `result`. One write(2), so that the lines of two PEs do not mix.
int report(int result, const std::string& text) {
  std::fputs((text + "\n").c_str(), stderr);
  return result;
}

int report_code(int result, const Version& version, const std::string& cause) {
  return report(result, "cannot initialize GPU code of NVSHMEM " + text_of(version) + ": " + cause);
}

int report_unknown_version(const Version& version) {
  std::string known;
  for (const StateLayout& layout : layouts) {
    known += (known.empty() ? "" : " and ") + std::to_string(layout.version.major) + "." +
             std::to_string(layout.version.minor);
  }
  return report_code(-EPROTO, version,
                     "gdrkit supports NVSHMEM " + known +
                         "; compile the GPU code with one of them, or with gdrkit's "
                         "nvshmem.h");
}

}  // namespace

// Never destroyed: programs finalize in their static destructors.
DeviceStates& DeviceStates::of_process() noexcept {
  static auto* const one = new DeviceStates;
  return *one;
}

int DeviceStates::find_or_make(const Version& version, const DeviceState** found) {
  const StateLayout* const layout = find_layout(version);
  if (layout == nullptr) return report_unknown_version(version);
  for (const auto& state : states_) {
    if (&state->layout() == layout) {
      *found = state.get();
      return 0;
    }
  }
  for (const Failure& failure : failures_) {
    if (failure.layout == layout) return report_code(failure.result, version, failure.cause);
  }
  std::unique_ptr<DeviceState> made;
  std::string cause;
  int result = DeviceState::make(*layout, &made);
  if (result != 0) cause = cause_of(result);
  for (const std::int32_t team : teams_) {
    if (result != 0) break;
    result = made->add_team(team);
    if (result != 0) cause = cause_for_team(team, result);
  }
  if (result != 0) {
    failures_.push_back({layout, result, cause});
    return report_code(result, version, cause);
  }
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
    return report_code(-ENOENT, version, "the program has no code for the PE's GPU; compile it for this GPU");
  }
  if (result == 0) result = gdrkit_shmem_copy_to_gpu(found.state, state->image().data(), state->layout().state_bytes);
  return result == 0 ? 0 : report_code(result, version, gdrkit_shmem_last_error());
}

int DeviceStates::fill_module(void* module, bool* is_nvshmem) {
  void *target = nullptr, *version_address = nullptr;
  std::size_t bytes = 0;
  Version version{};
  *is_nvshmem = gdrkit_shmem_find_variable(module, "nvshmemi_device_state_d", &target, &bytes) == 0;
  if (!*is_nvshmem) return 0;
  int result = gdrkit_shmem_find_variable(module, "nvshmemi_device_lib_version_d", &version_address, nullptr);
  if (result == 0) result = gdrkit_shmem_copy_from_gpu(&version, version_address, sizeof version);
  if (result != 0)
    return report(result, std::string("cannot initialize the CUDA module: ") + gdrkit_shmem_last_error());
  const std::lock_guard lock(mutex_);
  const DeviceState* state = nullptr;
  if (result = find_or_make(version, &state); result != 0) return result;
  if (const std::size_t expected = state->layout().state_bytes; bytes != expected) {
    return report_code(-EPROTO, version,
                       "nvshmemi_device_state_d has " + std::to_string(bytes) + " bytes in the module instead of " +
                           std::to_string(expected) + "; compile the module with NVSHMEM " +
                           text_of(state->layout().version));
  }
  result = gdrkit_shmem_copy_to_gpu(target, state->image().data(), bytes);
  return result == 0 ? 0 : report_code(result, version, gdrkit_shmem_last_error());
}

int DeviceStates::add_team(std::int32_t handle) {
  if (handle == GDRKIT_SHMEM_TEAM_INVALID) return 0;
  const std::lock_guard lock(mutex_);
  teams_.push_back(handle);
  if (states_.empty()) return 0;
  int first = 0;
  for (const auto& state : states_) {
    const int result = state->add_team(handle);
    if (result != 0 && first == 0) first = report(result, cause_for_team(handle, result));
  }
  // Also after a failure, because the other members wait. A member's GPU code may write into this PE's words only after
  // they are cleared.
  const int synchronized = gdrkit_shmem_team_sync(handle);
  if (first != 0 || synchronized == 0) return first;
  return report(synchronized,
                std::string("cannot synchronize the members of a new team: ") + gdrkit_shmem_last_error());
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
  failures_.clear();
  teams_.clear();
}

}  // namespace gdrkit::shmem_impl::nvshmem
