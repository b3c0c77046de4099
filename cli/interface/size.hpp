// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Size: how tools accept and print sizes; the grammar is base/size.hpp's.
#pragma once

#include <cstddef>
#include <string>

#include "base/size.hpp"

namespace gdrkit::cli {

using base::size_grammar;
using base::to_size;

/// For people, exact: "16 MiB", "4 KiB", "1000 B".
[[nodiscard]] std::string size_text(std::size_t size_bytes);
/// For people, where the last byte says nothing: "139.8 GiB" of free memory.
[[nodiscard]] std::string rough_size_text(std::size_t size_bytes);
/// As an option accepts it: "16M", "4K", "1000".
[[nodiscard]] std::string size_word(std::size_t size_bytes);

}  // namespace gdrkit::cli
