// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CheckedCall: a collective whose arguments are right as far as one PE can see.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "shmem/collective/collective_call.hpp"
#include "shmem/collective/host_team.hpp"

namespace gdrkit::shmem_impl::collective {

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
  /// What all PEs must pass alike: type, reduction and root as one number.
  [[nodiscard]] std::uint64_t kind() const noexcept {
    return static_cast<std::uint64_t>(call.type) << 40 | static_cast<std::uint64_t>(call.reduction) << 32 |
           static_cast<std::uint32_t>(call.root);
  }
};

/// EINVAL: no such root, type or reduction; a range that leaves its symmetric object; an overlap that is not allowed.
[[nodiscard]] base::Result<CheckedCall> check_call(const CollectiveCall& call, const HostTeam& team,
                                                   const heap::SymmetricHeap& heap) noexcept;

}  // namespace gdrkit::shmem_impl::collective
