// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ping_pong: answers the CPU, round after round.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(ping_pong, PingPongParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <cstdint>

namespace gdrkit::platform {

/// What ping_pong counts, in device memory. The launcher sets it to zeros.
struct PingPongState {
  std::uint32_t arrivals;    ///< of blocks, all rounds together
  std::uint32_t mismatches;  ///< words of data that did not hold the round's value
  std::uint64_t elapsed_ns;  ///< by the GPU's clock, of all rounds
};

/// One side of a ping-pong. Round i is played with the value first + i. The CPU's side writes it to `ping` (after
/// filling the data with it); the GPU's waits for it there, looks at the data, and answers with it in `pong`. With
/// is_gpu_first the GPU fills the data and writes `pong`, and then waits for `ping`.
struct PingPongParameters {
  std::uint64_t ping;        ///< a 32-bit word that the GPU polls
  std::uint64_t pong;        ///< a 32-bit word that the CPU polls
  std::uint64_t data;        ///< 0 without data
  std::uint64_t data_bytes;  ///< a multiple of 4
  std::uint64_t state;       ///< PingPongState
  std::uint64_t end;         ///< KernelEnd, where the CPU can read it while the GPU kernel runs
  std::uint64_t limit_ns;    ///< for each wait
  std::uint32_t first;
  std::uint32_t rounds;
  std::uint32_t is_gpu_first;
  std::uint32_t unused;
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/device_access.cuh"

namespace gdrkit::platform {

/// The GPU's side of a ping-pong of flags alone, by one thread. No data is ordered by a flag, so relaxed accesses do;
/// the answer depends on the poll, so it cannot be early.
__device__ inline KernelEnd play_flags(const PingPongParameters& parameters) {
  for (std::uint32_t round = 0; round < parameters.rounds; ++round) {
    const std::uint32_t value = parameters.first + round;
    if (parameters.is_gpu_first != 0) store_relaxed(parameters.pong, value);
    const KernelEnd end =
        wait_for(load_relaxed, parameters.ping, parameters.limit_ns, [=](std::uint32_t word) { return word == value; });
    if (end != KernelEnd::running) return end;
    if (parameters.is_gpu_first == 0) store_relaxed(parameters.pong, value);
  }
  return KernelEnd::finished;
}

/// The GPU's side of a ping-pong with data before each flag. Blocks must all run at once: each waits for the CPU by
/// itself. Ordering, both ways by the PTX memory model:
/// - CPU first: the CPU's data, then its fence and its ping. The block's first thread acquires the ping, the barrier
///   hands on what it acquired, all threads read. Their reads come before the barrier in answer() and so before the
///   release of the pong: the CPU that saw it may overwrite the data.
/// - GPU first: all threads write, the barrier in answer() puts their stores before the first thread's release.
/// - Several blocks: each arrival puts its block's accesses before those of the last block to arrive, which alone
///   releases the pong.
class PingPongWithData {
 public:
  __device__ explicit PingPongWithData(const PingPongParameters& parameters)
      : parameters_(parameters), state_(reinterpret_cast<PingPongState*>(parameters.state)) {}

  __device__ KernelEnd play() {
    for (std::uint32_t round = 0; round < parameters_.rounds; ++round) {
      const std::uint32_t value = parameters_.first + round;
      if (parameters_.is_gpu_first != 0) {
        fill(value);
        answer(round, value);
      }
      const KernelEnd end = wait_for_ping(value);
      if (end != KernelEnd::running) return end;
      if (parameters_.is_gpu_first == 0) {
        check(value);
        answer(round, value);
      }
    }
    return KernelEnd::finished;
  }

 private:
  /// running: the ping came.
  __device__ KernelEnd wait_for_ping(std::uint32_t value) {
    __shared__ KernelEnd end;  // read by all before the barrier in answer(), so written anew after it only
    if (threadIdx.x == 0) {
      end = wait_for(load_acquire, parameters_.ping, parameters_.limit_ns,
                     [=](std::uint32_t word) { return word == value; });
    }
    __syncthreads();
    return end;
  }

