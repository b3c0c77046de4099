// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Apiperf: types and functions that the front ends of the subcommand share.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "measure/tool_parts/numa_sweep.hpp"
#include "measure/tool_parts/tool_run.hpp"

namespace gdrkit::measure::apiperf {

/// In the order of execution.
enum class Call { pin, map, get_info, unmap, unpin };
inline constexpr std::array calls = {Call::pin, Call::map, Call::get_info, Call::unmap, Call::unpin};
[[nodiscard]] const char* call_name(Call call);  ///< "pin", "get_info", ...

/// The time of each call in the lifetime of a pin, for one size.
struct CallCost {
  std::size_t size_bytes = 0;
  std::array<std::vector<double>, calls.size()> us;  ///< of every counted call, in order; includes the clock's overhead

  [[nodiscard]] const std::vector<double>& of(Call call) const { return us[static_cast<std::size_t>(call)]; }
};

struct ApiperfOptions {
  cli::CommonOptions common;
  cli::NumaOptions numa;
  std::size_t size_bytes = std::size_t{16} << 20;
  int iterations = 100;
  int warm_up = 10;
  std::string allocation = allocation_mem_alloc;
  std::string mapping_type = "default";
};

struct ApiperfReport : ToolReport {
  std::vector<CallCost> costs;
  std::optional<NumaSweep> sweep;
};

/// Writes to the destination of --json.
void write_apiperf_json(const ApiperfOptions& options, const ApiperfReport& report);

}  // namespace gdrkit::measure::apiperf
