// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The device that is current in the calling thread, for programs that expect NVSHMEM's rules
// (gdrkit_shmem_options::should_follow_current_device).
#pragma once

#include <atomic>
#include <optional>

#include "platform/device/cuda_calls.hpp"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem_impl::capi {

/// Returns the number of the current device, or nullopt if the thread has no current CUDA context. `calls` may be
/// nullptr: no driver.
[[nodiscard]] std::optional<int> current_device(const platform::CudaCalls* calls) noexcept;

/// Returns the device that the program chose, or nullopt if it chose none. Device 0 counts as not chosen: it is also
/// current in programs that only called some function of the CUDA runtime.
[[nodiscard]] std::optional<int> chosen_device(const platform::CudaCalls* calls) noexcept;
[[nodiscard]] inline std::optional<int> chosen_device() noexcept {
  const auto calls = platform::cuda_calls();
  return chosen_device(calls ? *calls : nullptr);
}

/// Warns once per process if a device other than the PE's is current in the calling thread.
class DeviceWarning {
 public:
  void enable() noexcept { is_enabled_.store(true, std::memory_order_relaxed); }
  /// `call`: what the warning names.
  void check(core::Pe& pe, const char* call) noexcept {
    if (is_enabled_.load(std::memory_order_relaxed)) warn_if_different(pe, call);
  }

 private:
  void warn_if_different(core::Pe& pe, const char* call) noexcept;

  std::atomic<bool> is_enabled_{false};
};

}  // namespace gdrkit::shmem_impl::capi
