// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/collective/host_exchange.hpp"

#include <gdrkit/shmem_reductions.cuh>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <new>
#include <vector>

namespace gdrkit::shmem {
namespace {

/// In the order of the members, as the GPU does it.
void reduce_into(unsigned char* result, const HostTeam& team, const CheckedCall& checked, std::uint64_t part) {
  const detail::AnyReduction reduction{static_cast<unsigned>(checked.call.type),
                                       static_cast<unsigned>(checked.call.reduction)};
  const std::uint64_t size = checked.call.size_bytes;
  for (std::uint64_t at = 0; at < size; at += sizeof(detail::Words16)) {
    const std::size_t bytes = std::min<std::uint64_t>(sizeof(detail::Words16), size - at);
    detail::Words16 sum{};
    std::memcpy(&sum, team.data_of(0) + part + at, bytes);
    for (int member = 1; member < team.n_pes(); ++member) {
      detail::Words16 value{};
      std::memcpy(&value, team.data_of(member) + part + at, bytes);
      sum = reduction(sum, value);
    }
    std::memcpy(result + at, &sum, bytes);
  }
}

}  // namespace

base::Result<Message> read_source(Pe& pe, const HostTeam& team, const CheckedCall& checked,
                                  unsigned char* buffer) noexcept {
  if (checked.call.operation == CollectiveOperation::broadcast && checked.call.root != team.own()) return Message{};
  if (auto got = pe.get(buffer, checked.call.source, checked.source_bytes, pe.pe(), false); !got) {
    return base::pass(got);
  }
  return Message{0, buffer, checked.source_bytes};
}

base::Status write_target(Pe& pe, const HostTeam& team, const CheckedCall& checked) noexcept try {
  const std::uint64_t size = checked.call.size_bytes;
  const auto own = static_cast<std::uint64_t>(team.own());
  unsigned char little[TeamWord::most_bytes];
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
  return pe.put(checked.call.target, result, checked.target_bytes, pe.pe(), false);
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "%s: out of memory", checked.name);
}

namespace {

/// Of one piece, `size` bytes of each part: what all said goes to `at` of the own target's parts.
base::Status write_piece(Pe& pe, const HostTeam& team, const CheckedCall& piece, std::uint64_t whole,
                         std::uint64_t at) noexcept {
  const std::uint64_t size = piece.call.size_bytes;
  auto* const target = static_cast<unsigned char*>(piece.call.target) + at;
  const auto put = [&](std::uint64_t offset, const void* bytes) {
    return pe.put(target + offset, bytes, size, pe.pe(), false);
  };
  const std::uint64_t own_part = static_cast<std::uint64_t>(team.own()) * size;
  switch (piece.call.operation) {
    case CollectiveOperation::broadcast: return put(0, team.data_of(piece.call.root));
    case CollectiveOperation::fcollect:
    case CollectiveOperation::alltoall:
      for (int member = 0; member < team.n_pes(); ++member) {
        const bool is_alltoall = piece.call.operation == CollectiveOperation::alltoall;
        auto done =
            put(static_cast<std::uint64_t>(member) * whole, team.data_of(member) + (is_alltoall ? own_part : 0));
        if (!done) return done;
      }
      return {};
    default: {
      unsigned char result[TeamWord::most_bytes];
      const bool is_scattered = piece.call.operation != CollectiveOperation::reduce;
      reduce_into(result, team, piece, is_scattered ? own_part : 0);
      return put(0, result);
    }
  }
}

}  // namespace

base::Status exchange_by_pieces(Pe& pe, const HostTeam& team, const CheckedCall& checked,
                                PieceMeeting& meeting) noexcept {
  const std::uint64_t whole = checked.call.size_bytes;
  const std::uint64_t parts = checked.source_bytes / whole;
  const std::uint64_t most = TeamWord::most_bytes / parts / sizeof(detail::Words16) * sizeof(detail::Words16);
  if (most == 0) {
    return base::fail(EOPNOTSUPP, "%s: a team over several machines has at most %zu PEs, this one %" PRIu64,
                      checked.name, TeamWord::most_bytes / sizeof(detail::Words16), parts);
  }
  const bool is_silent = checked.call.operation == CollectiveOperation::broadcast && checked.call.root != team.own();
  for (std::uint64_t at = 0; at < whole; at += most) {
    CheckedCall piece = checked;
    piece.call.size_bytes = std::min(most, whole - at);
    unsigned char buffer[TeamWord::most_bytes];
    const std::uint64_t size = piece.call.size_bytes;
    for (std::uint64_t part = 0; !is_silent && part < parts; ++part) {
      const auto* const source = static_cast<const unsigned char*>(checked.call.source) + part * whole + at;
      if (auto got = pe.get(buffer + part * size, source, size, pe.pe(), false); !got) return got;
    }
    if (auto met = meeting.meet(is_silent ? Message{} : Message{0, buffer, parts * size}); !met) return met;
    if (auto written = write_piece(pe, team, piece, whole, at); !written) return written;
  }
  return {};
}

}  // namespace gdrkit::shmem
