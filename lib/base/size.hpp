// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Sizes in options and environment variables: one grammar for the libraries and the tools.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace gdrkit::base {

/// Ends every error message about a size.
inline constexpr const char* size_grammar =
    "write bytes, or K, M, G or T for powers of 1024, for example 64K, 64KiB or 1.5G";

/// "4096", "0x1000", "4K", "4k", "4KiB" and "0.00390625M" are all 4096. A number without a unit counts `plain_unit`
/// bytes. A fraction needs a unit and is rounded up to whole bytes. Returns nothing for any other text: signs, spaces,
/// separators, KB and MB (1000 for some, 1024 for others), and sizes that do not fit std::size_t.
[[nodiscard]] std::optional<std::size_t> to_size(std::string_view text, std::size_t plain_unit = 1) noexcept;

/// OpenSHMEM's and NVSHMEM's grammar: one of k, m, g and t in either case is the unit, and text after it is ignored
/// ("20mb" is 20 MiB). Rounded up to whole bytes.
[[nodiscard]] std::optional<std::size_t> to_nvshmem_size(std::string_view text) noexcept;

}  // namespace gdrkit::base
