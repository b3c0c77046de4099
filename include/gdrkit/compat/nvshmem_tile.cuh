// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Operations on tiles by the threads of a group: puts, gets, and collectives of a team. They use loads from peers and
// stores to peers. Included by nvshmem_tile.h. An ordinary C++ compiler also compiles this file.
#ifndef GDRKIT_COMPAT_NVSHMEM_TILE_CUH
#define GDRKIT_COMPAT_NVSHMEM_TILE_CUH

#include "nvshmem_region.cuh"
#include "nvshmem_status.h"
#include "nvshmem_tile_words.cuh"

namespace gdrkit::shmem::detail {

/// Reduces one element at a time, for a team over several nodes. Out of line, so that a job on one node branches around
/// it.
template <gdrkit_shmem_reduction reduction, class T>
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION void reduce_region_over_nodes(State state, Team team, T* to, const T* from,
                                                                          Region region, bool is_spread, Share share) {
  const TeamState& of_team = team_state(state, team);
  const int n = of_team.n_pes;
  Walk walk(region.columns, region.rows, share);
  GDRKIT_SHMEM_ROLLED
  for (; walk.is_inside(); walk.advance()) {
    const T* const source = from + offset_of(walk.column, region.from_column, walk.row, region.from_row);
    T* const target = to + offset_of(walk.column, region.to_column, walk.row, region.to_row);
    T value = get_value(state, source, pe_of_member(of_team, 0));
    GDRKIT_SHMEM_ROLLED
    for (int member = 1; member < n; ++member) {
      value = combine<reduction>(value, get_value(state, source, pe_of_member(of_team, static_cast<unsigned>(member))));
    }
    if (!is_spread) *target = value;
    GDRKIT_SHMEM_ROLLED
    for (int member = 0; is_spread && member < n; ++member) {
      put_value(state, target, value, pe_of_member(of_team, static_cast<unsigned>(member)));
    }
  }
}
/// Copies rows, or elements if there are gaps between them, to or from a PE that only the proxy can access.
template <bool is_put, class T, class Group>
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION void copy_region_by_proxy(State state, T* to, const T* from, Region region,
                                                                      int pe, Group group) {
  const unsigned runs = region.is_dense() ? 1 : region.columns;
  const std::size_t run_bytes = (region.is_dense() ? region.columns : 1) * sizeof(T);
  GDRKIT_SHMEM_ROLLED
  for (unsigned row = 0; row < region.rows; ++row) {
    GDRKIT_SHMEM_ROLLED
    for (unsigned run = 0; run < runs; ++run) {
      T* const target = to + offset_of(run, region.to_column, row, region.to_row);
      const T* const source = from + offset_of(run, region.from_column, row, region.from_row);
      if constexpr (is_put) {
        put_by_proxy(state, target, source, run_bytes, pe, nullptr, 0, GDRKIT_SHMEM_SIGNAL_SET, ProxyWait::begun,
                     group);
      } else {
        get_by_proxy(state, target, source, run_bytes, pe, group);
      }
    }
  }
}

/// Copies between this PE and PE `pe`, without a barrier of the group at the end.
template <bool is_put, class T, class Group>
GDRKIT_SHMEM_FUNCTION void copy_region(const State& state, T* to, const T* from, const Region& region, int pe,
                                       Group group) {
  if (state.proxy_address != 0 && is_proxied(state, pe)) {
    return copy_region_by_proxy<is_put>(state, to, from, region, pe, group);
  }
  if constexpr (is_put) {
    to = address_on_pe(state, to, pe);
  } else {
    from = address_on_pe(state, from, pe);
  }
  constexpr Reads reads = is_put ? Reads::ordinary : Reads::fresh;
  const auto both = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  transform<4, sizeof(T)>(region, both, Share{group.rank(), group.size()}, LoadWords<reads, T>{from},
                          StoreWords<T>{to});
}

// Functions of NVSHMEM, for any group. They return NVSHMEMX_SUCCESS; NVSHMEMX_ERROR_INVALID_VALUE for invalid
// arguments, before they communicate; or NVSHMEMX_ERROR_INTERNAL if a wait exceeded the state's limit.

template <class T>
GDRKIT_SHMEM_FUNCTION bool is_empty(const Tile<T>& tile) {
  return tile.sizes[0] <= 0 || tile.sizes[1] <= 0;
}
/// Returns whether the target has the source's address, but other elements than the source.
template <class T, class Source>
GDRKIT_SHMEM_FUNCTION bool are_rearranged_in_place(const Tile<T>& target, const Tile<Source>& source) {
  return target.data == source.data && ((source.sizes[0] > 1 && target.strides[0] != source.strides[0]) ||
                                        (source.sizes[1] > 1 && target.strides[1] != source.strides[1]));
}
template <class T, class Source>
GDRKIT_SHMEM_FUNCTION bool are_usable(const Tile<T>& target, const Tile<Source>& source, std::uint64_t flag) {
  static_assert(std::is_same_v<T, std::remove_const_t<Source>>, "tile functions: the tensors have different types");
  static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0, "tile functions: elements of 1, 2, 4 or 8 bytes");
  return target.data != nullptr && source.data != nullptr && flag == 0;
}
template <class T, class Source>
GDRKIT_SHMEM_FUNCTION bool are_valid(const Tile<T>& target, const Tile<Source>& source, std::uint64_t flag) {
  return are_usable(target, source, flag) && target.sizes[0] == source.sizes[0] && target.sizes[1] == source.sizes[1];
}
GDRKIT_SHMEM_FUNCTION int status_of(bool is_whole) { return is_whole ? NVSHMEMX_SUCCESS : NVSHMEMX_ERROR_INTERNAL; }

