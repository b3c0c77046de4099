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
/// Maximum number of blocks, except for broadcasts in parts. One block reads and writes about 7 GB/s over NVLink with a
/// round trip of 2 us, so 64 blocks saturate 390 GB/s (an estimate). Reduce of 64 MiB, 64 / 96 / 127 blocks: 333 / 350
/// / 350 us on four H200. Every GPU with NVLink has more multiprocessors, so all blocks run at the same time on an idle
/// GPU. TeamState::lanes is the limit if PEs share a GPU.
constexpr unsigned most_blocks = 64;

// Thresholds between the routes. All times are in us, on two (n = 2) and four (n = 4) H200 with NVLink, from
// docs/results/2026-11-27-h200-x2/before_after.txt (section 4) and docs/results/2026-11-27-h200-x4/collectives.txt.
// They are columns of a sweep, each with one value changed. The final combination was not measured. A limit between two
// measured sizes is interpolated.

constexpr std::uint64_t kib = 1024;
/// Largest data of the route `small`, multiplied by the number of other PEs. A link carries two bytes for each byte of
/// data, so above these limits the route `large` is faster.
struct SmallLimits {
  std::uint64_t broadcast, exchange, reduce;
};
/// Of grids, small / large:
/// - broadcast of 1 MiB 9.5 / 9.9 (n = 2)
/// - fcollect of 512 KiB 8.5 / 8.8, of 1 MiB 10.9 / 10.1 (n = 2); of 32 KiB 6.4 / 7.5, of 256 KiB 10.5 / 9.5 (n = 4)
/// - reduce of 1 MiB 12.0 / 12.8 (n = 2); reducescatter of 256 KiB 11.1 / 12.6 (n = 4)
constexpr SmallLimits grid_limits = {1024 * kib, 512 * kib, 1024 * kib};
/// Of one block, small / large. Smaller groups have the same limits, without a measurement. 32 KiB was the largest
/// size, so the limits of two PEs above it are extrapolated.
/// - broadcast of 32 KiB 2.8 / 4.1 (n = 2), 5.3 / 5.4 (n = 4)
/// - fcollect of 32 KiB 4.0 / 4.2 (n = 2); of 4 KiB 3.3 / 3.7, of 32 KiB 8.7 / 5.7 (n = 4)
/// - reduce of 32 KiB 3.9 / 6.6 (n = 2); of 4 KiB 3.2 / 7.2, of 32 KiB 8.2 / 7.6 (n = 4)
constexpr SmallLimits group_small_limits = {96 * kib, 32 * kib, 64 * kib};

/// Minimum size of a broadcast in parts through the other PEs: from here on the root's link limits the rate, not the
/// latency of a second hop. An estimate: no measurement compares `parts` with `large` from the source to all.
constexpr std::uint64_t parts_from_bytes = 512 * kib;
/// The second hop of the route `shares` takes as long as a link needs for about so many bytes. Reduce, shares / small:
/// 64 KiB 8.1 / 7.6, 256 KiB 10.0 / 11.1 (n = 4).
constexpr std::uint64_t hop_bytes = 384 * kib;
/// Largest reduce in shares. Shares / large: 512 KiB 11.6 / 12.8, 1 MiB 16.5 / 14.2 (n = 4). A broadcast in shares is
/// faster than in parts as long as it fits: 1 MiB 11.3 / 15.1, 2 MiB 17.0 / 19.9 (n = 4).
constexpr std::uint64_t largest_reduce_in_shares = 640 * kib;

/// Pieces of a broadcast in parts. 8 / 16 / 32 pieces: 16 MiB 65.5 / 76.4 / 88.6, 64 MiB 227 / 233 / 248 (n = 4).
constexpr std::uint64_t pieces_of_a_block = 8;  // in flight, one after the other
/// A block waits after each piece until its stores have arrived. Other blocks send meanwhile, so more blocks of half
/// the threads are faster. 127 blocks of 256 threads / 64 of 512: 8 MiB 39.7 / 45.1, 16 MiB 67 / 66 (n = 4,
/// docs/results/2026-11-28-h200-x4/shmem_peers.txt).
constexpr unsigned most_blocks_of_parts = 2 * most_blocks;
constexpr unsigned threads_of_parts = block_threads / 2;
constexpr std::uint64_t smallest_piece_bytes = 4 * kib;
constexpr std::uint64_t largest_piece_bytes = 32 * kib;

unsigned blocks_for(std::uint64_t items, const shmem::TeamState& team, unsigned limit = most_blocks) noexcept {
  const auto most = static_cast<std::uint64_t>(std::clamp(team.lanes, 1, static_cast<int>(limit)));
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

std::uint64_t small_limit(CollectiveOperation operation, const SmallLimits& limits, int n_pes,
                          std::uint64_t scratch_bytes) noexcept {
  const bool is_broadcast = operation == CollectiveOperation::broadcast;
  const bool is_exchange = operation == CollectiveOperation::fcollect || operation == CollectiveOperation::alltoall;
  const auto others = static_cast<unsigned>(std::max(n_pes - 1, 1));
  const std::uint64_t limit = is_broadcast ? limits.broadcast : is_exchange ? limits.exchange : limits.reduce;
  return std::min<std::uint64_t>(limit / others, shmem::detail::small_bytes(scratch_bytes, is_broadcast ? 1 : others));
}

CollectiveRoute choose_route(CollectiveOperation operation, std::uint64_t size_bytes,
                             const shmem::TeamState& team) noexcept {
  const bool is_broadcast = operation == CollectiveOperation::broadcast;
  const auto n = static_cast<unsigned>(team.n_pes);
  const bool may_have_shares =
      is_broadcast || (operation == CollectiveOperation::reduce && size_bytes <= largest_reduce_in_shares);
  if (may_have_shares && shmem::detail::shares_fit(team.scratch_bytes, size_bytes, n, is_broadcast) &&
      saved_by_shares(is_broadcast, size_bytes, n) > hop_bytes) {
    return CollectiveRoute::shares;
  }
  if (size_bytes <= small_limit(operation, grid_limits, team.n_pes, team.scratch_bytes)) return CollectiveRoute::small;
  return is_broadcast && n > 2 && size_bytes >= parts_from_bytes ? CollectiveRoute::parts : CollectiveRoute::large;
}

}  // namespace

shmem::GroupLimits group_limits(int n_pes, std::uint64_t scratch_bytes) noexcept {
  const auto of = [&](CollectiveOperation operation) {
    return static_cast<std::uint32_t>(small_limit(operation, group_small_limits, n_pes, scratch_bytes));
  };
  return {of(CollectiveOperation::broadcast), of(CollectiveOperation::fcollect), of(CollectiveOperation::reduce), 0};
}

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
  if (route == CollectiveRoute::parts) {
    const unsigned blocks = blocks_for(own_vectors, team, most_blocks_of_parts);
    const unsigned threads = blocks > most_blocks ? threads_of_parts : block_threads;
    return {route, {blocks, threads}, piece_bytes_of(size_bytes, blocks, team.n_pes)};
  }
  return {route, {blocks_for(own_vectors, team), block_threads}, 0};
}

}  // namespace gdrkit::shmem_impl::collective
