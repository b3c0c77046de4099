// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief Groups of threads that perform one operation together. Included by gdrkit/shmem_device.cuh.
#ifndef GDRKIT_SHMEM_DEVICE_GROUP_CUH
#define GDRKIT_SHMEM_DEVICE_GROUP_CUH

#include <gdrkit/detail/shmem_access.cuh>

namespace gdrkit::shmem {

/// @defgroup shmem_device_group Groups of threads
/// @ingroup shmem_device
/// @brief The threads that perform an operation together. All threads of a group must pass the same arguments.
/// @{

/// @brief Group of the calling thread alone.
struct ThreadGroup {
  /// @brief Returns the number of the calling thread in the group.
  /// @return Number from 0.
  GDRKIT_SHMEM_FUNCTION unsigned rank() const { return 0; }
  /// @brief Returns the number of threads of the group.
  /// @return Number of threads.
  GDRKIT_SHMEM_FUNCTION unsigned size() const { return 1; }
  /// @brief Waits for all threads of the group, and orders their memory accesses.
  GDRKIT_SHMEM_FUNCTION void sync() const {}
  /// @brief Performs sync(), and combines a condition of all threads.
  /// @param[in] condition Condition of the calling thread.
  /// @return true if the condition of every thread is true.
  GDRKIT_SHMEM_FUNCTION bool all(bool condition) const { return condition; }
};
/// @brief Makes a group of the calling thread.
/// @return The group.
GDRKIT_SHMEM_FUNCTION ThreadGroup thread() { return {}; }

#if defined(__CUDACC__)
/// @brief Group of the 32 threads of a warp.
struct WarpGroup {
  /// @brief Returns the number of the calling thread in the group.
  /// @return Number from 0.
  GDRKIT_SHMEM_FUNCTION unsigned rank() const {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
  }
  /// @brief Returns the number of threads of the group.
  /// @return Number of threads.
  GDRKIT_SHMEM_FUNCTION unsigned size() const { return 32; }
  /// @brief Waits for all threads of the group, and orders their memory accesses.
  GDRKIT_SHMEM_FUNCTION void sync() const { __syncwarp(); }
  /// @brief Performs sync(), and combines a condition of all threads.
  /// @param[in] condition Condition of the calling thread.
  /// @return true if the condition of every thread is true.
  GDRKIT_SHMEM_FUNCTION bool all(bool condition) const {
    const bool are_all = __all_sync(0xffffffff, condition) != 0;
    __syncwarp();  // the vote does not order memory accesses
    return are_all;
  }
};
/// @brief Makes a group of the calling thread's warp.
/// @return The group.
GDRKIT_SHMEM_FUNCTION WarpGroup warp() { return {}; }

/// @brief Group of all threads of a block.
struct BlockGroup {
  /// @brief Returns the number of the calling thread in the group.
  /// @return Number from 0.
  GDRKIT_SHMEM_FUNCTION unsigned rank() const {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  /// @brief Returns the number of threads of the group.
  /// @return Number of threads.
  GDRKIT_SHMEM_FUNCTION unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  /// @brief Waits for all threads of the group, and orders their memory accesses.
  GDRKIT_SHMEM_FUNCTION void sync() const { __syncthreads(); }
  /// @brief Performs sync(), and combines a condition of all threads.
  /// @param[in] condition Condition of the calling thread.
  /// @return true if the condition of every thread is true.
  GDRKIT_SHMEM_FUNCTION bool all(bool condition) const { return __syncthreads_and(condition) != 0; }
};
/// @brief Makes a group of the calling thread's block.
/// @return The group.
GDRKIT_SHMEM_FUNCTION BlockGroup block() { return {}; }
#endif

/// @}

}  // namespace gdrkit::shmem

#endif
