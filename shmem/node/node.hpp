// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Node: the PEs of one machine that can share memory. It has their shared memory, exchanges file descriptors and
// detects ended PEs.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "shmem/bootstrap/exchange.hpp"

namespace gdrkit::shmem_impl::node {

/// Nothing remains when the processes end: memory files have no name, and sockets have abstract names (see Rendezvous
/// for sockets in a directory). Processes of other users cannot join.
class Node {
 public:
  /// Collective over all PEs of `exchange`, which is not used after the call. PEs are on one node if their machines
  /// have the same boot identifier and they can connect. PEs in other network namespaces (containers) are on other
  /// nodes. The node's PEs share `area_bytes` of zeroed memory.
  [[nodiscard]] static base::Result<std::unique_ptr<Node>> join(bootstrap::Exchange& exchange, std::size_t area_bytes,
                                                                std::chrono::milliseconds limit) noexcept;
  virtual ~Node() = default;

  [[nodiscard]] virtual const std::vector<int>& pes() const noexcept = 0;  ///< of this node, ascending
  [[nodiscard]] virtual bool has(int pe) const noexcept = 0;
  [[nodiscard]] virtual int index_of(int pe) const noexcept = 0;  ///< position in pes(); -1 for a PE of another node
  [[nodiscard]] virtual void* area() const noexcept = 0;

  /// Collective over the node's PEs, one thread each. Sends `fd` (-1: none; the caller keeps it) to all other PEs.
  /// Returns the descriptors by position in pes(); this PE's own entry is empty. Also gathers `size_bytes` of `mine`
  /// (at most 256, the same on all PEs) in `all`. Errors: as Exchange::allgather.
  [[nodiscard]] virtual base::Result<std::vector<base::UniqueFd>> exchange_fds(int fd, const void* mine,
                                                                               std::size_t size_bytes, void* all,
                                                                               const char* step) noexcept = 0;

  /// Returns false if the process of that PE of this node has ended in any way, or its Node was destroyed; true for a
  /// PE of another node. One system call; any thread. A forked child does not count as alive; a child created without
  /// fork handlers (`_Fork`, a bare `clone`) does until it calls exec or exits.
  [[nodiscard]] virtual bool is_alive(int pe) noexcept = 0;
  /// Returns the first PE that any PE found dead or passed to note_dead(); -1: none. PEs that called leave() do not
  /// count. Once it is not -1, the result is final and the same on all PEs.
  [[nodiscard]] virtual int first_dead() noexcept = 0;
  /// Records that a PE of another node is dead, so that this node's PEs report it. Returns the PE that was recorded
  /// first.
  virtual int note_dead(int pe) noexcept { return pe; }
  /// Announces that this PE finalizes: its end is not a failure from now on.
  virtual void leave() noexcept = 0;

  /// Makes progress on messages of other nodes, if any. Call it in waits.
  virtual void poll() noexcept {}
  /// Collective over the job's PEs, one thread each, with the same status on all PEs of a node. Fails on all PEs if one
  /// node's status is a failure.
  virtual base::Status agree_over_nodes(base::Status status, const char* /*step*/) noexcept { return status; }
};

}  // namespace gdrkit::shmem_impl::node
