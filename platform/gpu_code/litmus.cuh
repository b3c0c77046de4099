// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// litmus: two PEs write and read a few words at the same time, again and again, and count what gdrkit's memory model
// (docs/shmem-memory-model.md) forbids.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(litmus, LitmusParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

/// The writer's and the reader's part of each stand at LitmusWork.
enum class LitmusShape : std::uint32_t {
  put_signal,       ///< data of a block, then its signal
  put_fence_put,    ///< message passing between two words of one PE
  third_word,       ///< the flag lies with the writer, the data with the reader
  atomics,          ///< the flag is a counter
  fresh_get,        ///< the data lies with the writer, and the reader gets it
  store_buffering,  ///< each writes a word of the other one, and then reads its own
};
/// Mistakes on purpose: the test must be able to see them.
enum class LitmusMistake : std::uint32_t {
  none,
  no_fence,  ///< the writer's order is left to the hardware
  no_order,  ///< the writer does it the wrong way round, and waits in between until it has been seen
  cached,    ///< of fresh_get: the reader's get is made of ordinary loads
};

/// Zeroed before the launch.
struct LitmusResult {
  std::uint64_t looks;    ///< of the reader
  std::uint64_t raced;    ///< of those, how many saw something new
  std::uint64_t broken;   ///< of those, how many saw what is forbidden
  std::uint64_t expired;  ///< waits that exceeded the state's limit
};

/// Bytes of an instance in `words`: lines of its own for each word.
inline constexpr std::uint64_t litmus_stride_bytes = 768;

/// PE `writer` writes and the other one of the two reads, `rounds` times, in each of many instances at a time: one for
/// each block (put_signal), each thread (store_buffering: of one block), or each thread of all blocks.
struct LitmusParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t words;   ///< symmetric, zeroed: litmus_stride_bytes for each instance
  std::uint64_t target;  ///< of put_signal: symmetric, zeroed, size_bytes for each instance
  std::uint64_t source;  ///< likewise
  std::uint64_t size_bytes;
  std::uint64_t result;  ///< LitmusResult, of this PE
  LitmusShape shape;
  LitmusMistake mistake;
  std::uint32_t rounds;
  std::uint32_t writer;
  std::uint32_t reader;
  std::uint32_t instances;  ///< of store_buffering
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/litmus_work.cuh"

namespace gdrkit::platform {

__device__ inline void count(std::uint64_t address, std::uint64_t LitmusResult::*member, std::uint64_t value) {
  auto* const word = &(reinterpret_cast<LitmusResult*>(address)->*member);
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
}

template <class Group>
__device__ inline void run_litmus(const LitmusParameters& parameters, Group group, unsigned instance) {
  const LitmusResult found = LitmusWork<Group>(parameters, group, instance).run();
  count(parameters.result, &LitmusResult::looks, found.looks);
  count(parameters.result, &LitmusResult::raced, found.raced);
  count(parameters.result, &LitmusResult::broken, found.broken);
  count(parameters.result, &LitmusResult::expired, found.expired);
}

extern "C" __global__ void gdrkit_litmus(const LitmusParameters parameters) {
  if (parameters.shape == LitmusShape::put_signal || parameters.shape == LitmusShape::store_buffering) {
    run_litmus(parameters, shmem::block(), blockIdx.x);
  } else {
    run_litmus(parameters, shmem::thread(), blockIdx.x * blockDim.x + threadIdx.x);
  }
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/litmus_work.cuh"

namespace gdrkit::platform {

base::Status check(const LitmusParameters& parameters, LaunchShape shape, unsigned resident_blocks) noexcept {
  if (parameters.shape > LitmusShape::store_buffering || parameters.mistake > LitmusMistake::cached) {
    return base::fail(EINVAL, "litmus: there is no such shape or mistake");
  }
  const auto n_pes = static_cast<std::uint32_t>(parameters.state.n_pes);
  if (parameters.writer >= n_pes || parameters.reader >= n_pes || parameters.writer == parameters.reader) {
    return base::fail(EINVAL, "litmus: PE %u and PE %u are not two of %u", parameters.writer, parameters.reader, n_pes);
  }
  if (shape.blocks > resident_blocks) {
    return base::fail(EINVAL, "litmus: %u blocks, of which only %u run at a time", shape.blocks, resident_blocks);
  }
  if (parameters.shape == LitmusShape::store_buffering && shape.blocks != 1) {
    return base::fail(EINVAL, "litmus: store_buffering takes one block, not %u", shape.blocks);
  }
  return {};
}

void play(const LitmusParameters& parameters, LaunchShape shape) noexcept {
  const bool is_of_blocks =
      parameters.shape == LitmusShape::put_signal || parameters.shape == LitmusShape::store_buffering;
  const unsigned groups = is_of_blocks ? shape.blocks : shape.blocks * shape.threads;
  auto* const result = reinterpret_cast<LitmusResult*>(parameters.result);
  for (unsigned instance = 0; instance < groups; ++instance) {
    const LitmusResult found = LitmusWork<shmem::ThreadGroup>(parameters, shmem::thread(), instance).run();
    result->looks += found.looks;
    result->raced += found.raced;
    result->broken += found.broken;
    result->expired += found.expired;
  }
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
