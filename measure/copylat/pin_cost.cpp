// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/copylat/pin_cost.hpp"

#include "base/result.hpp"
#include "cli/interface/exit_code.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::copylat {
namespace {

double us_between(std::int64_t begin_ns, std::int64_t end_ns) { return static_cast<double>(end_ns - begin_ns) / 1000; }

void repeat_once(gdr_t context, const AlignedAllocation& memory, gdr_map_flags_t mapping_type, PinCost* cost) {
  gdr_mh_t handle{};
  void* mapping = nullptr;
  const std::size_t size = memory.rounded_bytes();
  const std::int64_t begin = platform::now_ns();
  const int pinned = gdr_pin_buffer(context, memory.address(), size, 0, 0, &handle);
  const std::int64_t after_pin = platform::now_ns();
  GDRKIT_TOOL_ASSERT(pinned == 0, "gdr_pin_buffer: " + errno_text(pinned));
  const std::int64_t before_map = platform::now_ns();
  const int mapped = gdr_map_v2(context, handle, &mapping, size, mapping_type);
  const std::int64_t after_map = platform::now_ns();
  GDRKIT_TOOL_ASSERT(mapped == 0, "gdr_map_v2: " + errno_text(mapped));
  const std::int64_t before_unmap = platform::now_ns();
  const int unmapped = gdr_unmap(context, handle, mapping, size);
  const std::int64_t after_unmap = platform::now_ns();
  const int unpinned = gdr_unpin_buffer(context, handle);
  const std::int64_t end = platform::now_ns();
  GDRKIT_TOOL_ASSERT(unmapped == 0, "gdr_unmap: " + errno_text(unmapped));
  GDRKIT_TOOL_ASSERT(unpinned == 0, "gdr_unpin_buffer: " + errno_text(unpinned));
  cost->pin_us.push_back(us_between(begin, after_pin));
  cost->map_us.push_back(us_between(before_map, after_map));
  cost->pin_and_map_us.push_back(us_between(begin, after_map));
  cost->unmap_us.push_back(us_between(before_unmap, after_unmap));
  cost->unpin_us.push_back(us_between(after_unmap, end));
}

void fill(platform::Device* device, const AlignedAllocation& memory, PinContent content) {
  std::vector<std::uint8_t> bytes(memory.rounded_bytes(), 0);
  if (content == PinContent::varied) {
    std::uint32_t state = 1;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  }
  const auto filled = device->copy_to_device(memory.address(), bytes.data(), bytes.size());
  GDRKIT_TOOL_ASSERT(filled.has_value(), filled.error().text());
}

}  // namespace

PinCost measure_pin_cost(platform::Device* device, platform::AllocationKind kind, gdr_map_flags_t mapping_type,
                         PinContent content, std::size_t size_bytes, int repeats) {
  AlignedAllocation memory(device, kind, size_bytes);
  fill(device, memory, content);
  gdr_t context = open_drop_in();
  PinCost cost;
  cost.content = content;
  cost.size_bytes = memory.rounded_bytes();
  try {
    PinCost first;  // includes the initialization once per process
    repeat_once(context, memory, mapping_type, &first);
    for (int repeat = 0; repeat < repeats; ++repeat) repeat_once(context, memory, mapping_type, &cost);
  } catch (...) {
    (void)gdr_close(context);
    throw;
  }
  const int closed = gdr_close(context);
  GDRKIT_TOOL_ASSERT(closed == 0, "gdr_close: " + errno_text(closed));
  memory.free();
  return cost;
}

}  // namespace gdrkit::measure::copylat
