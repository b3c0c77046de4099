// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/common/size.hpp"

#include <charconv>
#include <cstdint>
#include <cstring>

#include "cli/common/exit_code.hpp"

namespace gdrkit::tools {
namespace {

constexpr const char* units = "KMGT";

constexpr std::size_t unit_bytes(std::size_t index) { return std::size_t{1} << (10 * (index + 1)); }

/// Of "K", "k" and "KiB"; empty for all else.
std::optional<std::size_t> to_unit(const std::string& text) {
  if (text.size() != 1 && !(text.size() == 3 && text.substr(1) == "iB")) return std::nullopt;
  const char letter = text[0] >= 'a' && text[0] <= 'z' ? static_cast<char>(text[0] - 'a' + 'A') : text[0];
  const char* const found = std::strchr(units, letter);
  if (found == nullptr || *found == '\0') return std::nullopt;
  return unit_bytes(static_cast<std::size_t>(found - units));
}

}  // namespace

std::optional<std::size_t> to_size(const std::string& text, std::size_t plain_unit) {
  const bool is_hex = text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
  const char* const end = text.data() + text.size();
  std::size_t count = 0;
  const auto [stop, error] = std::from_chars(text.data() + (is_hex ? 2 : 0), end, count, is_hex ? 16 : 10);
  if (error != std::errc()) return std::nullopt;
  const std::optional<std::size_t> unit = stop == end ? plain_unit : to_unit(std::string(stop, end));
  if (!unit || count > SIZE_MAX / *unit) return std::nullopt;
  return count * *unit;
}

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

}  // namespace gdrkit::tools
