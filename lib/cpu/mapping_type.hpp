// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MappingType: how the CPU treats a mapping's memory; it decides which accesses and fences a copy needs.
#pragma once

#include <cstdint>

namespace gdrkit::cpu {

/// Numbers equal the drop-in API's gdr_mapping_type_t.
enum class MappingType : std::uint8_t { none = 0, write_combining = 1, cached = 2, device = 3 };

/// For errors' texts; "unknown" for what is not a type that a mapping can have.
[[nodiscard]] constexpr const char* name_of(MappingType type) noexcept {
  switch (type) {
    case MappingType::write_combining: return "write-combining";
    case MappingType::cached: return "cached";
    case MappingType::device: return "device";
    case MappingType::none: break;
  }
  return "unknown";
}

}  // namespace gdrkit::cpu
