// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PciConfig: a function's configuration space as the file `config` shows it, which is 64 bytes for ordinary users.
#pragma once

#include <cstdint>
#include <string>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

inline constexpr unsigned express_capability = 0x10;
inline constexpr unsigned acs_capability = 0x0d;            // extended
inline constexpr unsigned resizable_bar_capability = 0x15;  // extended

class PciConfig {
 public:
  PciConfig(const topology::MachineView& view, const std::string& device_directory);

  /// Offset of a capability. unreadable: the file ends before the list does; malformed: the list is damaged or
  /// circular.
  [[nodiscard]] topology::Fact<unsigned> capability(unsigned id) const;
  [[nodiscard]] topology::Fact<unsigned> extended_capability(unsigned id) const;
  /// Little-endian value of 2 or 4 bytes.
  [[nodiscard]] topology::Fact<std::uint32_t> value(unsigned offset, unsigned bytes) const;

 private:
  std::string path_;
  topology::Fact<std::vector<std::uint8_t>> content_;
};

}  // namespace gdrkit::diag
