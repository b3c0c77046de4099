// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Token: a random word: a nonce, a name that nobody else has, or what the secret of a job is made of.
#pragma once

#include <array>
#include <string>

#include "base/result.hpp"
#include "shmem/secret/blake2s.hpp"

namespace gdrkit::shmem_impl::bootstrap {

using Token = std::array<unsigned char, 16>;

[[nodiscard]] base::Result<Token> make_token() noexcept;
/// 32 hexadecimal digits.
[[nodiscard]] std::string to_text(const Token& token);
/// The secret of a job: the same for the same bytes, and as hard to guess as they are.
[[nodiscard]] inline secret::Key secret_of(secret::Bytes bytes) noexcept { return secret::blake2s({}, {bytes}); }

}  // namespace gdrkit::shmem_impl::bootstrap
