// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// error: store
#include <gdrkit/shmem.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

void use(const gdrkit::shmem::SymmetricSpan<const float>& span) { span.store(1, 0); }
