// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MappingType: the memory type of a mapping. It determines which accesses and fences a copy requires.
#pragma once

#include <cstdint>

namespace gdrkit::cpu {

/// The values equal those of gdr_mapping_type_t of the drop-in API.
enum class MappingType : std::uint8_t { none = 0, write_combining = 1, cached = 2, device = 3 };

/// The name for error messages. "unknown" for a value that a mapping cannot have.
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
