// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/collective/plan.hpp"

#include <gdrkit/shmem_collectives.cuh>

#include <algorithm>

namespace gdrkit::shmem_impl::collective {
namespace {

using platform::CollectiveRoute;
using platform::LaunchShape;

constexpr unsigned warp_threads = 32;
constexpr unsigned block_threads = 512;
constexpr std::uint64_t value_bytes = 8;    // that a thread sends at a time, small
constexpr std::uint64_t vector_bytes = 16;  // the same, large
/// Maximum number of blocks. One block reads and writes about 7 GB/s over NVLink with a round trip of 2 us, so 64
/// blocks saturate 390 GB/s. Every GPU with NVLink has more multiprocessors, so all blocks run at the same time on an
/// idle GPU.
constexpr unsigned most_blocks = 64;
// Thresholds between the routes.

/// Minimum size of a broadcast in parts through the other PEs: from here on the root's link limits the rate, not the
/// latency of a second hop.
constexpr std::uint64_t parts_from_bytes = std::uint64_t{512} << 10;
/// The second hop of the route in shares takes as long as a link needs for about so many bytes.
constexpr std::uint64_t hop_bytes = std::uint64_t{384} << 10;

constexpr std::uint64_t smallest_piece_bytes = 4096;
constexpr std::uint64_t largest_piece_bytes = 16384;
constexpr std::uint64_t pieces_of_a_block = 16;  // in flight, one after the other

unsigned blocks_for(std::uint64_t items, const shmem::TeamState& team) noexcept {
  const auto most = static_cast<std::uint64_t>(std::clamp(team.lanes, 1, static_cast<int>(most_blocks)));
  return static_cast<unsigned>(std::clamp<std::uint64_t>(items / block_threads, 1, most));
}

/// A thread sends and polls one value of each PE at a time. `values`: from one PE.
Plan small_plan(CollectiveRoute route, std::uint64_t values, const shmem::TeamState& team) noexcept {
  // Those that send and poll flags, and those that send data, each one at a time.
  const std::uint64_t threads = std::max<std::uint64_t>(values, static_cast<std::uint64_t>(team.n_pes));
  const std::uint64_t in_warps = (threads + warp_threads - 1) / warp_threads * warp_threads;
  return {
      route, {blocks_for(values, team), static_cast<unsigned>(std::min<std::uint64_t>(in_warps, block_threads))}, 0};
}

std::uint32_t piece_bytes_of(std::uint64_t size_bytes, unsigned blocks, int n_pes) noexcept {
  const std::uint64_t of_a_member = size_bytes / blocks / static_cast<std::uint64_t>(n_pes - 1);
  const std::uint64_t piece = std::clamp(of_a_member / pieces_of_a_block, smallest_piece_bytes, largest_piece_bytes);
  return static_cast<std::uint32_t>(piece / vector_bytes * vector_bytes);
}

/// Through scratch memory a link carries two bytes for each byte of data. Returns how many fewer a PE's link carries in
/// shares: for a broadcast 2 instead of 2 * (n - 1) times the data; for a reduction 4 * (n - 1) / n instead of
/// 2 * (n - 1).
std::uint64_t saved_by_shares(bool is_broadcast, std::uint64_t size_bytes, std::uint64_t n) noexcept {
  return is_broadcast ? 2 * (n - 2) * size_bytes : 2 * (n - 1) * (n - 2) * size_bytes / n;
}

CollectiveRoute choose_route(CollectiveOperation operation, std::uint64_t size_bytes,
                             const shmem::TeamState& team) noexcept {
  const bool is_broadcast = operation == CollectiveOperation::broadcast;
  const auto n = static_cast<unsigned>(team.n_pes);
  const bool has_shares = (is_broadcast || operation == CollectiveOperation::reduce) &&
                          shmem::detail::shares_fit(team.scratch_bytes, size_bytes, n, is_broadcast);
  if (has_shares && saved_by_shares(is_broadcast, size_bytes, n) > hop_bytes) return CollectiveRoute::shares;
  if (size_bytes <= shmem::detail::small_bytes(team.scratch_bytes, is_broadcast ? 1 : n - 1)) {
    return CollectiveRoute::small;
  }
  return is_broadcast && n > 2 && size_bytes >= parts_from_bytes ? CollectiveRoute::parts : CollectiveRoute::large;
}

}  // namespace

Plan plan_collective(CollectiveOperation operation, std::uint64_t size_bytes, const shmem::TeamState& team) noexcept {
  const auto n_pes = static_cast<unsigned>(team.n_pes);
  const CollectiveRoute route = choose_route(operation, size_bytes, team);
  const unsigned shares = operation == CollectiveOperation::broadcast ? n_pes - 1 : n_pes;
  if (route == CollectiveRoute::small) return small_plan(route, (size_bytes + value_bytes - 1) / value_bytes, team);
  if (route == CollectiveRoute::shares) return small_plan(route, shmem::detail::share_values(size_bytes, shares), team);
  const std::uint64_t vectors = size_bytes / vector_bytes;
  // Of a reduction, each PE has its share of the elements; of an alltoall, as much for each other PE.
  const std::uint64_t own_vectors = operation == CollectiveOperation::reduce     ? vectors / n_pes
                                    : operation == CollectiveOperation::alltoall ? vectors * n_pes
                                                                                 : vectors;
  const unsigned blocks = blocks_for(own_vectors, team);
  return {route,
          {blocks, block_threads},
          route == CollectiveRoute::parts ? piece_bytes_of(size_bytes, blocks, team.n_pes) : 0};
}

}  // namespace gdrkit::shmem_impl::collective
