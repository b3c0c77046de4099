// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/job/watchdog.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::job {

Watchdog::Watchdog(std::string who, std::chrono::seconds limit, const char* option)
    : who_(std::move(who)), limit_(limit), option_(option), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Watchdog::begin(const std::string& step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  deadline_ = std::chrono::steady_clock::now() + limit_;
  changed_.notify_all();
}

void Watchdog::end() {
  const std::lock_guard lock(mutex_);
  step_.clear();
  changed_.notify_all();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    if (step_.empty()) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < deadline_) {
      changed_.wait_until(lock, deadline_);
    } else {
      // The hanging thread may hold the lock of stdout; stderr writes each line immediately.
      const std::string text = who_ + ": " + step_ + " did not complete within " + std::to_string(limit_.count()) +
                               " s; see the output of the other ranks, or increase " + option_ + "\n";
      std::fputs(cli::printable(text).c_str(), stderr);
      ::_exit(static_cast<int>(cli::ExitCode::failed));
    }
  }
}

}  // namespace gdrkit::transfer::job
