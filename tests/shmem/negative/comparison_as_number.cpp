// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// error: Comparison
#include <gdrkit/shmem.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

void use(const gdrkit::shmem::SymmetricSpan<std::uint64_t>& span) { span.wait_until(GDRKIT_SHMEM_EQ, 1); }
