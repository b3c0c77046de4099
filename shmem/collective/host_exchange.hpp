// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HostExchange: collectives of small data by the CPUs. Each CPU reads its source and exchanges the data through shared
// host memory.
#pragma once

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
/// Writes the data of all PEs, from the meeting with that message, to this PE's target.
base::Status write_target(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked) noexcept;

}  // namespace gdrkit::shmem_impl::collective
