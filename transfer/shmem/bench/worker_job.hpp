// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// WorkerJob: the workers of one library, one for each PE, as bench commands them.
#pragma once

#include <sys/types.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "transfer/shmem/bench/case.hpp"
#include "transfer/shmem/bench/peer_files.hpp"
#include "transfer/shmem/bench/wire.hpp"

namespace gdrkit::transfer::shmem {

/// A worker's process ended, or a call in it failed: the message names library and PE.
class WorkerFailure : public std::runtime_error {
 public:
  WorkerFailure(std::string library, const std::string& text)
      : std::runtime_error(text), library_(std::move(library)) {}
  [[nodiscard]] const std::string& library() const noexcept { return library_; }

 private:
  std::string library_;
};

class WorkerJob {
 public:
  /// `library`: "gdrkit" or "nvshmem". Starts nothing.
  WorkerJob(std::string library, PeerFiles files, int n_pes, std::size_t largest_bytes);
  WorkerJob(const WorkerJob&) = delete;
  WorkerJob& operator=(const WorkerJob&) = delete;
  ~WorkerJob();  ///< ends the processes in any state

  [[nodiscard]] const std::string& library() const noexcept { return library_; }
  [[nodiscard]] const std::string& version() const noexcept { return version_; }
  [[nodiscard]] const std::vector<int>& devices() const noexcept { return devices_; }

  // All throw WorkerFailure.
  /// Starts the processes, and performs init, the first put and its quiet. Returns the time in nanoseconds. Then
  /// prepares the cases, untimed.
  double start();
  void end();
  /// Of what the library reserves for reductions, 0: its own choice. Starts it again where that changes.
  void set_scratch(std::size_t size_bytes);
  /// Why the library cannot do it, a clause: "this library has no host API for: ..."; "" if it can.
  [[nodiscard]] std::string why_not(std::size_t case_number, std::size_t size_bytes);
  /// Returns nanoseconds per operation, of `count` operations, measured by PE 0.
  double run_batch(std::size_t case_number, std::size_t size_bytes, std::size_t count);
  [[nodiscard]] measure::Single run_singles(std::size_t case_number, std::size_t size_bytes, std::size_t count);

 private:
  struct Process {
    pid_t id = -1;
    int socket = -1;
    int output = -1;  ///< a file in memory: what it prints, shown once it has ended
  };
  void launch(int pe);
  void send(int pe, const Request& request);
  /// EOPNOTSUPP in the reply's code is the only failure that does not throw.
  Reply receive(int pe);
  /// Sends a request to all PEs, or to PE 0 for one-sided cases. Returns PE 0's reply.
  Reply request_result(const Request& request);
  void kill_all() noexcept;
  /// Waits for the processes, which end, and shows what they have printed.
  void reap() noexcept;
  [[nodiscard]] std::string name_of(int pe) const;
  [[noreturn]] void fail(const std::string& text) const;

  std::string library_;
  PeerFiles files_;
  int n_pes_;
  std::size_t largest_bytes_;
  std::size_t scratch_bytes_ = 0;
  std::string version_;
  std::vector<int> devices_;
  std::vector<Process> processes_;
};

}  // namespace gdrkit::transfer::shmem
