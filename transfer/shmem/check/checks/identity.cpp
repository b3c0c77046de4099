// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/check_list.hpp"

namespace gdrkit::tools::pgas {

void check_identity(Checker& checker) {
  const gdrkit_shmem_info info = checker.session().info();
  checker.demand(gdrkit_shmem_my_pe() == checker.pe(), "my_pe differs from get_info");
  checker.demand(gdrkit_shmem_n_pes() == checker.n_pes(), "n_pes differs from get_info");
  checker.demand(info.node_pes >= 1 && info.node_pes <= info.n_pes, format("node_pes is %d", info.node_pes));
  checker.demand(info.heap_bytes != 0 && info.heap_bytes <= info.heap_max_bytes, "heap_bytes exceeds heap_max_bytes");
  gdrkit_shmem_pe_t own{};
  if (checker.succeeds(gdrkit_shmem_current(&own), "current")) (void)checker.succeeds(gdrkit_shmem_use(own), "use");
  const SymmetricMemory memory(checker, 1);
  checker.demand(gdrkit_shmem_ptr(memory.data(), checker.pe()) == memory.data(), "ptr of the own copy differs from it");
  for (int pe = 0; pe < checker.n_pes(); ++pe) {
    // Several PEs may share a GPU; their heaps are apart all the same.
    const void* const other = gdrkit_shmem_ptr(memory.data(), pe);
    checker.demand(pe == checker.pe() || other != memory.data(), format("ptr of PE %d is the own copy", pe));
  }
}

}  // namespace gdrkit::tools::pgas
