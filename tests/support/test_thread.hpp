// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TestThread: a thread that cannot end the test program, either by an exception or by an early return of the test.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <thread>
#include <utility>

namespace gdrkit::tests {

/// Runs body(is_over), which must return soon after `is_over` becomes true. An exception that leaves it fails the test.
/// The destructor stops and joins the thread, so declare what the body uses before it.
class TestThread {
 public:
  template <class Body>
  explicit TestThread(Body body)
      : thread_([this, body = std::move(body)]() mutable {
          try {
            body(std::as_const(is_over_));
          } catch (const std::exception& thrown) {
            ADD_FAILURE() << "a thread of the test threw: " << thrown.what();
          }
          has_ended_ = true;
        }) {}
  TestThread(const TestThread&) = delete;
  TestThread& operator=(const TestThread&) = delete;
  ~TestThread() { stop(); }

  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
  void stop() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> is_over_{false};
  std::atomic<bool> has_ended_{false};
  std::thread thread_;  // last: it uses the other members
};

}  // namespace gdrkit::tests
