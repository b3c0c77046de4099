// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/job_node.hpp"

#include <cstdio>
#include <cstring>
#include <new>

#include "base/result.hpp"
#include "shmem/bootstrap/star_wire.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

/// Result of a common step on one machine. It is sent with file descriptors, which limits its size.
struct MachineOutcome {
  std::int32_t pe = -1;  ///< the first of the machine that failed; -1: none
  std::int32_t errno_value = 0;
  std::int32_t vendor_code = 0;
  char text[240] = "";
};
static_assert(sizeof(MachineOutcome) <= 256);

/// Of two failures, selects the one of the lower PE, so that all PEs get the same result.
void fold_outcomes(void* state, const void* other) {
  auto& mine = *static_cast<MachineOutcome*>(state);
  MachineOutcome theirs;
  std::memcpy(&theirs, other, sizeof theirs);
  if (theirs.pe >= 0 && (mine.pe < 0 || theirs.pe < mine.pe)) mine = theirs;
}

}  // namespace

base::Status JobNode::agree_over_machines(base::Status status, const char* step) noexcept try {
  MachineOutcome outcome;
  if (!status) {
    outcome.pe = pes().front();
    outcome.errno_value = status.error().errno_value;
    outcome.vendor_code = status.error().vendor_code;
    std::snprintf(outcome.text, sizeof outcome.text, "%s", status.error().text());
  }
  if (remote_.is_leader()) {
    if (auto met = remote_.meet(&outcome, sizeof outcome, &fold_outcomes, step); !met) {
      outcome.pe = pes().front();
      outcome.errno_value = met.error().errno_value;
      std::snprintf(outcome.text, sizeof outcome.text, "%s", met.error().text());
    }
  }
  if (pes().size() > 1) {
    std::vector<MachineOutcome> all(pes().size());
    if (auto told = exchange_fds(-1, &outcome, sizeof outcome, all.data(), step); !told) return base::pass(told);
    outcome = all.front();
  }
  if (outcome.pe < 0 || !status) return status;
  outcome.text[sizeof outcome.text - 1] = '\0';
  return base::fail_vendor(bootstrap::errno_of_peer(outcome.errno_value), outcome.vendor_code, "%s", outcome.text);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while comparing the results of the nodes");
}

}  // namespace gdrkit::shmem_impl::parts
