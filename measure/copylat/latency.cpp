// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/copylat/latency.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "base/result.hpp"
#include "cli/interface/exit_code.hpp"
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
                            : device->driver_copy_to_host(host.data(), address, size_bytes);
    if (!copied.has_value()) [[unlikely]]
      base::keep_first(failed, copied);
  };
  const LatencyRow row = measure_latency(size_bytes, iterations, copy, nullptr);
  GDRKIT_TOOL_ASSERT(failed.has_value(), failed.error().text());
  return row;
}

}  // namespace gdrkit::measure::copylat
