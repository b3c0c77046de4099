// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// error: fetch_add
#include <gdrkit/shmem.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

void use(const gdrkit::shmem::SymmetricSpan<char>& span) { span.fetch_add(1, 0); }
