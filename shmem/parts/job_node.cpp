// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/job_node.hpp"

#include <cstring>
#include <new>

#include "base/result.hpp"
#include "shmem/bootstrap/star_wire.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

/// Result of a common step on one node. It is sent with file descriptors, which limits its size.
struct NodeOutcome {
  std::int32_t pe = -1;  ///< the first of the node that failed; -1: none
  bootstrap::PeOutcome outcome;
};
static_assert(sizeof(NodeOutcome) <= 256);

/// Of two failures, selects the one of the lower PE, so that all PEs get the same result.
void fold_outcomes(void* state, const void* other) {
  auto& mine = *static_cast<NodeOutcome*>(state);
  NodeOutcome theirs;
  std::memcpy(&theirs, other, sizeof theirs);
  if (theirs.pe >= 0 && (mine.pe < 0 || theirs.pe < mine.pe)) mine = theirs;
}

}  // namespace

base::Status JobNode::agree_over_nodes(base::Status status, const char* step) noexcept try {
  NodeOutcome mine;
  const auto note = [&](const base::Status& done) {
    if (!done) mine = {pes().front(), bootstrap::PeOutcome(done)};
  };
  note(status);
  if (remote_.is_leader()) note(remote_.allreduce(&mine, sizeof mine, &fold_outcomes, step));
  if (pes().size() > 1) {
    std::vector<NodeOutcome> all(pes().size());
    if (auto exchanged = exchange_fds(-1, &mine, sizeof mine, all.data(), step); !exchanged)
      return base::pass(exchanged);
    mine = all.front();
  }
  if (mine.pe < 0 || !status) return status;
  const bootstrap::PeOutcome& first = mine.outcome;
  return base::fail_vendor(bootstrap::errno_of_peer(first.errno_value), first.vendor_code, "%.*s",
                           static_cast<int>(sizeof first.text), first.text);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while comparing the results of the nodes");
}

}  // namespace gdrkit::shmem_impl::parts
