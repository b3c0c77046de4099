// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/check_list.hpp"

namespace gdrkit::transfer::shmem {

const std::vector<Check>& all_checks() {
  static const std::vector<Check> all = {
#define GDRKIT_SHMEM_CHECK(name, summary) {#name, summary, &check_##name},
#include "transfer/shmem/check/checks.def"
#undef GDRKIT_SHMEM_CHECK
  };
  return all;
}

}  // namespace gdrkit::transfer::shmem
