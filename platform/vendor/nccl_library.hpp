// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NCCL: the functions of libnccl.so.2 that gdrkit measures, loaded at run time. Types and numbers follow NVIDIA's
// public NCCL API reference; NCCL keeps them stable within major version 2.
#pragma once

#include <cstddef>

#include "base/result.hpp"

namespace gdrkit::platform {

struct NcclUniqueId {
  char bytes[128] = {};
};
struct NcclComm;  ///< one rank of a communicator; opaque

inline constexpr int nccl_success = 0;
inline constexpr int nccl_in_progress = 7;

/// ncclDataType_t. The two 8-bit floats require NCCL 2.24; bfloat16 depends on the build of NCCL.
enum class NcclType : int {
  int8 = 0,
  uint8 = 1,
  int32 = 2,
  uint32 = 3,
  int64 = 4,
  uint64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
  float8e4m3 = 10,
  float8e5m2 = 11,
};
/// ncclRedOp_t.
enum class NcclReduction : int { sum = 0, product = 1, maximum = 2, minimum = 3, average = 4 };

/// Oldest supported NCCL: 2.18, in the format of ncclGetVersion.
inline constexpr int oldest_nccl_version = 21800;
inline constexpr int nccl_version_of_float8 = 22400;
/// NCCL_WIN_COLL_SYMMETRIC, a flag of window_register.
inline constexpr int nccl_window_symmetric = 1;

/// One pointer for each function of nccl_calls.def. Buffers are device addresses, streams are CUstream.
struct NcclCalls {
  int version = 0;  ///< 22809 is 2.28.9
#define GDRKIT_NCCL_CALL(member, symbol, type, ...) type (*member)(__VA_ARGS__) = nullptr;
#include "platform/vendor/nccl_calls.def"
#undef GDRKIT_NCCL_CALL
};

/// Returns the functions of the library at `path`; nullptr: libnccl.so.2 from the linker's search path. The library
/// stays loaded. ENOENT: the library is missing. ENOSYS: it lacks a function, which the error names, or is older
/// than 2.18. A failed call may be repeated. After a success, later calls return the same library and ignore `path`.
[[nodiscard]] base::Result<const NcclCalls*> nccl_calls(const char* path) noexcept;

}  // namespace gdrkit::platform