  __device__ void fill(std::uint32_t value) {
    auto* data = reinterpret_cast<volatile std::uint32_t*>(parameters_.data);
    for (std::uint64_t at = place(); at < words(); at += stride()) data[at] = value;
  }

  __device__ void check(std::uint32_t value) {
    // volatile: past the L1 cache, which the CPU's stores through the bus do not reach
    const auto* data = reinterpret_cast<const volatile std::uint32_t*>(parameters_.data);
    unsigned wrong = 0;
    for (std::uint64_t at = place(); at < words(); at += stride()) wrong += data[at] != value ? 1 : 0;
    if (wrong != 0) atomicAdd(&state_->mismatches, wrong);
  }

  /// The block that comes last answers for all.
  __device__ void answer(std::uint32_t round, std::uint32_t value) {
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (gridDim.x > 1 && arrive(&state_->arrivals) != (round + 1) * gridDim.x) return;
    store_release(parameters_.pong, value);
  }

  __device__ static std::uint64_t place() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
  __device__ static std::uint64_t stride() { return std::uint64_t{gridDim.x} * blockDim.x; }
  __device__ std::uint64_t words() const { return parameters_.data_bytes / sizeof(std::uint32_t); }

  const PingPongParameters& parameters_;
  PingPongState* state_;
};

extern "C" __global__ void gdrkit_ping_pong(const PingPongParameters parameters) {
  const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
  const bool has_data = parameters.data_bytes != 0;
  if (!has_data && !is_first) return;
  const std::uint64_t begin = clock_ns();
  const KernelEnd end = has_data ? PingPongWithData(parameters).play() : play_flags(parameters);
  if (!is_first) return;
  reinterpret_cast<PingPongState*>(parameters.state)->elapsed_ns = clock_ns() - begin;
  tell_end(parameters.end, end);
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {

base::Status check(const PingPongParameters& parameters, LaunchShape shape, unsigned resident_blocks) noexcept {
  if (parameters.data_bytes % 4 != 0 || (parameters.data == 0 && parameters.data_bytes != 0)) {
    return base::fail(EINVAL, "ping_pong: %llu bytes of data are no whole 32-bit words, or lie nowhere",
                      static_cast<unsigned long long>(parameters.data_bytes));
  }
  if (shape.blocks > resident_blocks) {
    return base::fail(EINVAL, "ping_pong: %u blocks, but only %u run at once for sure; the others would never be heard",
                      shape.blocks, resident_blocks);
  }
  const std::uint64_t last = std::uint64_t{parameters.first} + parameters.rounds;
  if (last > stop_word) return base::fail(EINVAL, "ping_pong: a round would have the value that means stop");
  return {};
}

static KernelEnd play_rounds(const PingPongParameters& parameters, PingPongState* state, LaunchShape shape) noexcept {
  auto* data = reinterpret_cast<volatile std::uint32_t*>(parameters.data);
  const std::uint64_t words = parameters.data_bytes / sizeof(std::uint32_t);
  for (std::uint32_t round = 0; round < parameters.rounds; ++round) {
    const std::uint32_t value = parameters.first + round;
    const auto answer = [&] {
      if (words != 0 && shape.blocks > 1) state->arrivals += shape.blocks;
      store_release(parameters.pong, value);
    };
    if (parameters.is_gpu_first != 0) {
      for (std::uint64_t at = 0; at < words; ++at) data[at] = value;
      answer();
    }
    const KernelEnd end =
        wait_for(load_acquire, parameters.ping, parameters.limit_ns, [=](std::uint32_t word) { return word == value; });
    if (end != KernelEnd::running) return end;
    if (parameters.is_gpu_first == 0) {
      for (std::uint64_t at = 0; at < words; ++at) state->mismatches += data[at] != value ? 1 : 0;
      answer();
    }
  }
  return KernelEnd::finished;
}

void play(const PingPongParameters& parameters, LaunchShape shape) noexcept {
  auto* state = reinterpret_cast<PingPongState*>(parameters.state);
  const std::int64_t begin = now_ns();
  const KernelEnd end = play_rounds(parameters, state, shape);
  state->elapsed_ns = static_cast<std::uint64_t>(now_ns() - begin);
  tell_end(parameters.end, end);
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
