// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SipHash-2-4: a message authentication code for short messages.
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

/// The variant with 64 bits of output, in the byte order of the machine. An attacker guesses it after 2^63 messages on
/// average.
[[nodiscard]] std::uint64_t siphash_64(const SipKey& key, Bytes message) noexcept;

}  // namespace gdrkit::shmem_impl::secret
