// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Violations: errors of the code under test that work by luck; a test fails if there is any.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gdrkit::fakes {

class Violations {
 public:
  void add(std::string text) {
    const std::lock_guard lock(mutex_);
    list_.push_back(std::move(text));
  }
  [[nodiscard]] std::vector<std::string> list() const {
    const std::lock_guard lock(mutex_);
    return list_;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    list_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> list_;
};

}  // namespace gdrkit::fakes
