// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Watchdog: ends the process when a step takes too long, inside whatever library it hangs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace gdrkit::transfer::job {

/// Calls of communication libraries wait for other ranks without a limit, and nothing but the end of the process ends
/// them.
class Watchdog {
 public:
  /// `who` begins the error message: "gdrkit nccl: rank 0 of 2". `option` sets the limit.
  Watchdog(std::string who, std::chrono::seconds limit, const char* option);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// The step before is over. If this one is not within the limit, prints an error message with its name and what to
  /// do, and exits with 1.
  void begin(const std::string& step);
  void end();

 private:
  void watch();

  const std::string who_;
  const std::chrono::seconds limit_;
  const char* const option_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string step_;  // "": nothing to watch
  std::chrono::steady_clock::time_point deadline_{};
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace gdrkit::transfer::job
