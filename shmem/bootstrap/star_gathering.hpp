// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How the centre of a star lets its members in.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "shmem/bootstrap/star.hpp"
#include "shmem/bootstrap/star_peer.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// Fills `peers` (one for each position, the first stays empty) until all have come. Those that came are told of a
/// failure.
[[nodiscard]] base::Status let_members_in(int listener, const StarGroup& group, std::vector<StarPeer>* peers);

/// To all that are connected, without waiting: they look for it before they say that the connection ended.
void tell_failure(const base::Error& error, bool is_final, std::vector<StarPeer>* peers) noexcept;

}  // namespace gdrkit::shmem_impl::bootstrap
