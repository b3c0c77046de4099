// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives of much data of a team over several machines, by the CPUs: puts and gets between the PEs' buffers.
#pragma once

#include "base/result.hpp"
#include "shmem/collective/checked_call.hpp"
#include "shmem/collective/host_team.hpp"
#include "shmem/parts/transfers.hpp"

namespace gdrkit::shmem_impl::collective {

/// Synchronization of the team's PEs by `TeamCollectives::meet`.
class BulkMeeting {
 public:
  virtual base::Status meet() noexcept = 0;

 protected:
  ~BulkMeeting() = default;
};

/// Each PE puts its data to the targets of the others, in the order of their numbers from its own on, so that no PE
/// receives from all at the same time. A reduction is split: each PE gets its slice of all sources, and puts the result
/// to all PEs.
base::Status exchange_in_bulk(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked,
                              BulkMeeting& meeting) noexcept;

}  // namespace gdrkit::shmem_impl::collective
