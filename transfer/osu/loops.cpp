// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/loops.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace gdrkit::transfer::osu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t reply_bytes = 4;  // as in OSU

engines::Window window_of(const Work& work) { return {work.window, work.has_own_buffers ? work.size_bytes : 0}; }

void ping_pong(const Part& part, const Work& work) {
  if (part.is_first) {
    part.engine->send(part.peer, work.size_bytes);
    part.engine->receive(part.peer, work.size_bytes);
  } else {
    part.engine->receive(part.peer, work.size_bytes);
    part.engine->send(part.peer, work.size_bytes);
  }
}

void stream(const Part& part, const Work& work) {
  if (part.is_first) {
    part.engine->send_window(part.peer, work.size_bytes, window_of(work));
    part.engine->receive(part.peer, reply_bytes);
  } else {
    part.engine->receive_window(part.peer, work.size_bytes, window_of(work));
    part.engine->send(part.peer, reply_bytes);
  }
}

void put_or_get(const Part& part, const Work& work) {
  const Loop loop = work.test->loop;
  if (!part.is_first && loop != Loop::put_both) return;
  if (loop == Loop::fetch_each) return part.engine->fetch_add(part.peer);
  const bool is_get = loop == Loop::get_each || loop == Loop::get_window;
  const int count = work.test->has_window() ? work.window : 1;
  for (int i = 0; i < count; ++i) {
    is_get ? part.engine->get(part.peer, work.size_bytes) : part.engine->put(part.peer, work.size_bytes);
  }
  part.engine->flush(part.peer);
}

/// Divides the iterations into equal parts.
class Rounds {
 public:
  explicit Rounds(int iterations) : iterations_(iterations), count_(std::min(iterations, most_rounds)) {}

  /// Whether a round ends with iteration `i`.
  [[nodiscard]] bool ends_with(int i) const {
    return static_cast<std::int64_t>(i + 1) * count_ / iterations_ >
           static_cast<std::int64_t>(i) * count_ / iterations_;
  }
  void end(int i, double seconds) {
    seconds_.push_back(seconds / (i + 1 - first_));
    first_ = i + 1;
  }
  [[nodiscard]] std::vector<double> take() { return std::move(seconds_); }

 private:
  static constexpr int most_rounds = 8;
  int iterations_;
  int count_;
  int first_ = 0;
  std::vector<double> seconds_;
};

/// Only the calls are timed. Each follows a barrier, so that no rank runs ahead.
Measured run_loop_of_all(const Part& part, const Work& work) {
  Measured measured;
  Rounds rounds(work.iterations);
  double round_seconds = 0;
  part.engine->barrier();
  for (int i = -work.warmup; i < work.iterations; ++i) {
    const auto begin = Clock::now();
    run_once(part, work);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (work.test->loop != Loop::barrier) part.engine->barrier();
    if (i < 0) continue;
    measured.seconds += seconds;
    round_seconds += seconds;
    if (rounds.ends_with(i)) rounds.end(i, std::exchange(round_seconds, 0.0));
    if (work.times_each) measured.each_seconds.push_back(seconds);
  }
  measured.round_seconds = rounds.take();
  part.engine->barrier();
  return measured;
}

}  // namespace

void run_once(const Part& part, const Work& work) {
  if (work.test->loop == Loop::barrier) return part.engine->barrier();
  if (work.test->is_of_all_ranks()) return part.engine->run_collective(work.test->collective(), work.size_bytes);
  switch (work.test->loop) {
    case Loop::ping_pong: return ping_pong(part, work);
    case Loop::stream: return stream(part, work);
    case Loop::exchange: return part.engine->exchange_window(part.peer, work.size_bytes, window_of(work));
    default: return put_or_get(part, work);
  }
}

Measured run_loop(const Part& part, const Work& work) {
  if (work.test->is_of_all_ranks()) return run_loop_of_all(part, work);
  Measured measured;
  part.engine->barrier();
  for (int i = 0; i < work.warmup; ++i) run_once(part, work);
  Rounds rounds(work.iterations);
  auto begin = Clock::now();
  auto round_begin = begin;
  const auto first = begin;
  for (int i = 0; i < work.iterations; ++i) {
    run_once(part, work);
    const bool ends_round = rounds.ends_with(i);
    if (!work.times_each && !ends_round) continue;
    const auto now = Clock::now();
    if (ends_round) {
      rounds.end(i, std::chrono::duration<double>(now - round_begin).count());
      round_begin = now;
    }
    if (!work.times_each) continue;
    measured.each_seconds.push_back(std::chrono::duration<double>(now - begin).count());
    begin = now;
  }
  if (part.is_first) measured.seconds = std::chrono::duration<double>(Clock::now() - first).count();
  measured.round_seconds = rounds.take();
  part.engine->barrier();
  return measured;
}

}  // namespace gdrkit::transfer::osu
