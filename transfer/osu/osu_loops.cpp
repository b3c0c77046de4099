// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/osu_loops.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace gdrkit::transfer::osu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t reply_bytes = 4;  // as in OSU

engines::Window window_of(const Work& work) { return {work.window, work.has_own_buffers ? work.size_bytes : 0}; }

/// One iteration. It is chosen before the loop: messages take as little as 0.13 us.
using Operation = void (*)(const Part&, const Work&);

void ping(const Part& part, const Work& work) {
  part.engine->send(part.peer, work.size_bytes);
  part.engine->receive(part.peer, work.size_bytes);
}
void pong(const Part& part, const Work& work) {
  part.engine->receive(part.peer, work.size_bytes);
  part.engine->send(part.peer, work.size_bytes);
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

void exchange(const Part& part, const Work& work) {
  part.engine->exchange_window(part.peer, work.size_bytes, window_of(work));
}
void put_each(const Part& part, const Work& work) {
  part.engine->put(part.peer, work.size_bytes);
  part.engine->flush(part.peer);
}
void put_window(const Part& part, const Work& work) {
  for (int i = 0; i < work.window; ++i) part.engine->put(part.peer, work.size_bytes);
  part.engine->flush(part.peer);
}
void get_each(const Part& part, const Work& work) {
  part.engine->get(part.peer, work.size_bytes);
  part.engine->flush(part.peer);
}
void get_window(const Part& part, const Work& work) {
  for (int i = 0; i < work.window; ++i) part.engine->get(part.peer, work.size_bytes);
  part.engine->flush(part.peer);
}
void fetch_each(const Part& part, const Work&) { part.engine->fetch_add(part.peer); }
void pass_barrier(const Part& part, const Work&) { part.engine->barrier(); }
void run_collective(const Part& part, const Work& work) {
  part.engine->run_collective(work.test->collective, work.size_bytes);
}
void do_nothing(const Part&, const Work&) {}

Operation operation_of(const Part& part, const Work& work) {
  const Loop loop = work.test->loop;
  if (loop == Loop::barrier) return pass_barrier;
  if (work.test->is_of_all_ranks()) return run_collective;
  if (work.test->is_one_sided() && !part.is_first && loop != Loop::put_both) return do_nothing;
  switch (loop) {
    case Loop::ping_pong: return part.is_first ? ping : pong;
    case Loop::stream: return stream;
    case Loop::exchange: return exchange;
    case Loop::put_each: return put_each;
    case Loop::get_each: return get_each;
    case Loop::get_window: return get_window;
    case Loop::fetch_each: return fetch_each;
    default: return put_window;
  }
}

/// Divides the iterations into equal parts.
class Rounds {
 public:
  explicit Rounds(int iterations) : iterations_(iterations), count_(std::min(iterations, most_rounds)) { find_end(); }

  /// Whether a round ends with iteration `i`.
  [[nodiscard]] bool ends_with(int i) const { return i + 1 == end_; }
  void end(int i, double seconds) {
    seconds_.push_back(seconds / (i + 1 - first_));
    first_ = i + 1;
    find_end();
  }
  [[nodiscard]] std::vector<double> take() { return std::move(seconds_); }

 private:
  static constexpr int most_rounds = 8;

  void find_end() {
    const auto next = static_cast<std::int64_t>(seconds_.size() + 1);
    end_ = static_cast<int>((next * iterations_ + count_ - 1) / count_);
  }

  int iterations_;
  int count_;
  int first_ = 0;
  int end_ = 0;  // the iteration that follows the current round
  std::vector<double> seconds_;
};

/// Only the calls are timed. Each follows a barrier, so that no rank runs ahead.
Measured run_loop_of_all(const Part& part, const Work& work) {
  Measured measured;
  const Operation run = operation_of(part, work);
  Rounds rounds(work.iterations);
  double round_seconds = 0;
  part.engine->barrier();
  for (int i = -work.warmup; i < work.iterations; ++i) {
    const auto begin = Clock::now();
    run(part, work);
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

void run_once(const Part& part, const Work& work) { operation_of(part, work)(part, work); }

Measured run_loop(const Part& part, const Work& work) {
  if (work.test->is_of_all_ranks()) return run_loop_of_all(part, work);
  Measured measured;
  const Operation run = operation_of(part, work);
  part.engine->barrier();
  for (int i = 0; i < work.warmup; ++i) run(part, work);
  Rounds rounds(work.iterations);
  auto begin = Clock::now();
  auto round_begin = begin;
  const auto first = begin;
  for (int i = 0; i < work.iterations; ++i) {
    run(part, work);
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
