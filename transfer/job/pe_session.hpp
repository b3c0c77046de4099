// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PeSession: this process as one PE of a job, from init to finalize, with its GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/device_choice.hpp"
#include "gdrkit/shmem.h"
#include "platform/device/device.hpp"

namespace gdrkit::transfer::job {

/// "what: the library's error message".
[[nodiscard]] std::string last_error(const std::string& what);
/// Throws Failure(failed) with the library's error message.
void require(int code, const char* what);

/// How the PEs connect if no launcher's environment specifies it.
struct JobMembership {
  gdrkit_shmem_unique_id_t id{};
  int pe = 0;
  int n_pes = 1;
};

struct SessionRequest {
  std::optional<JobMembership> membership;  ///< empty: the launcher's environment
  std::uint64_t heap_bytes = 0;             ///< 0: the library's default
  std::uint64_t heap_max_bytes = 0;
  std::uint32_t timeout_ms = 0;
};

/// The destructor ends the PE, collectively. A PE that fails before end() leaves without waiting for the others.
class PeSession {
 public:
  /// Collective. Throws Failure.
  explicit PeSession(const SessionRequest& request);
  PeSession(const PeSession&) = delete;
  PeSession& operator=(const PeSession&) = delete;
  ~PeSession() = default;
  /// Collective. Throws Failure.
  void end();

  [[nodiscard]] int pe() const noexcept { return info_.pe; }
  [[nodiscard]] int n_pes() const noexcept { return info_.n_pes; }
  [[nodiscard]] gdrkit_shmem_info info() const;  ///< the current state
  [[nodiscard]] const cli::DeviceChoice& choice() const noexcept { return choice_; }
  /// The PE's GPU, usable like in any CUDA program.
  [[nodiscard]] platform::Device& device() noexcept { return *device_; }

 private:
  cli::DeviceChoice choice_;
  gdrkit_shmem_info info_{};
  std::unique_ptr<platform::Device> device_;
};

/// Initializes CUDA, after the library has prepared UCX if PEs may be on several machines. Throws Failure.
[[nodiscard]] cli::DeviceChoice choose_device_after_ucx();

/// Replaces this process by `gdrkit run -n n_pes -- gdrkit <words>`. Throws Failure(failed).
[[noreturn]] void start_job(int n_pes, const std::vector<std::string>& words);

}  // namespace gdrkit::transfer::job
