// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/pci_config.hpp"

#include <cstdio>

namespace gdrkit::diag {
namespace {

using topology::Fact;
using topology::Outcome;

constexpr std::size_t whole_space = 4096;
constexpr unsigned header_end = 0x40;
constexpr unsigned extended_start = 0x100;
constexpr unsigned status_offset = 0x06;
constexpr unsigned has_list = 0x10;
constexpr unsigned list_offset = 0x34;
constexpr unsigned most_capabilities = 48;
constexpr unsigned most_extended = 960;  // each has at least four bytes

Fact<unsigned> ended(Outcome outcome, const std::string& path, const std::string& why) {
  return {outcome, 0, path + ": " + why};
}

std::string id_text(unsigned id) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%02x", id);
  return text;
}

}  // namespace

PciConfig::PciConfig(const topology::MachineView& view, const std::string& device_directory)
    : path_(device_directory + "/config"), content_(required(view.bytes(path_, whole_space))) {}

Fact<std::uint32_t> PciConfig::value(unsigned offset, unsigned bytes) const {
  if (!content_.is_found()) return topology::pass<std::uint32_t>(content_);
  if (offset + bytes > content_.value.size()) {
    const std::string read = std::to_string(content_.value.size());
    return {Outcome::unreadable, 0, path_ + ": only " + read + " bytes could be read; root can read all"};
  }
  std::uint32_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= std::uint32_t{content_.value[offset + i]} << (8 * i);
  return topology::found(value);
}

Fact<unsigned> PciConfig::capability(unsigned id) const {
  const auto status = value(status_offset, 2);
  if (!status.is_found()) return topology::pass<unsigned>(status);
  if (status.value == 0xffff) return ended(Outcome::malformed, path_, "reads as all ones: the device does not respond");
  if ((status.value & has_list) == 0) return ended(Outcome::absent, path_, "has no capabilities");
  auto next = value(list_offset, 2);
  unsigned offset = next.value & 0xfc;
  for (unsigned count = 0; offset != 0; ++count) {
    if (offset < header_end || count == most_capabilities)
      return ended(Outcome::malformed, path_, "its capability list is damaged");
    next = value(offset, 2);
    if (!next.is_found()) return topology::pass<unsigned>(next);
    if ((next.value & 0xff) == id) return topology::found(offset);
    offset = next.value >> 8 & 0xfc;
  }
  return ended(Outcome::absent, path_, "has no capability " + id_text(id));
}

Fact<unsigned> PciConfig::extended_capability(unsigned id) const {
  unsigned offset = extended_start;
  for (unsigned count = 0; offset != 0; ++count) {
    if (offset < extended_start || count == most_extended)
      return ended(Outcome::malformed, path_, "its extended capability list is damaged");
    const auto head = value(offset, 4);
    if (!head.is_found()) return topology::pass<unsigned>(head);
    if (head.value == 0xffffffff)
      return ended(Outcome::malformed, path_, "reads as all ones: the device does not respond");
    if (head.value == 0) break;
    if ((head.value & 0xffff) == id) return topology::found(offset);
    offset = head.value >> 20 & 0xffc;
  }
  return ended(Outcome::absent, path_, "has no extended capability " + id_text(id));
}

}  // namespace gdrkit::diag
