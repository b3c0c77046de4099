// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Token: a random word that only the PEs of one job know.
#pragma once

#include <array>
#include <string>

#include "base/result.hpp"

namespace gdrkit::shmem {

using Token = std::array<unsigned char, 16>;

[[nodiscard]] base::Result<Token> make_token() noexcept;
/// Takes the same time wherever they differ, so that a stranger does not learn it byte by byte.
[[nodiscard]] bool are_equal(const Token& one, const Token& other) noexcept;
/// 32 hexadecimal digits.
[[nodiscard]] std::string to_text(const Token& token);
/// Of any text: the same for the same text. No secret if the text is none.
[[nodiscard]] Token token_of_text(const std::string& text) noexcept;

}  // namespace gdrkit::shmem
