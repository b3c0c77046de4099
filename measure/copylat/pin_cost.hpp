// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PinCost: what pinning, mapping and undoing both take.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/tool_parts/mapped_buffer.hpp"

namespace gdrkit::measure::copylat {

/// What the memory holds decides how a backend can verify its mapping: varied bytes by comparing them, zeros otherwise.
enum class PinContent { varied, zeros };
[[nodiscard]] constexpr const char* pin_content_name(PinContent content) {
  return content == PinContent::varied ? "varied" : "zeros";
}

/// Microseconds, a value a repeat; verification of the mapping is part of what is timed, as callers get it.
struct PinCost {
  PinContent content = PinContent::varied;
  std::size_t size_bytes = 0;
  std::vector<double> pin_us;
  std::vector<double> map_us;
  std::vector<double> pin_and_map_us;
  std::vector<double> unmap_us;
  std::vector<double> unpin_us;
};

/// Allocates one buffer, fills it, and pins, maps, unmaps and unpins it `repeats` times. Throws Failure.
[[nodiscard]] PinCost measure_pin_cost(platform::Device* device, platform::AllocationKind kind,
                                       gdr_map_flags_t mapping_type, PinContent content, std::size_t size_bytes,
                                       int repeats);

}  // namespace gdrkit::measure::copylat
