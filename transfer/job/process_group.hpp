// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ProcessGroup: the processes that a launcher started for one test, their GPUs, and their communication outside the
// measurement.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/interface/device_choice.hpp"
#include "platform/device/device.hpp"
#include "transfer/job/pe_session.hpp"

namespace gdrkit::transfer::job {

/// It connects as the PEs of libgdrkit_shmem do, with every launcher and variable that these support, but starts no
/// job of the library.
class ProcessGroup {
 public:
  /// Longer texts are truncated to this.
  static constexpr std::size_t most_text_bytes = 1000;

  /// Collective, like all functions here. Each throws Failure with the process that is missing or has ended. `program`
  /// is the prefix of the message.
  ProcessGroup(std::string program, std::chrono::seconds limit);
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  ~ProcessGroup();

  [[nodiscard]] int process() const noexcept;
  [[nodiscard]] int n_processes() const noexcept;
  [[nodiscard]] bool is_first() const noexcept { return process() == 0; }
  /// Of this machine.
  [[nodiscard]] int local_index() const noexcept;
  [[nodiscard]] int n_local_processes() const noexcept;
  [[nodiscard]] bool is_on_one_machine() const noexcept { return n_local_processes() == n_processes(); }

  [[nodiscard]] const cli::DeviceChoice& choice() const noexcept { return choice_; }
  /// The GPU with the number local_index(), modulo the number of GPUs.
  [[nodiscard]] platform::Device& device() noexcept { return *device_; }

  /// In shared memory, or between machines by messages of the first process, which the others receive in turns.
  void barrier();
  /// Returns the values by process.
  [[nodiscard]] std::vector<double> gather(double value);
  [[nodiscard]] std::vector<std::string> gather(const std::string& text);
  /// The same for any bytes. `what` is for messages.
  [[nodiscard]] std::vector<std::string> gather_bytes(const std::string& bytes, const char* what);
  /// Copies the first process's bytes to all.
  void share(void* bytes, std::size_t size_bytes);
  /// Runs `check` in the first process. If it throws Failure, all processes throw Failure with its exit code. Without
  /// this, a process that waits for the first one could end before it, with another exit code for the launcher.
  void check_in_first(const std::function<void()>& check);
  /// How the processes form a job of libgdrkit_shmem.
  [[nodiscard]] SessionRequest shmem_request();
  void end();

 private:
  struct Connections;

  void check(const base::Status& status, const char* step) const;
  void all_gather(const void* mine, std::size_t size_bytes, void* all, const char* step);

  std::string program_;
  std::chrono::seconds limit_;
  cli::DeviceChoice choice_;
  std::unique_ptr<Connections> connections_;
  std::unique_ptr<platform::Device> device_;
};

}  // namespace gdrkit::transfer::job
