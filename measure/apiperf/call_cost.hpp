// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CallCost: the time of each call in the lifetime of a pin, for one size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gdrapi.h"
#include "measure/harness/clock.hpp"

namespace gdrkit::measure::apiperf {

/// In the order of execution.
enum class Call { pin, map, get_info, unmap, unpin };
inline constexpr std::array calls = {Call::pin, Call::map, Call::get_info, Call::unmap, Call::unpin};
[[nodiscard]] const char* call_name(Call call);  ///< "pin", "get_info", ...

struct CallCost {
  std::size_t size_bytes = 0;
  std::array<std::vector<double>, calls.size()> us;  ///< of every counted call, in order; includes the clock's overhead

  [[nodiscard]] const std::vector<double>& of(Call call) const { return us[static_cast<std::size_t>(call)]; }
};

struct CallRequest {
  std::uint64_t address = 0;
  std::size_t size_bytes = 0;
  gdr_map_flags_t mapping_type = GDR_MAP_FLAG_DEFAULT;
  std::size_t warm_up = 0;  ///< pins before the counted ones
  std::size_t count = 0;
};

/// Pins, maps, gets the info, unmaps and unpins, repeatedly. Throws Failure with the call that failed; closing
/// `context` unpins what it left pinned.
[[nodiscard]] CallCost measure_calls(gdr_t context, const CallRequest& request, const Clock& clock);

}  // namespace gdrkit::measure::apiperf
