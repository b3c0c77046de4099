// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EmulatedStream: the order of work of the emulated device, and EmulatedEvent, a mark in it.
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

/// The records of an event and which of them were reached. Shared, because streams wait for it after its owner
/// destroyed it.
class EmulatedEvent {
 public:
  /// The number of a new record, to be reached later.
  std::uint64_t begin_record() noexcept;
  void reach(std::uint64_t record) noexcept;  ///< stores the time
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

/// Runs its work in order. If nothing is queued, the caller runs short work itself, which avoids a thread switch. Other
/// work runs on a thread that starts with the first such work and ends with the stream.
class EmulatedStream {
 public:
  /// Its thread may run on `cpus`, independent of the CPUs of the thread that starts it.
  explicit EmulatedStream(const base::CpuSet& cpus) : cpus_(cpus) {}
  EmulatedStream(const EmulatedStream&) = delete;
  EmulatedStream& operator=(const EmulatedStream&) = delete;
  /// Waits for all work. In a forked child, which has no copy of the thread, it abandons the state.
  ~EmulatedStream();

  /// Throws std::bad_alloc, std::system_error (no more threads).
  void submit(std::function<void()> work);            ///< may be complete on return
  void submit_to_thread(std::function<void()> work);  ///< always on the stream's thread, concurrently with the caller
  void synchronize();
  [[nodiscard]] bool is_finished();

 private:
  /// Separate from the stream, so that a forked child can abandon it as a whole: threads that the child lacks may hold
  /// its locks.
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
