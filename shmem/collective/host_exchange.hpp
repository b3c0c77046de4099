// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HostExchange: collectives of little data by the CPUs: each reads its source, and all tell each other through shared
// host memory.
#pragma once

#include "base/result.hpp"
#include "shmem/collective/checked_call.hpp"
#include "shmem/collective/host_team.hpp"

namespace gdrkit::shmem {

[[nodiscard]] constexpr bool fits_host_exchange(const CheckedCall& checked) noexcept {
  return checked.source_bytes <= TeamWord::most_bytes;
}

/// The source as a message to the team, in `buffer` of TeamWord::most_bytes.
[[nodiscard]] base::Result<Message> read_source(Pe& pe, const HostTeam& team, const CheckedCall& checked,
                                                unsigned char* buffer) noexcept;
/// After the meeting with that message: what all said, put together in the own target.
base::Status write_target(Pe& pe, const HostTeam& team, const CheckedCall& checked) noexcept;

/// For teams that only messages reach: meets with one piece of the source after the other. `meet` as TeamCollectives's.
class PieceMeeting {
 public:
  virtual base::Status meet(const Message& message) noexcept = 0;

 protected:
  ~PieceMeeting() = default;
};
base::Status exchange_by_pieces(Pe& pe, const HostTeam& team, const CheckedCall& checked,
                                PieceMeeting& meeting) noexcept;

}  // namespace gdrkit::shmem
