// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "base/size.hpp"

#include <cstdint>

#include "base/number.hpp"

namespace gdrkit::base {
namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::string_view units = "kmgt";

/// The factor of "K", "k", "KiB" and the like; 0 for any other text.
std::size_t to_unit(std::string_view text) noexcept {
  if (text.size() != 1 && !(text.size() == 3 && text.substr(1) == "iB")) return 0;
  const char letter = text[0] >= 'A' && text[0] <= 'Z' ? static_cast<char>(text[0] - 'A' + 'a') : text[0];
  const std::size_t index = units.find(letter);
  return index == std::string_view::npos ? 0 : std::size_t{1} << (10 * (index + 1));
}

/// Returns 0.`fraction` times `unit`, rounded up. Exact for any number of digits.
std::size_t fraction_of(std::string_view fraction, std::size_t unit) noexcept {
  std::size_t quotient = 0;
  bool is_exact = true;
  for (std::size_t at = fraction.size(); at-- > 0;) {
    const std::size_t value = quotient + static_cast<std::size_t>(fraction[at] - '0') * unit;
    is_exact = is_exact && value % 10 == 0;
    quotient = value / 10;
  }
  return quotient + (is_exact ? 0 : 1);
}

std::optional<std::size_t> to_number(std::string_view text, int base) noexcept {
  std::size_t number = 0;
  return parse_number(text, &number, base) ? std::optional(number) : std::nullopt;
}

std::optional<std::size_t> product(std::optional<std::size_t> number, std::size_t unit) noexcept {
  if (!number || unit == 0 || *number > SIZE_MAX / unit) return std::nullopt;
  return *number * unit;
}

}  // namespace

std::optional<std::size_t> to_size(std::string_view text, std::size_t plain_unit) noexcept {
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") {
    const std::string_view rest = text.substr(2);
    const std::size_t end = rest.find_first_not_of("0123456789abcdefABCDEF");
    if (end == std::string_view::npos) return product(to_number(rest, 16), plain_unit);
    return product(to_number(rest.substr(0, end), 16), to_unit(rest.substr(end)));
  }
  const std::size_t point = text.find_first_not_of(digits);
  const bool has_point = point != std::string_view::npos && text[point] == '.';
  const std::size_t end = text.find_first_not_of(digits, has_point ? point + 1 : 0);
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = has_point ? text.substr(point + 1, end - point - 1) : std::string_view();
  const std::size_t unit = end == std::string_view::npos ? plain_unit : to_unit(text.substr(end));
  if (has_point && (fraction.empty() || unit <= 1)) return std::nullopt;
  const auto bytes = whole.empty() && has_point ? std::size_t{0} : product(to_number(whole, 10), unit);
  if (!has_point || !bytes) return bytes;
  const std::size_t rest = fraction_of(fraction, unit);
  return *bytes > SIZE_MAX - rest ? std::nullopt : std::optional(*bytes + rest);
}

std::optional<std::size_t> to_nvshmem_size(std::string_view text) noexcept {
  const std::size_t unit = text.find_first_of("kKmMgGtT");
  if (text.find_first_of("xX") != std::string_view::npos) return std::nullopt;
  return to_size(text.substr(0, unit == std::string_view::npos ? unit : unit + 1));
}

}  // namespace gdrkit::base
