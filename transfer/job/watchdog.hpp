// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Watchdog: ends the process if a step takes too long, even if it hangs inside a library.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace gdrkit::transfer::job {

/// Calls of communication libraries wait for other ranks without a limit, and only the end of the process ends them.
class Watchdog {
 public:
  /// `who` is the prefix of the error message: "gdrkit nccl: rank 0 of 2". `option` sets the limit.
  Watchdog(std::string who, std::chrono::seconds limit, const char* option);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// Ends the previous step. If the new one exceeds the limit, prints an error message with its name and the remedy,
  /// and exits with code 1.
  void begin(const std::string& step);
  void end();

 private:
  void watch();

  const std::string who_;
  const std::chrono::seconds limit_;
  const char* const option_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string step_;  // "": no step to watch
  std::chrono::steady_clock::time_point deadline_{};
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace gdrkit::transfer::job
