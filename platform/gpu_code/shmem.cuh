// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// shmem: one side of an operation between PEs, by the functions of gdrkit/shmem_device.cuh.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(shmem, ShmemParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

enum class ShmemOperation : std::uint32_t {
  put,
  get,
  put_value,
  get_value,
  put_signal,  ///< the other PE does not wait
  signal_set,
  atomic_add,
  atomic_fetch_add,
  atomic_compare_swap,
  ping_pong,
  barrier,
  sync,
  broadcast,  ///< from here on of all PEs, by blocks
  fcollect,
  alltoall,
  reduce,  ///< sums of floats
  reducescatter,
};
inline constexpr auto last_shmem_operation = ShmemOperation::reducescatter;
enum class ShmemScope : std::uint32_t { thread, warp, block };

/// Zeroed before the launch. Times are of the GPU's clock, over all groups.
struct ShmemResult {
  std::uint64_t begin_inverted_ns;  ///< ~ of the earliest begin, so that all groups need only the maximum
  std::uint64_t end_ns;             ///< the latest
  std::uint64_t wrong;              ///< words of data, the most of any group; ~0: a wait exceeded its limit

  [[nodiscard]] std::uint64_t elapsed_ns() const noexcept { return end_ns - ~begin_inverted_ns; }
};

/// `rounds` times the operation with PE `peer`. Each group has bytes of its own, one after the other; ping_pong and all
/// that come after it have one group.
struct ShmemParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t target;  ///< a multiple of 8, but for put and get; in the own heap: of gets the own copy, else the
                         ///< other PE's
  std::uint64_t source;  ///< likewise
  std::uint64_t
      size_bytes;        ///< of each group; of ping_pong and of many groups a multiple of 8; of collectives a part's
  std::uint64_t signal;  ///< of signals: a word; of ping_pong it holds `rounds_before` on both PEs
  std::uint64_t result;  ///< ShmemResult
  std::uint64_t rounds_before;
  ShmemOperation operation;
  ShmemScope scope;
  std::uint32_t rounds;
  std::uint32_t peer;
  std::uint32_t completes_each;   ///< of what does not wait itself: quiet after each round, else after the last
  std::uint32_t has_every_group;  ///< 0: the first group of each block works; 1: all groups
  std::uint32_t checks_data;      ///< of ping_pong: writes each round's data and compares what came
  std::uint32_t untimed_rounds;   ///< before the others: PEs meet in them, and instructions are fetched
  std::uint64_t step_bytes;       ///< of put, get, their values and put_signal: from a round's place in the other PE's
                                  ///< memory to the next one's; a multiple of 8
  std::uint64_t path_bytes;       ///< after so many the first place again: a multiple of step_bytes; both 0: one place
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/shmem_groups.cuh"
#include "platform/gpu_code/shmem_library.hpp"

namespace gdrkit::platform {

// All registers that 512 threads have: with fewer, loads of reductions wait for each other.
extern "C" __global__ void __launch_bounds__(512, 1) gdrkit_shmem(const ShmemParameters parameters) {
  run_shmem<GdrkitShmem>(parameters);
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include <algorithm>

#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/shmem_library.hpp"
#include "platform/gpu_code/shmem_work.cuh"

namespace gdrkit::platform {

base::Status check(const ShmemParameters& parameters, LaunchShape shape, unsigned) noexcept {
  if (parameters.operation > last_shmem_operation || parameters.scope > ShmemScope::block) {
    return base::fail(EINVAL, "shmem: there is no such operation or scope");
  }
  const bool is_alone = parameters.operation >= ShmemOperation::ping_pong;
  if (is_alone && (shape.blocks != 1 || parameters.has_every_group != 0)) {
    return base::fail(EINVAL, "shmem: %u blocks where one group is needed", shape.blocks);
  }
  constexpr unsigned most_threads_of_a_block = 512;
  if (shape.threads > most_threads_of_a_block) {
    return base::fail(EINVAL, "shmem: blocks of %u threads; at most %u", shape.threads, most_threads_of_a_block);
  }
  if (parameters.operation >= ShmemOperation::broadcast && parameters.scope != ShmemScope::block) {
    return base::fail(EINVAL, "shmem: collectives are of blocks");
  }
  if (parameters.scope == ShmemScope::warp && shape.threads % 32 != 0) {
    return base::fail(EINVAL, "shmem: a warp has 32 threads, the block %u", shape.threads);
  }
  const bool is_copy = parameters.operation == ShmemOperation::put || parameters.operation == ShmemOperation::get;
  if ((!is_copy && (parameters.target | parameters.source) % 8 != 0) || parameters.signal % 8 != 0 ||
      parameters.result % 8 != 0 || parameters.result == 0) {
    return base::fail(EINVAL, "shmem: addresses must be multiples of 8");
  }
  const bool steps_on = parameters.step_bytes != 0;
  if (steps_on ? parameters.step_bytes % 8 != 0 || parameters.path_bytes % parameters.step_bytes != 0
               : parameters.path_bytes != 0) {
    return base::fail(EINVAL, "shmem: steps of %llu bytes do not end at %llu",
                      static_cast<unsigned long long>(parameters.step_bytes),
                      static_cast<unsigned long long>(parameters.path_bytes));
  }
  if (parameters.peer >= static_cast<std::uint32_t>(parameters.state.n_pes)) {
    return base::fail(EINVAL, "shmem: there is no PE %u", parameters.peer);
  }
  return {};
}

void play(const ShmemParameters& parameters, LaunchShape shape) noexcept {
  constexpr unsigned warp_threads = 32;
  unsigned groups = shape.blocks;
  if (parameters.has_every_group != 0 && parameters.scope != ShmemScope::block) {
    groups *= parameters.scope == ShmemScope::thread ? shape.threads : shape.threads / warp_threads;
  }
  auto* const result = reinterpret_cast<ShmemResult*>(parameters.result);
  const auto run_all = [&](std::uint64_t before, std::uint32_t rounds) {
    for (unsigned number = 0; number < groups; ++number) {
      ShmemWork<GdrkitShmem, shmem::ThreadGroup> work(parameters, shmem::thread(), number);
      result->wrong = std::max(result->wrong, work.run(before, rounds));
    }
  };
  run_all(0, parameters.untimed_rounds);
  const std::int64_t begin = now_ns();
  if (result->wrong != ~std::uint64_t{0}) run_all(parameters.untimed_rounds, parameters.rounds);
  result->begin_inverted_ns = ~static_cast<std::uint64_t>(begin);
  result->end_ns = static_cast<std::uint64_t>(now_ns());
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
