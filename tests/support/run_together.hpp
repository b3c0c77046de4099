// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <thread>
#include <vector>

namespace gdrkit::tests {

/// Runs `body(i)` in `count` threads that start together. Returns when all have ended.
template <class Count, class Body>
void run_together(Count count, const Body& body) {
  std::atomic<Count> waiting{count};
  std::vector<std::thread> threads;
  for (Count i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting != 0) std::this_thread::yield();
      body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace gdrkit::tests
