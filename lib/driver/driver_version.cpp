// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/driver_version.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace gdrkit::driver {
namespace {

constexpr std::ptrdiff_t max_digits = 5;

/// Consumes a decimal number at the front. Returns false if the number is missing or too long.
bool take_number(std::string_view& text, unsigned& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end - text.data() > max_digits) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_dot(std::string_view& text) noexcept {
  if (text.empty() || text.front() != '.') return false;
  text.remove_prefix(1);
  return true;
}

bool parse(std::string_view text, DriverVersion& version) noexcept {
  if (!take_number(text, version.major) || !take_dot(text) || !take_number(text, version.minor)) return false;
  if (text.empty()) return true;
  return take_dot(text) && take_number(text, version.patch) && text.empty();
}

}  // namespace

base::Result<DriverVersion> parse_driver_version(std::string_view text) noexcept {
  DriverVersion version;
  if (!parse(text, version)) {
    return base::fail(EINVAL, "invalid NVIDIA driver version \"%.*s\"",
                      static_cast<int>(text.size() > 64 ? 64 : text.size()), text.data());
  }
  return version;
}

base::Result<std::string_view> find_version_text(std::string_view proc_text) noexcept {
  const std::string_view line = proc_text.substr(0, proc_text.find('\n'));
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t first = line.find_first_not_of(" \t", at);
    if (first == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t", first), line.size());
    const std::string_view word = line.substr(first, end - first);
    DriverVersion version;
    // "x86_64" and dates contain no dot between numbers, so the first word that parses is the version.
    if (parse(word, version) && version.major >= 100) return word;
    at = end;
  }
  return base::fail(EINVAL, "cannot find a driver version in /proc/driver/nvidia/version");
}

}  // namespace gdrkit::driver
