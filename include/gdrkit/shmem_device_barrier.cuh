// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief The barrier of all PEs for GPU kernels. Included by gdrkit/shmem_device.cuh.
#ifndef GDRKIT_SHMEM_DEVICE_BARRIER_CUH
#define GDRKIT_SHMEM_DEVICE_BARRIER_CUH

#include <gdrkit/shmem_device_signal.cuh>

namespace gdrkit::shmem {

/// @defgroup shmem_device_barrier Barrier
/// @ingroup shmem_device
/// @brief Barrier of all PEs.
/// @{

/// @brief Words of the caller's heap that barriers use (gdrkit_shmem_device_state::sync_address).
struct SyncWords {
  std::uint64_t rounds;          ///< Number of barriers that this PE has begun.
  std::uint64_t unused[15];      ///< Padding: `arrivals` begins on another cache line.
  std::uint64_t arrivals[1024];  ///< Number of barriers that each PE has begun.
};

/// @brief Waits for all PEs, and makes earlier writes of the group visible to all of them.
///
/// The threads of the group store this PE's arrival to all other PEs in parallel.
/// @param[in] state State of the PE.
/// @param[in] group Threads that take part: one group of each PE. A PE must not be in two barriers at the same time.
/// @return true on success. false if a wait of the calling thread exceeded the state's limit or a PE has ended; other
///   threads of the group may return true. The job must not call another barrier after false.
/// @note Collective over the job.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool barrier_all(const State& state, Group group) {
  auto* const own = reinterpret_cast<SyncWords*>(state.sync_address);
  group.sync();
  const std::uint64_t round = own->rounds + 1;
  group.sync();
  if (group.rank() == 0) own->rounds = round;
  if (state.proxy_address != 0) {
    // Puts to other nodes complete before PEs of this node see the barrier.
    if (group.rank() == 0) detail::arrive_by_proxy(state, round);
    group.sync();
  }
  detail::fence_release();
  bool has_arrived = true;
  GDRKIT_SHMEM_ROLLED
  for (int other = static_cast<int>(group.rank()); other < state.n_pes; other += static_cast<int>(group.size())) {
    if (state.proxy_address == 0 || !detail::is_proxied(state, other)) {
      detail::store_relaxed(&detail::address_on_pe(state, own, other)->arrivals[state.pe], round);
    }
  }
  GDRKIT_SHMEM_ROLLED
  for (int other = static_cast<int>(group.rank()); other < state.n_pes; other += static_cast<int>(group.size())) {
    const std::uint64_t* const arrival = &own->arrivals[other];
    has_arrived =
        has_arrived && detail::wait_for(state, arrival, [=] { return detail::load_polled(arrival) >= round; });
  }
  group.sync();
  return has_arrived;
}

/// @}

}  // namespace gdrkit::shmem

#endif
