// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The work of the GPU kernel `collective`, written once for GPU threads and for the host thread that emulates them.
#pragma once

#include <gdrkit/shmem_collectives.cuh>

#include "platform/gpu_code/collective_params.hpp"

namespace gdrkit::platform {

/// The part of one lane.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool run_collective(const CollectiveParameters& parameters, Group group,
                                          shmem::detail::Lane lane) {
  using AnyGroup = shmem::detail::OfAnyTeam<Group>;
  const shmem::detail::Turn<AnyGroup> turn(parameters.state, parameters.team.team, parameters.team, AnyGroup(group),
                                           lane);
  auto* const target = reinterpret_cast<char*>(parameters.target);
  const auto* const source = reinterpret_cast<const char*>(parameters.source);
  const std::uint64_t size = parameters.size_bytes;
  const auto route = static_cast<shmem::detail::Route>(parameters.route);
  const shmem::detail::AnyReduction reduction{parameters.type, parameters.reduction};
  bool is_whole = false;
  switch (parameters.operation) {
    case CollectiveOperation::sync:
    case CollectiveOperation::barrier:
      is_whole = shmem::detail::sync_turn(turn, parameters.operation == CollectiveOperation::barrier);
      break;
    case CollectiveOperation::broadcast:
      is_whole = shmem::detail::broadcast_turn<true>(turn, target, source, size, parameters.root, route,
                                                     parameters.piece_bytes);
      break;
    case CollectiveOperation::fcollect:
    case CollectiveOperation::alltoall:
      is_whole = shmem::detail::exchange_turn(turn, target, source, size,
                                              parameters.operation == CollectiveOperation::alltoall, route);
      break;
    default:
      is_whole = shmem::detail::reduce_turn<true>(
          turn, target, source, size, parameters.operation == CollectiveOperation::reducescatter, reduction, route);
  }
  return turn.end(is_whole, parameters.ticket);
}

}  // namespace gdrkit::platform
