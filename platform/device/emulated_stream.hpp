// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EmulatedStream: the emulated device's order of work, and EmulatedEvent, a mark in it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/cpu_set.hpp"

namespace gdrkit::platform {

/// What is recorded and what of it was reached. Shared: streams wait for it after its owner destroyed it.
class EmulatedEvent {
 public:
  /// The number of a new record, to be reached later.
  std::uint64_t begin_record() noexcept;
  void reach(std::uint64_t record) noexcept;  ///< takes the time
  void wait_for(std::uint64_t record);
  [[nodiscard]] std::uint64_t last_record() const noexcept { return recorded_.load(std::memory_order_acquire); }
  /// CLOCK_MONOTONIC at which the last record was reached; -1 before that.
  [[nodiscard]] std::int64_t reached_ns();

 private:
  std::atomic<std::uint64_t> recorded_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t reached_ = 0;
  std::int64_t reached_ns_ = -1;
};

/// Runs what it is given one after the other. Short work is done by the caller when nothing is before it, as that costs
/// no switch of threads; all else by a thread that starts with the first such work and ends with the stream.
class EmulatedStream {
 public:
  /// Its thread may run on `cpus`, wherever the thread that starts it is bound to then.
  explicit EmulatedStream(const base::CpuSet& cpus) : cpus_(cpus) {}
  EmulatedStream(const EmulatedStream&) = delete;
  EmulatedStream& operator=(const EmulatedStream&) = delete;
  /// Waits for all work. In a forked child, which has no copy of the thread, leaves it.
  ~EmulatedStream();

  /// Throws std::bad_alloc, std::system_error (no more threads).
  void submit(std::function<void()> work);         ///< may be done when this returns
  void submit_beside(std::function<void()> work);  ///< always on the stream's thread, beside the caller
  void synchronize();
  [[nodiscard]] bool is_finished();

 private:
  /// Apart from the stream, so that a forked child can leave it whole: its locks may be held by threads it lacks.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> waiting;
    bool is_running = false;
    bool is_ending = false;
    std::thread thread;
  };
  static void run(State& state);
  void enqueue(std::function<void()> work);  // under the lock

  static int own_process() noexcept;

  std::unique_ptr<State> state_ = std::make_unique<State>();
  int owner_ = own_process();
  base::CpuSet cpus_;
};

}  // namespace gdrkit::platform
