// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `team`, for the GPU and the CPU.
#pragma once

#include <gdrkit/shmem_collectives.h>

#include <cstdint>

#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/shmem_params.hpp"

namespace gdrkit::platform {

struct TeamResult {
  std::uint64_t elapsed_ns;  ///< of the timed rounds
  std::uint64_t has_failed;  ///< not 0: a wait exceeded its limit
};

/// Runs the operation `rounds` times in the first group of one block. Reductions are sums of floats.
struct TeamParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t target;  ///< a multiple of 4, like source and size
  std::uint64_t source;
  std::uint64_t size_bytes;  ///< per PE for operations with one part per PE
  std::uint64_t result;      ///< TeamResult, zeroed
  std::int32_t team;
  CollectiveOperation operation;
  ShmemScope scope;
  std::uint32_t rounds;
  std::uint32_t root;
  std::uint32_t untimed_rounds;  ///< warm-up rounds: they synchronize the PEs and load instructions
};

}  // namespace gdrkit::platform