/// tile_put and tile_get. As in NVSHMEM, without a barrier of the group: it would take 80 of 400 ns (64 x 48 floats).
template <bool is_put, class T, class Source, class Tuple, class Group>
GDRKIT_SHMEM_FUNCTION int copy_tile(const State& state, const Tile<T>& target, const Tile<Source>& source,
                                    const Tuple& start, const Tuple& boundary, int pe, std::uint64_t flag,
                                    Group group) {
  if (!are_valid(target, source, flag)) return NVSHMEMX_ERROR_INVALID_VALUE;
  copy_region<is_put, T>(state, target.data, source.data, region_of(target, source, start, boundary), pe, group);
  return NVSHMEMX_SUCCESS;
}
/// Puts the source to all members.
template <class T, class Source, class Tuple, class Group>
GDRKIT_SHMEM_FUNCTION int broadcast_tile(const State& state, Team team, const Tile<T>& target,
                                         const Tile<Source>& source, const Tuple& start, const Tuple& boundary,
                                         std::uint64_t flag, Group group) {
  if (!are_valid(target, source, flag)) return NVSHMEMX_ERROR_INVALID_VALUE;
  const TeamState& of_team = team_state(state, team);
  const Region region = region_of(target, source, start, boundary);
  const EvenMembers members(of_team);
  GDRKIT_SHMEM_ROLLED
  for (unsigned distance = 1; distance <= members.n; ++distance) {
    copy_region<true, T>(state, target.data, source.data, region, pe_of_member(of_team, members.next(distance)), group);
  }
  group.sync();
  return NVSHMEMX_SUCCESS;
}
/// Puts the source to this PE's part of the target of all members. Parts are adjacent in the contiguous dimension
/// first, then in the other one.
template <class T, class Source, class Tuple, class Group>
GDRKIT_SHMEM_FUNCTION int allgather_tile(const State& state, Team team, const Tile<T>& target,
                                         const Tile<Source>& source, const Tuple& start, const Tuple& boundary,
                                         std::uint64_t flag, Group group) {
  const TeamState& of_team = team_state(state, team);
  if (!are_usable(target, source, flag) || is_empty(target) != is_empty(source)) return NVSHMEMX_ERROR_INVALID_VALUE;
  if (is_empty(source)) return NVSHMEMX_SUCCESS;
  const int fast = contiguous_dimension(target, source), slow = 1 - fast;
  const int across = target.size(fast) / source.size(fast), along = target.size(slow) / source.size(slow);
  if (target.size(fast) != across * source.size(fast) || target.size(slow) != along * source.size(slow) ||
      std::int64_t{across} * along != of_team.n_pes) {
    return NVSHMEMX_ERROR_INVALID_VALUE;
  }
  Tile<T> part = target;
  part.data += offset_of(static_cast<unsigned>(of_team.pe % across * source.size(fast)), target.stride(fast),
                         static_cast<unsigned>(of_team.pe / across * source.size(slow)), target.stride(slow));
  part.sizes[0] = source.sizes[0];
  part.sizes[1] = source.sizes[1];
  return broadcast_tile(state, team, part, source, start, boundary, flag, group);
}

