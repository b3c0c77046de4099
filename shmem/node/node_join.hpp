// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How PEs form a node.
#pragma once

#include "shmem/bootstrap/rendezvous.hpp"
#include "shmem/node/machine_name.hpp"
#include "shmem/node/node.hpp"

namespace gdrkit::shmem_impl::node {

/// Node::join for a PE on a machine of this name; tests give other names than the real one. The shared area has
/// `bytes_for_each` in addition for each PE of the node. PEs connect through `rendezvous`. Returns EHOSTUNREACH if a PE
/// with the same configured machine name is unreachable, and EPROTO if only some PEs configure one.
[[nodiscard]] base::Result<std::unique_ptr<Node>> join_node(const MachineName& machine, bootstrap::Exchange& exchange,
                                                            std::size_t area_bytes, std::chrono::milliseconds limit,
                                                            std::size_t bytes_for_each = 0,
                                                            const bootstrap::Rendezvous& rendezvous = {});

}  // namespace gdrkit::shmem_impl::node
