// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cerrno>

#include "gdrkit/detail/shmem_private.h"
#include "transfer/shmem/check/check_list.hpp"

namespace gdrkit::transfer::shmem {
namespace {

gdrkit_shmem_device_state filled{};
int fills = 0;

int fill(const gdrkit_shmem_device_state* state) {
  filled = *state;
  ++fills;
  return 0;
}

/// The state for GPU kernels, now and after a change of the limit. Without a GPU there is none.
void check_state(Checker& checker) {
  constexpr std::uint32_t limit_ms = 60'000;
  (void)checker.succeeds(gdrkit_shmem_register_state(&fill), "register_state");
  (void)checker.succeeds(gdrkit_shmem_set_timeout(limit_ms), "set_timeout");
  (void)checker.succeeds(gdrkit_shmem_unregister_state(&fill), "unregister_state");
  (void)checker.succeeds(gdrkit_shmem_set_timeout(limit_ms), "set_timeout");
  const bool is_emulated = checker.session().choice().is_emulated;
  checker.demand(fills == (is_emulated ? 0 : 2), cli::format("a registered state was filled in %d times", fills));
  if (is_emulated) return;
  checker.demand(filled.pe == checker.pe() && filled.n_pes == checker.n_pes(), "the state is that of another PE");
  checker.demand(filled.limit_ns == std::uint64_t{limit_ms} * 1'000'000, "the state has another limit");
}

}  // namespace

void check_identity(Checker& checker) {
  const gdrkit_shmem_info info = checker.session().info();
  checker.demand(gdrkit_shmem_my_pe() == checker.pe(), "my_pe differs from get_info");
  checker.demand(gdrkit_shmem_n_pes() == checker.n_pes(), "n_pes differs from get_info");
  checker.demand(info.node_pes >= 1 && info.node_pes <= info.n_pes, cli::format("node_pes is %d", info.node_pes));
  checker.demand(info.heap_bytes != 0 && info.heap_bytes <= info.heap_max_bytes, "heap_bytes exceeds heap_max_bytes");
  gdrkit_shmem_pe_t own{};
  if (checker.succeeds(gdrkit_shmem_current(&own), "current")) (void)checker.succeeds(gdrkit_shmem_use(own), "use");
  const SymmetricMemory memory(checker, 1);
  void* own_copy = nullptr;
  (void)checker.succeeds(gdrkit_shmem_ptr(memory.data(), checker.pe(), &own_copy), "ptr of this PE's copy");
  checker.demand(own_copy == memory.data(), "ptr with this PE does not return this PE's own address");
  for (int pe = 0; pe < checker.n_pes(); ++pe) {
    // PEs that share a GPU have separate heaps.
    void* other = nullptr;
    const int result = gdrkit_shmem_ptr(memory.data(), pe, &other);
    checker.demand(result == 0 || result == -EOPNOTSUPP, cli::format("ptr of PE %d returns %d", pe, result));
    checker.demand(pe == checker.pe() || other != memory.data(), cli::format("ptr of PE %d is this PE's copy", pe));
  }
  check_state(checker);
}

}  // namespace gdrkit::transfer::shmem