/// Which PE computes the result.
enum class Reducer {
  every_pe,         ///< each PE, for its own target
  root_for_itself,  ///< the root, for its own target
  root_for_all,     ///< the root, for the targets of all PEs
};

/// tile_{sum,min,max}_reduce. If the source is the target and the reducer is every_pe, each PE reduces a share of the
/// elements and stores the results to all PEs. The thread that reads an element from all PEs also writes it, so no
/// other thread reads it later.
template <gdrkit_shmem_reduction reduction, class T, class Source, class Tuple, class Group>
GDRKIT_SHMEM_FUNCTION int reduce_tile(const State& state, Team team, const Tile<T>& target, const Tile<Source>& source,
                                      const Tuple& start, const Tuple& boundary, Reducer reducer, int root,
                                      std::uint64_t flag, Group group) {
  const TeamState& of_team = team_state(state, team);
  if (!are_valid(target, source, flag)) return NVSHMEMX_ERROR_INVALID_VALUE;
  if (are_rearranged_in_place(target, source)) return NVSHMEMX_ERROR_INVALID_VALUE;  // threads would race
  if (reducer != Reducer::every_pe && (root < 0 || root >= of_team.n_pes)) return NVSHMEMX_ERROR_INVALID_VALUE;
  if (!team_barrier(state, team, group)) return NVSHMEMX_ERROR_INTERNAL;  // all sources may be read
  if (reducer != Reducer::every_pe && root != of_team.pe) return NVSHMEMX_SUCCESS;
  using Element = typename ElementOf<T>::Type;
  static_assert(std::is_integral_v<Element> || std::is_floating_point_v<Element> || std::is_same_v<Element, Half> ||
                    std::is_same_v<Element, Bfloat16>,
                "tile reductions: elements must be integers, float, double, __half or __nv_bfloat16");
  auto* const to = reinterpret_cast<Element*>(target.data);
  const auto* const from = reinterpret_cast<const Element*>(source.data);
  const bool is_shared = reducer == Reducer::every_pe && target.data == source.data;
  const bool is_spread = reducer == Reducer::root_for_all || is_shared;
  const EvenMembers members(of_team);
  const Share share{group.rank() + (is_shared ? members.me * group.size() : 0),
                    group.size() * (is_shared ? members.n : 1)};
  const Region region = region_of(target, source, start, boundary);
  if (is_irregular(state, team, of_team)) {
    reduce_region_over_nodes<reduction>(state, team, to, from, region, is_spread, share);
  } else {
    const auto both = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    const ReduceWords<reduction, Element> load{members, from};
    if (is_spread) {
      transform<2, sizeof(T)>(region, both, share, load, SpreadWords<Element>{members, to});
    } else {
      transform<2, sizeof(T)>(region, both, share, load, StoreWords<Element>{to});
    }
  }
  if (is_shared) return status_of(team_barrier(state, team, group));
  group.sync();
  return NVSHMEMX_SUCCESS;
}

/// tile_collective_wait. `is_push`: the algorithm stores to other PEs.
template <class Group>
GDRKIT_SHMEM_FUNCTION int wait_for_tiles(const State& state, Team team, bool is_push, std::uint64_t flag, Group group) {
  if (flag != 0) return NVSHMEMX_ERROR_INVALID_VALUE;
  if (is_push) return status_of(team_barrier(state, team, group));
  fence_release();  // pairs with the acquire of a thread that the caller signals; all stores are to this PE
  group.sync();
  return NVSHMEMX_SUCCESS;
}

}  // namespace gdrkit::shmem::detail

#endif
