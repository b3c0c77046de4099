// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <vector>

namespace gdrkit::tests {

/// The application's all-gather, for threads of one process.
class ThreadAllgather {
 public:
  explicit ThreadAllgather(int n) : n_(static_cast<std::size_t>(n)) {}

  int gather(std::size_t pe, const void* mine, std::size_t size_bytes, void* all) {
    std::unique_lock lock(mutex_);
    if (arrived_ == 0) bytes_.assign(n_ * size_bytes, 0);
    std::memcpy(bytes_.data() + pe * size_bytes, mine, size_bytes);
    const std::size_t round = round_;
    if (++arrived_ == n_) {
      result_ = bytes_;
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
    } else if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return round_ != round; })) {
      return 1;
    }
    std::memcpy(all, result_.data(), n_ * size_bytes);
    return 0;
  }

 private:
  const std::size_t n_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t arrived_ = 0;
  std::size_t round_ = 0;
  std::vector<char> bytes_;
  std::vector<char> result_;
};

}  // namespace gdrkit::tests
