// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How the centre of a star accepts its members.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "shmem/bootstrap/star.hpp"
#include "shmem/bootstrap/star_peer.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// Accepts members until `peers` is complete (one per position; the first stays empty). A failure is sent to the
/// members that have connected.
[[nodiscard]] base::Status accept_members(int listener, const StarGroup& group, std::vector<StarPeer>* peers);

/// Sends the failure to all connected members, without waiting. They read it before they report the end of the
/// connection.
void send_failure(const base::Error& error, bool is_final, std::vector<StarPeer>* peers) noexcept;

}  // namespace gdrkit::shmem_impl::bootstrap
