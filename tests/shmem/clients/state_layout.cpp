// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Compares shmem/nvshmem/state_layout.hpp with NVSHMEM's headers, at compile time (with_nvshmem.sh).
#include "shmem/nvshmem/state_layout.hpp"

#include <cuda_runtime.h>
//
#include <device_host/nvshmem_common.cuh>

namespace here = gdrkit::shmem_impl::nvshmem;
using State = nvshmemi_device_host_state_t;
using Team = nvshmemi_team_t;
using Tuning = gpu_coll_env_params_t;

template <class Member, class T>
constexpr bool is_at(std::size_t offset, here::Field<T> field) {
  return offset == field.offset && sizeof(Member) == sizeof(T);
}
#define IS_STATE(field, member) \
  static_assert(is_at<decltype(State::member)>(offsetof(State, member), here::state::field))
#define IS_TUNING(field, member)                                                                                     \
  static_assert(is_at<decltype(Tuning::member)>(offsetof(State, gpu_coll_env_params_var) + offsetof(Tuning, member), \
                                                here::state::field))
#define IS_TEAM(field, member) static_assert(is_at<decltype(Team::member)>(offsetof(Team, member), here::team::field))

constexpr here::StateLayout layout =
    *here::find_layout({NVSHMEM_VENDOR_MAJOR_VERSION, NVSHMEM_VENDOR_MINOR_VERSION, NVSHMEM_VENDOR_PATCH_VERSION});
static_assert(sizeof(State) == layout.state_bytes && sizeof(State) <= here::state::largest_bytes);
static_assert(sizeof(Team) == layout.team_bytes && sizeof(Team) <= here::team::largest_bytes);
static_assert(sizeof(Tuning) == here::state::tuning_bytes);
static_assert(sizeof(nvshmemi_timeout_t) == here::state::timeout_bytes);
static_assert(SYNC_SIZE == layout.row_words && NVSHMEMI_SYNC_SIZE == 2 * SYNC_SIZE);
static_assert(NVSHMEMI_BCAST_SYNC_SIZE == 10 * SYNC_SIZE && NVSHMEMI_ALLTOALL_SYNC_SIZE == SYNC_SIZE);
static_assert(sizeof(nvshmemi_version_t) == sizeof(here::Version));
static_assert(NVSHMEMI_JOB_GPU_LDST_ATOMICS == 1 && NVSHMEMI_PROXY_NONE == 0 && NVSHMEMI_PE_DIST_BLOCK == 1);
static_assert(FCOLLECT_ONESHOT == 2 && NVSHMEMX_TEAM_SAME_MYPE_NODE == 3);

IS_STATE(version, version);
IS_STATE(pe, mype);
IS_STATE(n_pes, npes);
IS_STATE(node_pe, node_mype);
IS_STATE(node_n_pes, node_npes);
IS_STATE(pe_distribution, pe_dist);
IS_STATE(proxy, proxy);
IS_STATE(connectivity, job_connectivity);
IS_STATE(heap_address, heap_base);
IS_STATE(heap_bytes, heap_size);
IS_STATE(peer_heaps, peer_heap_base_p2p);
IS_STATE(timeout, timeout);
IS_STATE(wait_start, test_wait_any_start_idx_ptr);
IS_STATE(teams, team_pool);
IS_STATE(sync_words, psync_pool);
IS_STATE(sync_counts, sync_counter);
IS_STATE(is_initialized, nvshmemi_is_nvshmem_initialized);
IS_STATE(is_bootstrapped, nvshmemi_is_nvshmem_bootstrapped);
IS_TUNING(tuning_version, version);
IS_TUNING(barrier_radix, barrier_dissem_kval);
IS_TUNING(group_barrier_radix, barrier_tg_dissem_kval);
IS_TUNING(reduce_radix, reduce_recexch_kval);
IS_TUNING(broadcast_radix, bcast_tree_kval);
IS_TUNING(broadcast_algorithm, bcast_algo);
IS_TUNING(small_fcollect_bytes, fcollect_ll_threshold);
IS_TUNING(reduce_scratch_bytes, reduce_scratch_size);
IS_TUNING(fcollect_algorithm, fcollect_algo);
IS_TUNING(middle_fcollect_bytes, fcollect_ll128_threshold);
IS_TEAM(version, version);
IS_TEAM(pe, my_pe);
IS_TEAM(first_pe, start);
IS_TEAM(stride, stride);
IS_TEAM(n_pes, size);
IS_TEAM(index, team_idx);
IS_TEAM(flag, ll_flag);
IS_TEAM(fcollect_flag, fcollect_ll_flag);
IS_TEAM(has_access, are_gpus_p2p_connected);
IS_TEAM(is_node, is_team_node);
IS_TEAM(node_team, team_node);
IS_TEAM(peer_node_team, team_same_mype_node);
static_assert(offsetof(Team, team_dups) == here::team::first_duplicate.offset);
IS_TEAM(pe_map, pe_mapping);
