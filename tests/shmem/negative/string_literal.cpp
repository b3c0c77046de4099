// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// error: a string literal includes its terminating zero
#include <gdrkit/shmem.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

void use(const gdrkit::shmem::SymmetricSpan<char>& span) { span.put("text", 0); }
