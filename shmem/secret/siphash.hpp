// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SipHash-2-4 with 128 bits of output: a message authentication code for short messages, about 30 ns for 72 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "shmem/secret/blake2s.hpp"

namespace gdrkit::shmem_impl::secret {

using SipKey = std::array<std::uint8_t, 16>;
using Tag = std::array<std::uint8_t, 16>;

/// Hashes `head` followed directly by `rest`. The size of `head` must be a multiple of 8.
[[nodiscard]] Tag siphash(const SipKey& key, Bytes head, Bytes rest = {}) noexcept;

}  // namespace gdrkit::shmem_impl::secret
