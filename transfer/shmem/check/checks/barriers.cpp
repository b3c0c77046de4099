// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/check_list.hpp"

namespace gdrkit::transfer::shmem {

/// Every PE writes the number of the round to its place at every PE. After the barrier all places must have this
/// number, and none the next one.
void check_barriers(Checker& checker) {
  const auto pes = static_cast<std::size_t>(checker.n_pes());
  const SymmetricMemory memory(checker, pes * sizeof(std::uint64_t));
  checker.fill(memory.data(), 0, pes * sizeof(std::uint64_t));
  checker.barrier();
  std::vector<std::uint64_t> seen(pes);
  for (int round = 1; round <= checker.options().rounds; ++round) {
    const bool is_sync = round % 2 == 0;
    const auto number = static_cast<std::uint64_t>(round);
    for (int pe = 0; pe < checker.n_pes(); ++pe) {
      (void)checker.succeeds(gdrkit_shmem_uint64_p(memory.as<std::uint64_t>() + checker.pe(), number, pe),
                             cli::format("p to PE %d", pe));
    }
    if (is_sync) (void)checker.succeeds(gdrkit_shmem_quiet(), "quiet");
    job::require(is_sync ? gdrkit_shmem_sync_all() : gdrkit_shmem_barrier_all(), is_sync ? "sync_all" : "barrier_all");
    checker.read(seen.data(), memory.data(), pes * sizeof(std::uint64_t));
    for (std::size_t pe = 0; pe < pes; ++pe) {
      checker.demand(seen[pe] == number, cli::format("round %d: after %s, the word of PE %zu is %llu", round,
                                                     is_sync ? "quiet and sync_all" : "barrier_all", pe,
                                                     static_cast<unsigned long long>(seen[pe])));
    }
    job::require(gdrkit_shmem_sync_all(), "sync_all");
  }
}

}  // namespace gdrkit::transfer::shmem
