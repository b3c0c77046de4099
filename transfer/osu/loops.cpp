// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/loops.hpp"

#include <chrono>

namespace gdrkit::tools::osu {
namespace {

constexpr std::size_t answer_bytes = 4;  // as OSU's

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
    part.engine->send_window(part.peer, work.size_bytes, work.window);
    part.engine->receive(part.peer, answer_bytes);
  } else {
    part.engine->receive_window(part.peer, work.size_bytes, work.window);
    part.engine->send(part.peer, answer_bytes);
  }
}

void one_sided(const Part& part, const Work& work) {
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

}  // namespace

void run_once(const Part& part, const Work& work) {
  switch (work.test->loop) {
    case Loop::ping_pong: return ping_pong(part, work);
    case Loop::stream: return stream(part, work);
    case Loop::exchange: return part.engine->exchange_window(part.peer, work.size_bytes, work.window);
    default: return one_sided(part, work);
  }
}

Measured run_loop(const Part& part, const Work& work) {
  using Clock = std::chrono::steady_clock;
  Measured measured;
  part.engine->barrier();
  for (int i = 0; i < work.warmup; ++i) run_once(part, work);
  auto begin = Clock::now();
  const auto first = begin;
  for (int i = 0; i < work.iterations; ++i) {
    run_once(part, work);
    if (!work.times_each) continue;
    const auto now = Clock::now();
    measured.each_seconds.push_back(std::chrono::duration<double>(now - begin).count());
    begin = now;
  }
  if (part.is_first) measured.seconds = std::chrono::duration<double>(Clock::now() - first).count();
  part.engine->barrier();
  return measured;
}

}  // namespace gdrkit::tools::osu
