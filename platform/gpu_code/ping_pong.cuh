// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/gpu_code/device_access.cuh"

namespace gdrkit::platform {

/// The GPU's side of one ping-pong. Blocks must all run at once: each waits for the CPU by itself.
class PingPong {
 public:
  __device__ explicit PingPong(const PingPongParameters& parameters)
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
    __shared__ KernelEnd end;
    if (threadIdx.x == 0) {
      std::uint32_t seen = 0;
      const bool came = wait_for(parameters_.ping, parameters_.limit_ns, &seen,
                                 [=](std::uint32_t word) { return word == value || word == stop_word; });
      end = !came ? KernelEnd::expired : seen == stop_word ? KernelEnd::stopped : KernelEnd::running;
    }
    __syncthreads();  // what the first thread acquired, the block has
    const KernelEnd result = end;
    __syncthreads();  // before the first thread writes `end` anew
    return result;
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
    if (parameters_.data_bytes != 0) __threadfence_system();  // each thread's own data before the pong
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (gridDim.x > 1) {
      __threadfence();
      if (atomicAdd(&state_->arrivals, 1U) + 1 != (round + 1) * gridDim.x) return;
      __threadfence();  // what the other blocks did before they arrived
    }
    store_for_all(parameters_.pong, value);
  }

  __device__ static std::uint64_t place() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
  __device__ static std::uint64_t stride() { return std::uint64_t{gridDim.x} * blockDim.x; }
  __device__ std::uint64_t words() const { return parameters_.data_bytes / sizeof(std::uint32_t); }

  const PingPongParameters& parameters_;
  PingPongState* state_;
};

extern "C" __global__ void gdrkit_ping_pong(const PingPongParameters parameters) {
  const std::uint64_t begin = clock_ns();
  const KernelEnd end = PingPong(parameters).play();
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  reinterpret_cast<PingPongState*>(parameters.state)->elapsed_ns = clock_ns() - begin;
  tell_end(parameters.end, end);
}

}  // namespace gdrkit::platform
