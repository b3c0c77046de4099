// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// VendorText: contents of buffers filled by vendor libraries, as text that is safe to print and record.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "diag/topology/text_parts.hpp"
#include "platform/facts/number_list.hpp"

namespace gdrkit::diag {

/// Up to the first zero byte or `size`; bytes that are not printable ASCII become '?'.
[[nodiscard]] inline std::string printable(const char* buffer, std::size_t size) {
  return topology::plain({buffer, strnlen(buffer, size)}, size);
}

/// "0-31,64-95": the numbers of the bits that are set.
[[nodiscard]] inline std::string list_of_bits(const unsigned long* words, std::size_t count) {
  constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;
  std::vector<int> numbers;
  for (std::size_t bit = 0; bit < count * word_bits; ++bit) {
    if ((words[bit / word_bits] >> (bit % word_bits) & 1u) != 0) numbers.push_back(static_cast<int>(bit));
  }
  return platform::to_list_text(numbers);
}

[[nodiscard]] inline std::string digits_of(const std::uint8_t* bytes, std::size_t count) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (std::size_t at = 0; at < count; ++at) {
    text += digits[bytes[at] >> 4];
    text += digits[bytes[at] & 15];
  }
  return text;
}

}  // namespace gdrkit::diag
