// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/pci_address.hpp"

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/number.hpp"

namespace gdrkit::platform {
namespace {

/// Parses all of `text` as a hexadecimal number of at most `limit`; returns false otherwise (empty, a sign, "0x",
/// trailing text).
bool parse_hex(std::string_view text, std::uint32_t limit, std::uint32_t* value) {
  return base::parse_number(text, value, 16) && *value <= limit;
}

}  // namespace

base::Result<PciAddress> parse_pci_address(std::string_view text) {
  const auto refuse = [&] {
    return base::fail(EINVAL, "'%.*s' is not a PCI address such as 0000:3b:00.0", static_cast<int>(text.size()),
                      text.data());
  };
  std::string_view rest = text;
  std::uint32_t function = 0;
  if (const auto dot = rest.rfind('.'); dot != std::string_view::npos) {
    if (!parse_hex(rest.substr(dot + 1), 7, &function)) return refuse();
    rest = rest.substr(0, dot);
  }
  std::uint32_t device = 0;
  const auto last = rest.rfind(':');
  if (last == std::string_view::npos || !parse_hex(rest.substr(last + 1), 31, &device)) return refuse();
  rest = rest.substr(0, last);
  std::uint32_t domain = 0;
  if (const auto first = rest.find(':'); first != std::string_view::npos) {
    if (!parse_hex(rest.substr(0, first), UINT32_MAX, &domain)) return refuse();
    rest = rest.substr(first + 1);
  }
  std::uint32_t bus = 0;
  if (!parse_hex(rest, 255, &bus)) return refuse();
  return PciAddress{domain, static_cast<std::uint8_t>(bus), static_cast<std::uint8_t>(device),
                    static_cast<std::uint8_t>(function)};
}

std::string to_string(const PciAddress& address) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", address.domain, unsigned{address.bus},
                unsigned{address.device}, unsigned{address.function});
  return text.data();
}

}  // namespace gdrkit::platform
