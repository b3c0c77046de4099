// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PinCost: the time of pin and map, and of undoing both.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/tool_parts/mapped_buffer.hpp"

namespace gdrkit::measure::copylat {

/// The contents of the memory. They determine how a backend can verify its mapping: varied bytes by comparing them,
/// zeros otherwise.
enum class PinContent { varied, zeros };
[[nodiscard]] constexpr const char* pin_content_name(PinContent content) {
  return content == PinContent::varied ? "varied" : "zeros";
}

/// Microseconds, one value per repeat. They include the verification of the mapping, like in programs.
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
