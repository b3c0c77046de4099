// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The checks of checks.def.
#pragma once

#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {

struct Check {
  const char* name;
  const char* summary;
  void (*run)(Checker& checker);
};

#define GDRKIT_SHMEM_CHECK(name, summary) void check_##name(Checker& checker);
#include "transfer/shmem/check/checks.def"
#undef GDRKIT_SHMEM_CHECK

inline constexpr Check all_checks[] = {
#define GDRKIT_SHMEM_CHECK(name, summary) {#name, summary, &check_##name},
#include "transfer/shmem/check/checks.def"
#undef GDRKIT_SHMEM_CHECK
};

}  // namespace gdrkit::transfer::shmem
