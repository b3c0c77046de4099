// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives by the CPUs. For small data, each CPU reads its source and sends the data in the message of
// HostTeam::exchange. For more data of a team over several nodes, the CPUs put and get between the PEs' buffers.
#pragma once

#include <functional>

#include "base/result.hpp"
#include "shmem/collective/checked_call.hpp"
#include "shmem/collective/host_team.hpp"
#include "shmem/parts/transfers.hpp"

namespace gdrkit::shmem_impl::collective {

[[nodiscard]] constexpr bool fits_host_exchange(const CheckedCall& checked) noexcept {
  return checked.source_bytes <= parts::TeamWord::most_bytes;
}

/// The source as a message to the team, in `buffer` of TeamWord::most_bytes.
[[nodiscard]] base::Result<Message> read_source(parts::Transfers& transfers, const HostTeam& team,
                                                const CheckedCall& checked, unsigned char* buffer) noexcept;
/// Writes the data of all PEs, from the exchange of that message, to this PE's target.
base::Status write_target(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked) noexcept;

/// Synchronization of the team's PEs by `TeamCollectives::exchange`.
using Synchronize = std::function<base::Status()>;
/// Each PE puts its data to the targets of the others, in the order of their numbers from its own on, so that no PE
/// receives from all at the same time. A reduction is split: each PE gets its slice of all sources, and puts the result
/// to all PEs.
base::Status exchange_in_bulk(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked,
                              const Synchronize& synchronize) noexcept;

}  // namespace gdrkit::shmem_impl::collective
