// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// error: the source is a temporary object
#include <gdrkit/shmem.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

void use(const gdrkit::shmem::SymmetricSpan<float>& span) { span.put_on_stream(std::vector<float>(4), 0, nullptr); }
