// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Token: random bytes, used as a nonce, as a unique name, or to derive the secret of a job.
#pragma once

#include <array>
#include <string>

#include "base/result.hpp"
#include "shmem/secret/blake2s.hpp"

namespace gdrkit::shmem_impl::bootstrap {

using Token = std::array<unsigned char, 16>;

[[nodiscard]] base::Result<Token> make_token() noexcept;
[[nodiscard]] std::string to_hex(secret::Bytes bytes);
/// Derives the secret of a job from `bytes`. It is as hard to guess as they are.
[[nodiscard]] inline secret::Key secret_of(secret::Bytes bytes) noexcept { return secret::blake2s({}, {bytes}); }

}  // namespace gdrkit::shmem_impl::bootstrap
