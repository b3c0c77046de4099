// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Node: the PEs that share this machine: memory they all map, descriptors they hand each other, and who of them lives.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "shmem/bootstrap/exchange.hpp"
#include "shmem/bootstrap/unique_fd.hpp"

namespace gdrkit::shmem_impl::node {

/// It leaves nothing behind when the processes end: memory files have no name, and sockets have abstract names (files
/// in a folder: MeetingPlace). Processes of other users cannot join.
class Node {
 public:
  /// Collective over all PEs of `exchange`, which is not used after it returned. The machine is recognised by its boot
  /// identifier and by whether a connection to the PE succeeds: PEs in other network namespaces (containers) are on
  /// other nodes. `area_bytes` of zeroed memory are shared by the node's PEs.
  [[nodiscard]] static base::Result<std::unique_ptr<Node>> join(bootstrap::Exchange& exchange, std::size_t area_bytes,
                                                                std::chrono::milliseconds limit) noexcept;
  virtual ~Node() = default;

  [[nodiscard]] virtual const std::vector<int>& pes() const noexcept = 0;  ///< of this node, ascending
  [[nodiscard]] virtual bool has(int pe) const noexcept = 0;
  [[nodiscard]] virtual int index_of(int pe) const noexcept = 0;  ///< position in pes(); -1 for a PE of another node
  [[nodiscard]] virtual void* area() const noexcept = 0;

  /// Collective over the node's PEs, one thread each. `fd` (-1: none; stays the caller's) goes to all others: the
  /// answer holds each PE's by its position in pes(), and an empty one at this PE's own. With it go `size_bytes` of
  /// `mine` (at most 256, the same on all PEs), gathered in that order in `all`. Errors as Exchange::allgather's.
  [[nodiscard]] virtual base::Result<std::vector<bootstrap::UniqueFd>> exchange_fds(int fd, const void* mine,
                                                                                    std::size_t size_bytes, void* all,
                                                                                    const char* step) noexcept = 0;

  /// false once the process of that PE of this node has ended, however it did, or its Node is gone; true for a PE of
  /// another node. One system call; any thread. A child that a PE forks keeps nobody alive; one made without fork
  /// handlers (`_Fork`, a bare `clone`) does until it execs or ends.
  [[nodiscard]] virtual bool is_alive(int pe) noexcept = 0;
  /// The PE of this node that any PE first found to have ended, or its Node to be gone, or that was noted; -1: none.
  /// PEs that left() are not counted. The same answer for ever and on all PEs, once it is not -1.
  [[nodiscard]] virtual int first_dead() noexcept = 0;
  /// Of a PE of another node, which this node's PEs then name as one of their own; answers the one that counts.
  virtual int note_dead(int pe) noexcept { return pe; }
  /// Says that this PE finalizes: its end is no failure from now on.
  virtual void leave() noexcept = 0;

  /// Moves what other machines sent, where there are any; for those who wait.
  virtual void poll() noexcept {}
  /// Collective over the job's PEs, one thread each, with the same status on all PEs of a node: the failure of any.
  virtual base::Status agree_over_machines(base::Status status, const char* /*step*/) noexcept { return status; }
};

}  // namespace gdrkit::shmem_impl::node
