// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MappingType: how the CPU treats a mapping's memory; it decides which accesses and fences a copy needs.
#pragma once

#include <cstdint>

namespace gdrkit::cpu {

/// Numbers equal the drop-in face's gdr_mapping_type_t.
enum class MappingType : std::uint8_t { none = 0, write_combining = 1, cached = 2, device = 3 };

}  // namespace gdrkit::cpu
