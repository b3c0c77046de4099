// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EmulatedStream: the work queue of an emulated stream. EmulatedEvent: a marker in such a queue.
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

/// Counts records and the records that were reached. Shared: streams may wait for it after its owner destroys it.
class EmulatedEvent {
 public:
  /// Returns the number of a new record, for reach() and wait_for().
  std::uint64_t begin_record() noexcept;
  void reach(std::uint64_t record) noexcept;  ///< stores the time
  void wait_for(std::uint64_t record);
  [[nodiscard]] std::uint64_t last_record() const noexcept { return recorded_.load(std::memory_order_acquire); }
  /// CLOCK_MONOTONIC time at which the last record was reached; -1 if it has not been reached.
  [[nodiscard]] std::int64_t reached_ns();

 private:
  std::atomic<std::uint64_t> recorded_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t reached_ = 0;
  std::int64_t reached_ns_ = -1;
};

/// Runs submitted work in order. The caller runs short work itself if the queue is empty: this avoids a thread switch.
/// A thread runs all other work; it starts with the first such work and ends with the stream.
class EmulatedStream {
 public:
  /// The thread may run on `cpus`, regardless of the CPUs of the thread that starts it.
  explicit EmulatedStream(const base::CpuSet& cpus) : cpus_(cpus) {}
  EmulatedStream(const EmulatedStream&) = delete;
  EmulatedStream& operator=(const EmulatedStream&) = delete;
  /// Waits for all work. In a forked child, which does not have the thread, does not wait and leaks the state.
  ~EmulatedStream();

  /// Both throw std::bad_alloc and std::system_error (no more threads).
  void submit(std::function<void()> work);            ///< may run the work before it returns
  void submit_to_thread(std::function<void()> work);  ///< always runs the work on the stream's thread
  void synchronize();
  [[nodiscard]] bool is_finished();

 private:
  /// Separate from the stream, so that a forked child can leak it: threads of the parent may hold its locks.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> waiting;
    bool is_running = false;
    bool is_ending = false;
    std::thread thread;
  };
  static void run(State& state);
  void enqueue(std::function<void()> work);  // the caller holds the lock

  static int own_process() noexcept;

  std::unique_ptr<State> state_ = std::make_unique<State>();
  int owner_ = own_process();
  base::CpuSet cpus_;
};

}  // namespace gdrkit::platform
