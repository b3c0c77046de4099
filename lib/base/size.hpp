// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Sizes in options and environment variables: one grammar for the libraries and the tools.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace gdrkit::base {

/// The last part of every error message about a size.
inline constexpr const char* size_grammar =
    "write bytes, or K, M, G or T for powers of 1024, for example 64K, 64KiB or 1.5G";

/// "4096", "0x1000", "4K", "4k", "4KiB" and "0.00390625M" are all 4096. The unit of a plain number is `plain_unit`
/// bytes. A fraction requires a unit and is rounded up to whole bytes. Rejects any other text: signs, spaces,
/// separators, KB and MB (ambiguous: 1000 or 1024), and sizes that do not fit std::size_t.
[[nodiscard]] std::optional<std::size_t> to_size(std::string_view text, std::size_t plain_unit = 1) noexcept;

/// The grammar of OpenSHMEM and NVSHMEM. The unit is k, m, g or t in either case. Text after it is ignored ("20mb" is
/// 20 MiB). Rounds up to whole bytes.
[[nodiscard]] std::optional<std::size_t> to_nvshmem_size(std::string_view text) noexcept;

}  // namespace gdrkit::base
