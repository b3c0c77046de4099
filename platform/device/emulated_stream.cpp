// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/device/emulated_stream.hpp"

#include <unistd.h>

#include <ctime>
#include <utility>

namespace gdrkit::platform {

std::uint64_t EmulatedEvent::begin_record() noexcept { return recorded_.fetch_add(1, std::memory_order_acq_rel) + 1; }

void EmulatedEvent::reach(std::uint64_t record) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::lock_guard lock(mutex_);
  // Records of two streams may be reached in any order: the latest record counts.
  if (record < reached_) return;
  reached_ = record;
  reached_ns_ = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  changed_.notify_all();
}

void EmulatedEvent::wait_for(std::uint64_t record) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return reached_ >= record; });
}

std::int64_t EmulatedEvent::reached_ns() {
  const std::lock_guard lock(mutex_);
  return reached_ >= last_record() ? reached_ns_ : -1;
}

int EmulatedStream::own_process() noexcept { return ::getpid(); }

EmulatedStream::~EmulatedStream() {
  if (owner_ != own_process()) {
    (void)state_.release();
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
    state_->changed.notify_all();
  }
  if (state_->thread.joinable()) state_->thread.join();
}

void EmulatedStream::run(State& state) {
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return !state.is_running && (state.is_ending || !state.waiting.empty()); });
    if (state.waiting.empty()) return;
    const std::function<void()> work = std::move(state.waiting.front());
    state.waiting.pop_front();
    state.is_running = true;
    lock.unlock();
    work();
    lock.lock();
    state.is_running = false;
    state.changed.notify_all();
  }
}

void EmulatedStream::enqueue(std::function<void()> work) {
  if (!state_->thread.joinable()) {
    state_->thread = std::thread([state = state_.get(), cpus = cpus_] {
      (void)cpus.apply();  // if that fails, the thread stays on its creator's CPUs
      run(*state);
    });
  }
  state_->waiting.push_back(std::move(work));
  state_->changed.notify_all();
}

void EmulatedStream::submit(std::function<void()> work) {
  std::unique_lock lock(state_->mutex);
  if (state_->is_running || !state_->waiting.empty()) return enqueue(std::move(work));
  state_->is_running = true;
  lock.unlock();
  work();
  lock.lock();
  state_->is_running = false;
  state_->changed.notify_all();
}

void EmulatedStream::submit_to_thread(std::function<void()> work) {
  const std::lock_guard lock(state_->mutex);
  enqueue(std::move(work));
}

void EmulatedStream::synchronize() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->is_running && state_->waiting.empty(); });
}

bool EmulatedStream::is_finished() {
  const std::lock_guard lock(state_->mutex);
  return !state_->is_running && state_->waiting.empty();
}

}  // namespace gdrkit::platform
