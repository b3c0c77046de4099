// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Size: how tools parse and print sizes; base/size.hpp defines the grammar.
#pragma once

#include <cstddef>
#include <string>

#include "base/size.hpp"

namespace gdrkit::cli {

using base::size_grammar;
using base::to_size;

/// Exact and human-readable: "16 MiB", "4 KiB", "1000 B".
[[nodiscard]] std::string size_text(std::size_t size_bytes);
/// Rounded, if the last byte does not matter: "139.8 GiB" of free memory.
[[nodiscard]] std::string rough_size_text(std::size_t size_bytes);
/// In the form that options accept: "16M", "4K", "1000".
[[nodiscard]] std::string size_word(std::size_t size_bytes);

}  // namespace gdrkit::cli
