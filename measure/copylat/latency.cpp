// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "base/result.hpp"
#include "cli/interface/exit_code.hpp"
#include "measure/copylat/copylat.hpp"
#include "measure/harness/samples.hpp"
#include "platform/host/stopwatch.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdrkit::measure::copylat {
namespace {

constexpr double ns_per_us = 1000;

void flush_from_caches([[maybe_unused]] const std::uint8_t* bytes, [[maybe_unused]] std::size_t size_bytes) {
#if defined(__x86_64__)
  for (std::size_t offset = 0; offset < size_bytes; offset += line_bytes) _mm_clflush(bytes + offset);
  // The flushes complete before the timed copy begins.
  _mm_mfence();
#endif
}

/// Calls `copy(number)` `iterations` times (a multiple of the buckets). With `before_each` every call is timed
/// separately, and the time of `before_each` does not count.
template <class Copy>
LatencyRow measure_latency(std::size_t size_bytes, int iterations, Copy&& copy,
                           const std::function<void()>& before_each) {
  const int buckets = std::min(iterations, most_buckets);
  const auto each = static_cast<std::size_t>(iterations / buckets);
  std::vector<double> means_us;
  copy(0);  // excludes page faults and cold code from the measurement
  std::size_t done = 0;
  for (int bucket = 0; bucket < buckets; ++bucket) {
    double ns = 0;
    if (before_each) {
      for (std::size_t number = 0; number < each; ++number) {
        before_each();
        ns += platform::time_batch(1, [&](std::size_t) { copy(done + number); });
      }
      ns /= static_cast<double>(each);
    } else {
      ns = platform::time_batch(each, [&](std::size_t number) { copy(done + number); });
    }
    done += each;
    means_us.push_back(ns / ns_per_us);
  }
  return {size_bytes, median(means_us), minimum(means_us)};
}

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
  if (content == PinContent::varied) fill_with_pattern(bytes, 1);
  const auto filled = device->copy_to_device(memory.address(), bytes.data(), bytes.size());
  GDRKIT_TOOL_ASSERT(filled.has_value(), filled.error().text());
}

}  // namespace

int whole_buckets(int iterations) {
  if (iterations <= most_buckets) return iterations;
  return (iterations + most_buckets - 1) / most_buckets * most_buckets;
}

LatencyRow measure_mapping(const MappedBuffer& buffer, const HostBuffer& host, Direction direction,
                           std::size_t size_bytes, int iterations, bool is_cold) {
  const Rotation rotation(direction, size_bytes);
  std::uint8_t* const mapping = buffer.user_pointer();
  const gdr_mh_t handle = buffer.handle();
  int failed = 0;
  std::function<void()> before_each;
  if (is_cold) {
    before_each = [&] {
      flush_from_caches(mapping, std::max(size_bytes, rotation.is_rotating() ? rotation_bytes : 0));
      flush_from_caches(host.data(), size_bytes);
    };
  }
  const auto write = [&](std::size_t) { failed |= gdr_copy_to_mapping(handle, mapping, host.data(), size_bytes); };
  const auto read = [&](std::size_t number) {
    failed |= gdr_copy_from_mapping(handle, host.data(), mapping + rotation.offset(number), size_bytes);
  };
  const LatencyRow row = direction == Direction::to_device ? measure_latency(size_bytes, iterations, write, before_each)
                                                           : measure_latency(size_bytes, iterations, read, before_each);
  GDRKIT_TOOL_ASSERT(failed == 0, "a copy through the mapping failed: " + errno_text(failed));
  return row;
}

LatencyRow measure_driver(platform::Device* device, std::uint64_t address, const HostBuffer& host, Direction direction,
                          std::size_t size_bytes, int iterations) {
  base::Status failed;
  const auto copy = [&](std::size_t) {
    const auto copied = direction == Direction::to_device
                            ? device->driver_copy_to_device(address, host.data(), size_bytes)
                            : device->copy_to_host(host.data(), address, size_bytes);
    if (!copied.has_value()) [[unlikely]]
      base::keep_first(failed, copied);
  };
  const LatencyRow row = measure_latency(size_bytes, iterations, copy, nullptr);
  GDRKIT_TOOL_ASSERT(failed.has_value(), failed.error().text());
  return row;
}

PinCost measure_pin_cost(platform::Device* device, platform::AllocationKind kind, gdr_map_flags_t mapping_type,
                         PinContent content, std::size_t size_bytes, int repeats) {
  AlignedAllocation memory(device, kind, size_bytes);
  fill(device, memory, content);
  DropIn context = open_drop_in();
  PinCost cost;
  cost.content = content;
  cost.size_bytes = memory.rounded_bytes();
  PinCost first;  // includes the initialization once per process
  repeat_once(context.get(), memory, mapping_type, &first);
  for (int repeat = 0; repeat < repeats; ++repeat) repeat_once(context.get(), memory, mapping_type, &cost);
  const int closed = gdr_close(context.release());
  GDRKIT_TOOL_ASSERT(closed == 0, "gdr_close: " + errno_text(closed));
  memory.free();
  return cost;
}

}  // namespace gdrkit::measure::copylat
