// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives of much data of a team over several machines, by the CPUs: puts and gets between the PEs' buffers.
#pragma once

#include "base/result.hpp"
#include "shmem/collective/checked_call.hpp"
#include "shmem/collective/host_team.hpp"
#include "shmem/parts/transfers.hpp"

namespace gdrkit::shmem_impl::collective {

/// The team's PEs meet, as TeamCollectives::meet does.
class BulkMeeting {
 public:
  virtual base::Status meet() noexcept = 0;

 protected:
  ~BulkMeeting() = default;
};

/// Each PE puts its data into each other's target, one after the other from its own number on, so that no PE gets from
/// all at once. A reduction is split: each PE gets its slice of everyone's source, and puts the result to all.
base::Status exchange_in_bulk(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked,
                              BulkMeeting& meeting) noexcept;

}  // namespace gdrkit::shmem_impl::collective
