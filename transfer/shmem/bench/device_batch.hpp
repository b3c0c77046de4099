// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DeviceBatch: a case of GPU kernels as one launch of the GPU kernel `shmem`, the same for every library.
#pragma once

#include <cstddef>

#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/shmem_params.hpp"
#include "transfer/shmem/bench/case.hpp"
#include "transfer/shmem/bench/station.hpp"

namespace gdrkit::transfer::shmem {

struct DeviceBatch {
  platform::ShmemParameters parameters{};  ///< without the library's state
  platform::LaunchShape shape;
};

/// `count` operations, and before them one that is not timed. Counts the station's turns.
[[nodiscard]] DeviceBatch device_batch(const DeviceWork& work, std::size_t count, std::uint64_t result,
                                       Station* station);
/// How many operations one round is: 1, or that of all threads of the grid.
[[nodiscard]] std::size_t operations_each_round(const DeviceWork& work);

}  // namespace gdrkit::transfer::shmem
