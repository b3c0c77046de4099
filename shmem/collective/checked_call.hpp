// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CollectiveCall and CheckedCall: the arguments of a collective function, before and after the checks of one PE.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "shmem/collective/host_team.hpp"

namespace gdrkit::shmem_impl::collective {

using platform::CollectiveOperation;

/// The fields have the meaning of the parameters in gdrkit/shmem_collectives.h.
struct CollectiveCall {
  CollectiveOperation operation = CollectiveOperation::sync;
  Team team = GDRKIT_SHMEM_TEAM_WORLD;
  void* target = nullptr;
  const void* source = nullptr;
  std::uint64_t size_bytes = 0;  ///< size of one PE's part, for operations with a part per PE
  int root = 0;
  gdrkit_shmem_type type = GDRKIT_SHMEM_TYPE_UINT8;  ///< for reductions only
  gdrkit_shmem_reduction reduction = GDRKIT_SHMEM_SUM;
};

/// A collective whose arguments passed the checks that one PE can make.
struct CheckedCall {
  CollectiveCall call;
  const char* name = "";           ///< "reduce"
  std::uint64_t source_bytes = 0;  ///< of all parts
  std::uint64_t target_bytes = 0;
  std::uint64_t source_offset = 0;  ///< in the heap
  std::uint64_t target_offset = 0;

  [[nodiscard]] bool has_data() const noexcept { return call.operation > CollectiveOperation::barrier; }
  [[nodiscard]] bool is_reduction() const noexcept { return call.operation >= CollectiveOperation::reduce; }
  [[nodiscard]] std::uint64_t element_bytes() const noexcept { return static_cast<unsigned>(call.type) & 15U; }
  /// Returns the arguments that must be equal on all PEs as one number: type, reduction and root.
  [[nodiscard]] std::uint64_t kind() const noexcept {
    return static_cast<std::uint64_t>(call.type) << 40 | static_cast<std::uint64_t>(call.reduction) << 32 |
           static_cast<std::uint32_t>(call.root);
  }
};

/// Fails with EINVAL if the root, the type or the reduction is invalid, if a range exceeds its symmetric object, or if
/// two ranges overlap that must be separate.
[[nodiscard]] base::Result<CheckedCall> check_call(const CollectiveCall& call, const HostTeam& team,
                                                   const heap::SymmetricHeap& heap) noexcept;

}  // namespace gdrkit::shmem_impl::collective
