// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/size.hpp"

#include <cstring>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::cli {
namespace {

constexpr const char* units = "KMGT";

constexpr std::size_t unit_bytes(std::size_t index) { return std::size_t{1} << (10 * (index + 1)); }

}  // namespace

std::string size_text(std::size_t size_bytes) {
  for (std::size_t index = std::strlen(units); index-- > 0;) {
    const std::size_t unit = unit_bytes(index);
    if (size_bytes != 0 && size_bytes % unit == 0) return format("%zu %ciB", size_bytes / unit, units[index]);
  }
  return format("%zu B", size_bytes);
}

std::string rough_size_text(std::size_t size_bytes) {
  for (std::size_t index = std::strlen(units); index-- > 0;) {
    const auto unit = static_cast<double>(unit_bytes(index));
    const auto size = static_cast<double>(size_bytes);
    if (size >= unit) return format("%.*f %ciB", size < 100 * unit ? 1 : 0, size / unit, units[index]);
  }
  return format("%zu B", size_bytes);
}

std::string size_word(std::size_t size_bytes) {
  for (std::size_t index = std::strlen(units); index-- > 0;) {
    if (size_bytes != 0 && size_bytes % unit_bytes(index) == 0) {
      return format("%zu%c", size_bytes / unit_bytes(index), units[index]);
    }
  }
  return std::to_string(size_bytes);
}

}  // namespace gdrkit::cli
