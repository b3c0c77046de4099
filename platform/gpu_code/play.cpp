// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/gpu_code/play.hpp"

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "platform/host/stopwatch.hpp"

namespace gdrkit::platform {
namespace {

std::uint32_t load_of_all(std::uint64_t address) noexcept {
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).load(std::memory_order_acquire);
}
void store_for_all(std::uint64_t address, std::uint32_t value) noexcept {
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).store(value, std::memory_order_release);
}
void tell_end(std::uint64_t address, KernelEnd end) noexcept {
  store_for_all(address, static_cast<std::uint32_t>(end));
}

/// As the GPU kernels' wait. It gives the CPU away between looks: the one it waits for may need this very core.
template <class Condition>
bool wait_for(std::uint64_t address, std::uint64_t limit_ns, std::uint32_t* seen, Condition is_there) noexcept {
  constexpr int looks_per_yield = 64;
  const auto limit = static_cast<std::int64_t>(limit_ns < INT64_MAX ? limit_ns : INT64_MAX);
  const std::int64_t begin = now_ns();
  for (;;) {
    for (int look = 0; look < looks_per_yield; ++look) {
      *seen = load_of_all(address);
      if (is_there(*seen)) return true;
    }
    if (now_ns() - begin > limit) return false;
    ::sched_yield();
  }
}

KernelEnd play_rounds(const PingPongParameters& parameters, PingPongState* state, LaunchShape shape) noexcept {
  auto* data = reinterpret_cast<volatile std::uint32_t*>(parameters.data);
  const std::uint64_t words = parameters.data_bytes / sizeof(std::uint32_t);
  for (std::uint32_t round = 0; round < parameters.rounds; ++round) {
    const std::uint32_t value = parameters.first + round;
    const auto answer = [&] {
      if (words != 0 && shape.blocks > 1) state->arrivals += shape.blocks;
      store_for_all(parameters.pong, value);
    };
    if (parameters.is_gpu_first != 0) {
      for (std::uint64_t at = 0; at < words; ++at) data[at] = value;
      answer();
    }
    std::uint32_t seen = 0;
    const bool came = wait_for(parameters.ping, parameters.limit_ns, &seen,
                               [=](std::uint32_t word) { return word == value || word == stop_word; });
    if (!came) return KernelEnd::expired;
    if (seen == stop_word) return KernelEnd::stopped;
    if (parameters.is_gpu_first == 0) {
      for (std::uint64_t at = 0; at < words; ++at) state->mismatches += data[at] != value ? 1 : 0;
      answer();
    }
  }
  return KernelEnd::finished;
}

}  // namespace

void play_ping_pong(const PingPongParameters& parameters, LaunchShape shape) noexcept {
  auto* state = reinterpret_cast<PingPongState*>(parameters.state);
  const std::int64_t begin = now_ns();
  const KernelEnd end = play_rounds(parameters, state, shape);
  state->elapsed_ns = static_cast<std::uint64_t>(now_ns() - begin);
  tell_end(parameters.end, end);
}

void play_copy(const CopyParameters& parameters, LaunchShape) noexcept {
  for (std::uint32_t loop = 0; loop < parameters.loops; ++loop) {
    std::memcpy(reinterpret_cast<void*>(parameters.target), reinterpret_cast<const void*>(parameters.source),
                parameters.size_bytes);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // each loop's copy is made: nothing may leave one out
  }
}

void play_chase(const ChaseParameters& parameters, LaunchShape) noexcept {
  auto* state = reinterpret_cast<ChaseState*>(parameters.state);
  const std::int64_t begin = now_ns();
  std::uint64_t at = parameters.start;
  for (std::uint64_t step = 0; step < parameters.steps; ++step) at = *reinterpret_cast<volatile std::uint64_t*>(at);
  state->last = at;
  state->elapsed_ns = static_cast<std::uint64_t>(now_ns() - begin);
}

void play_gate(const GateParameters& parameters, LaunchShape) noexcept {
  std::uint32_t seen = 0;
  const bool is_open =
      wait_for(parameters.flag, parameters.limit_ns, &seen, [](std::uint32_t word) { return word != 0; });
  tell_end(parameters.end, is_open ? KernelEnd::finished : KernelEnd::expired);
}

void play_burn(const BurnParameters& parameters, LaunchShape) noexcept {
  constexpr std::size_t chunk_bytes = 65536;
  const std::int64_t begin = now_ns();
  auto* scratch = reinterpret_cast<volatile float*>(parameters.scratch);
  const std::size_t floats = parameters.scratch_bytes / sizeof(float);
  std::uint64_t passes = 0;
  std::size_t at = 0;
  KernelEnd end = KernelEnd::running;
  while (end == KernelEnd::running) {
    for (std::size_t i = 0; i < chunk_bytes / sizeof(float) && at < floats; ++i, ++at) {
      scratch[at] = scratch[at] * 0.999F + 1.0F;
    }
    if (at >= floats) {
      at = 0;
      ++passes;
    }
    if (load_of_all(parameters.stop) != 0) {
      end = KernelEnd::stopped;
    } else if (now_ns() - begin > static_cast<std::int64_t>(parameters.limit_ns)) {
      end = KernelEnd::expired;
    }
    ::sched_yield();
  }
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(parameters.passes)).store(passes, std::memory_order_relaxed);
  tell_end(parameters.end, end);
}

}  // namespace gdrkit::platform
