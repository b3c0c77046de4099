// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CudaThreads: CUDA's state of each thread: its stack of contexts, its stream-capture mode, and its active captures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <thread>
#include <vector>

namespace gdrkit::fakes {

enum class CaptureMode : int { global = 0, thread_local_only = 1, relaxed = 2 };

/// Not thread safe; "this thread" is the caller.
class CudaThreads {
 public:
  [[nodiscard]] std::uint64_t current() const {
    const auto found = threads_.find(std::this_thread::get_id());
    return found == threads_.end() || found->second.contexts.empty() ? 0 : found->second.contexts.back();
  }
  void push(std::uint64_t context) { mine().contexts.push_back(context); }
  [[nodiscard]] bool pop() {
    auto& contexts = mine().contexts;
    if (contexts.empty()) return false;
    contexts.pop_back();
    return true;
  }
  [[nodiscard]] std::size_t depth() const {
    const auto found = threads_.find(std::this_thread::get_id());
    return found == threads_.end() ? 0 : found->second.contexts.size();
  }

  [[nodiscard]] CaptureMode exchange_mode(CaptureMode mode) {
    const CaptureMode before = mine().mode;
    mine().mode = mode;
    return before;
  }
  [[nodiscard]] CaptureMode mode() const {
    const auto found = threads_.find(std::this_thread::get_id());
    return found == threads_.end() ? CaptureMode::global : found->second.mode;
  }

  void begin_capture(CaptureMode mode) { mine().captures.push_back({mode, true}); }
  /// Returns false if a forbidden call invalidated the capture.
  [[nodiscard]] bool end_capture() {
    const bool is_valid = mine().captures.back().is_valid;
    mine().captures.pop_back();
    return is_valid;
  }
  /// Called by functions that are unsafe during capture. Returns true if the call is forbidden now, and invalidates the
  /// captures.
  [[nodiscard]] bool disturbs_capture() {
    const CaptureMode mine_now = mode();
    if (mine_now == CaptureMode::relaxed) return false;
    bool is_forbidden = false;
    for (auto& [id, thread] : threads_) {
      for (Capture& capture : thread.captures) {
        const bool is_own = id == std::this_thread::get_id() && capture.mode != CaptureMode::relaxed;
        const bool is_foreign = mine_now == CaptureMode::global && capture.mode == CaptureMode::global;
        if (!is_own && !is_foreign) continue;
        capture.is_valid = false;
        is_forbidden = true;
      }
    }
    return is_forbidden;
  }

 private:
  struct Capture {
    CaptureMode mode;
    bool is_valid;
  };
  struct Thread {
    std::vector<std::uint64_t> contexts;
    CaptureMode mode = CaptureMode::global;
    std::vector<Capture> captures;
  };
  Thread& mine() { return threads_[std::this_thread::get_id()]; }

  std::map<std::thread::id, Thread> threads_;
};

}  // namespace gdrkit::fakes
