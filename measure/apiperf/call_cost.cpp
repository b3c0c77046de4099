// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/apiperf/call_cost.hpp"

#include "cli/interface/exit_code.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"

namespace gdrkit::measure::apiperf {

const char* call_name(Call call) {
  switch (call) {
    case Call::pin: return "pin";
    case Call::map: return "map";
    case Call::get_info: return "get_info";
    case Call::unmap: return "unmap";
    case Call::unpin: return "unpin";
  }
  return "";
}

CallCost measure_calls(gdr_t context, const CallRequest& request, const Clock& clock) {
  CallCost cost;
  cost.size_bytes = request.size_bytes;
  for (auto& times : cost.us) times.reserve(request.count);
  for (std::size_t life = 0; life < request.warm_up + request.count; ++life) {
    const auto timed = [&](Call call, auto&& make) {
      const std::uint64_t begin = clock.now();
      const int result = make();
      const std::uint64_t end = clock.now();
      GDRKIT_TOOL_ASSERT(result == 0, cli::format("%s of %zu bytes: %s", call_name(call), request.size_bytes,
                                                  errno_text(result).c_str()));
      if (life >= request.warm_up) cost.us[static_cast<std::size_t>(call)].push_back(clock.ns(end - begin) / 1000);
    };
    gdr_mh_t handle{};
    void* mapping = nullptr;
    gdr_info_t info{};
    timed(Call::pin, [&] { return gdr_pin_buffer(context, request.address, request.size_bytes, 0, 0, &handle); });
    timed(Call::map, [&] { return gdr_map_v2(context, handle, &mapping, request.size_bytes, request.mapping_type); });
    timed(Call::get_info, [&] { return gdr_get_info(context, handle, &info); });
    timed(Call::unmap, [&] { return gdr_unmap(context, handle, mapping, request.size_bytes); });
    timed(Call::unpin, [&] { return gdr_unpin_buffer(context, handle); });
  }
  return cost;
}

}  // namespace gdrkit::measure::apiperf
