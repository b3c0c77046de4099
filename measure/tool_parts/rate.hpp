// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Rate: GB/s next to the time of a copy that is large enough for a meaningful rate.
#pragma once

#include <cstddef>
#include <string>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::measure {

/// A page: below it the time of a copy is mostly that of one bus access.
inline constexpr std::size_t smallest_rated_bytes = 4096;

/// "12.3" GB/s (10^9 bytes a second); "" for smaller copies.
[[nodiscard]] inline std::string rate_text(std::size_t size_bytes, double ns) {
  if (size_bytes < smallest_rated_bytes || !(ns > 0)) return "";
  const double rate = static_cast<double>(size_bytes) / ns;
  return cli::format(rate < 10 ? "%.2f" : "%.1f", rate);
}

}  // namespace gdrkit::measure
