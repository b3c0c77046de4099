// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ProcessGroup: the processes of one test, started by a launcher, and their communication apart from the measurement.
// It is a job of libgdrkit_shmem, which supports every launcher.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "transfer/job/pe_session.hpp"

namespace gdrkit::transfer::job {

class ProcessGroup {
 public:
  /// Texts that are gathered are cut to this.
  static constexpr std::size_t most_text_bytes = 1000;

  /// Collective, as all functions here are; each throws Failure that names the process which is missing or gone.
  explicit ProcessGroup(std::chrono::seconds limit);
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  ~ProcessGroup() = default;

  [[nodiscard]] int process() const noexcept { return session_.pe(); }
  [[nodiscard]] int n_processes() const noexcept { return session_.n_pes(); }
  [[nodiscard]] bool is_first() const noexcept { return process() == 0; }
  [[nodiscard]] PeSession& session() noexcept { return session_; }

  void barrier();
  /// By process.
  [[nodiscard]] std::vector<double> gather(double value);
  [[nodiscard]] std::vector<std::string> gather(const std::string& text);
  /// Of any bytes. Throws Failure, naming `what`, where a process has too many.
  [[nodiscard]] std::vector<std::string> gather_bytes(const std::string& bytes, const char* what);
  /// The first process's bytes, at most most_text_bytes, for all.
  void share(void* bytes, std::size_t size_bytes);
  void end();

 private:
  static constexpr std::size_t slot_bytes = 4096;

  [[nodiscard]] std::vector<char> all_gather(const void* bytes, std::size_t size_bytes);

  PeSession session_;
  char* slots_ = nullptr;  // symmetric: slot i is written by process i
};

}  // namespace gdrkit::transfer::job
