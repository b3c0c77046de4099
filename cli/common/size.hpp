// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Size: the one grammar in which all tools of ours accept sizes, and how they print them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace gdrkit::tools {

/// Ends every error message about a size.
inline constexpr const char* size_grammar = "write bytes, or K, M, G or T for powers of 1024, for example 64K or 1M";

/// "4096", "0x1000", "4K", "4k" and "4KiB" are all 4096. A number without a unit counts `plain_unit` bytes. Empty for
/// all else: signs, fractions, spaces, KB and MB (1000 for some, 1024 for others), and what does not fit std::size_t.
[[nodiscard]] std::optional<std::size_t> to_size(const std::string& text, std::size_t plain_unit = 1);

/// For people, exact: "16 MiB", "4 KiB", "1000 B".
[[nodiscard]] std::string size_text(std::size_t size_bytes);
/// For people, where the last byte says nothing: "139.8 GiB" of free memory.
[[nodiscard]] std::string rough_size_text(std::size_t size_bytes);
/// As an option accepts it: "16M", "4K", "1000".
[[nodiscard]] std::string size_word(std::size_t size_bytes);

}  // namespace gdrkit::tools
