// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ProcessGroup: the processes that a launcher started for one test, and their communication outside the measurement. It
// is a job of libgdrkit_shmem, which supports every launcher.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "transfer/job/pe_session.hpp"

namespace gdrkit::transfer::job {

class ProcessGroup {
 public:
  /// Longer texts are truncated to this.
  static constexpr std::size_t most_text_bytes = 1000;

  /// Collective, like all functions here. Each throws Failure with the process that is missing or has ended.
  explicit ProcessGroup(std::chrono::seconds limit);
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  ~ProcessGroup() = default;

  [[nodiscard]] int process() const noexcept { return session_.pe(); }
  [[nodiscard]] int n_processes() const noexcept { return session_.n_pes(); }
  [[nodiscard]] bool is_first() const noexcept { return process() == 0; }
  [[nodiscard]] PeSession& session() noexcept { return session_; }

  void barrier();
  /// Returns the values by process.
  [[nodiscard]] std::vector<double> gather(double value);
  [[nodiscard]] std::vector<std::string> gather(const std::string& text);
  /// The same for any bytes. Throws Failure with `what` if a process has too many.
  [[nodiscard]] std::vector<std::string> gather_bytes(const std::string& bytes, const char* what);
  /// Copies the first process's bytes, at most most_text_bytes, to all.
  void share(void* bytes, std::size_t size_bytes);
  void end();

 private:
  static constexpr std::size_t slot_bytes = 4096;

  [[nodiscard]] std::vector<char> all_gather(const void* bytes, std::size_t size_bytes);

  PeSession session_;
  char* slots_ = nullptr;  // symmetric: slot i is written by process i
};

}  // namespace gdrkit::transfer::job
