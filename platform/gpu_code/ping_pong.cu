// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ping_pong: replies to the CPU, round after round.
#include "platform/gpu_code/device_access.cuh"
#include "platform/gpu_code/ping_pong_params.hpp"

namespace gdrkit::platform {

/// The GPU's side of a ping-pong of flags only, by one thread. A flag orders no data, so relaxed accesses suffice. The
/// reply depends on the poll, so it cannot be early.
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

/// The GPU's side of a ping-pong with data before each flag. All blocks must run at once, because each waits for the
/// CPU. Ordering in both directions by the PTX memory model:
/// - CPU first: the CPU's data, then its fence and its ping. The block's first thread acquires the ping, the barrier
///   passes it on, and all threads read. Their reads come before the barrier in reply() and so before the release of
///   the pong: a CPU that has seen it may overwrite the data.
/// - GPU first: all threads write, and the barrier in reply() orders their stores before the first thread's release.
/// - Several blocks: each arrival orders its block's accesses before those of the last block to arrive, which alone
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
        reply(round, value);
      }
      const KernelEnd end = wait_for_ping(value);
      if (end != KernelEnd::running) return end;
      if (parameters_.is_gpu_first == 0) {
        check(value);
        reply(round, value);
      }
    }
    return KernelEnd::finished;
  }

 private:
  /// running: the ping has arrived.
  __device__ KernelEnd wait_for_ping(std::uint32_t value) {
    __shared__ KernelEnd end;  // read by all before the barrier in reply(), and only written again after it
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
    // volatile: bypasses the L1 cache, which the CPU's stores through the bus do not update
    const auto* data = reinterpret_cast<const volatile std::uint32_t*>(parameters_.data);
    unsigned wrong = 0;
    for (std::uint64_t at = place(); at < words(); at += stride()) wrong += data[at] != value ? 1 : 0;
    if (wrong != 0) atomicAdd(&state_->mismatches, wrong);
  }

  /// The last block to arrive replies for all.
  __device__ void reply(std::uint32_t round, std::uint32_t value) {
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
  report_end(parameters.end, end);
}

}  // namespace gdrkit::platform
