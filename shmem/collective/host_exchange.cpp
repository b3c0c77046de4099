// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/collective/host_exchange.hpp"

#include <gdrkit/detail/shmem_reductions.cuh>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

namespace gdrkit::shmem_impl::collective {
namespace {

/// In the order of the members, as the GPU does it.
void reduce_into(unsigned char* result, const HostTeam& team, const CheckedCall& checked, std::uint64_t part) {
  const shmem::detail::AnyReduction reduction{static_cast<unsigned>(checked.call.type),
                                              static_cast<unsigned>(checked.call.reduction)};
  const std::uint64_t size = checked.call.size_bytes;
  for (std::uint64_t at = 0; at < size; at += sizeof(shmem::detail::Words16)) {
    const std::size_t bytes = std::min<std::uint64_t>(sizeof(shmem::detail::Words16), size - at);
    shmem::detail::Words16 sum{};
    std::memcpy(&sum, team.data_of(0) + part + at, bytes);
    for (int member = 1; member < team.n_pes(); ++member) {
      shmem::detail::Words16 value{};
      std::memcpy(&value, team.data_of(member) + part + at, bytes);
      sum = reduction(sum, value);
    }
    std::memcpy(result + at, &sum, bytes);
  }
}

}  // namespace

base::Result<Message> read_source(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked,
                                  unsigned char* buffer) noexcept {
  if (checked.call.operation == CollectiveOperation::broadcast && checked.call.root != team.own()) return Message{};
  if (auto got = transfers.get(buffer, checked.call.source, checked.source_bytes,
                               team.members()[static_cast<std::size_t>(team.own())], false);
      !got) {
    return base::pass(got);
  }
  return Message{0, buffer, checked.source_bytes};
}

base::Status write_target(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked) noexcept try {
  const std::uint64_t size = checked.call.size_bytes;
  const auto own = static_cast<std::uint64_t>(team.own());
  unsigned char little[parts::TeamWord::most_bytes];
  std::vector<unsigned char> much;  // of fcollect: a part for each PE
  unsigned char* result = little;
  if (checked.target_bytes > sizeof little) {
    much.resize(checked.target_bytes);
    result = much.data();
  }
  switch (checked.call.operation) {
    case CollectiveOperation::broadcast: std::memcpy(result, team.data_of(checked.call.root), size); break;
    case CollectiveOperation::fcollect:
    case CollectiveOperation::alltoall: {
      const std::uint64_t part = checked.call.operation == CollectiveOperation::alltoall ? own * size : 0;
      for (int member = 0; member < team.n_pes(); ++member) {
        std::memcpy(result + static_cast<std::uint64_t>(member) * size, team.data_of(member) + part, size);
      }
      break;
    }
    case CollectiveOperation::reduce: reduce_into(result, team, checked, 0); break;
    default: reduce_into(result, team, checked, own * size);
  }
  return transfers.put(checked.call.target, result, checked.target_bytes,
                       team.members()[static_cast<std::size_t>(team.own())], false);
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "%s: out of memory", checked.name);
}

}  // namespace gdrkit::shmem_impl::collective
