// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/copybw/copy_bandwidth.hpp"

#include <algorithm>
#include <cstring>

#include "base/result.hpp"
#include "cli/interface/exit_code.hpp"
#include "measure/harness/host_buffer.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::copybw {
namespace {

constexpr double mib = 1024.0 * 1024.0;

double mib_per_s(std::size_t size_bytes, double ns_per_copy) {
  return static_cast<double>(size_bytes) / mib / (ns_per_copy * 1e-9);
}

std::uint32_t word_at(const std::uint8_t* bytes, std::size_t offset, std::size_t size_bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes + offset, std::min(sizeof(word), size_bytes - offset));
  return word;
}

/// Different in every byte of every test, so that data of an earlier size are detected.
void fill_with_pattern(const HostBuffer& buffer, std::size_t seed) {
  std::uint32_t state = static_cast<std::uint32_t>(seed * 2654435761u + 1);
  for (std::size_t index = 0; index < buffer.size_bytes(); ++index) {
    state = state * 1664525u + 1013904223u;
    buffer.data()[index] = static_cast<std::uint8_t>(state >> 24);
  }
}

}  // namespace

std::vector<WrongWord> compare_words(const std::uint8_t* content, const std::uint8_t* expected,
                                     std::size_t size_bytes) {
  std::vector<WrongWord> wrong;
  for (std::size_t offset = 0; offset < size_bytes && wrong.size() < most_wrong_words; offset += 4) {
    const WrongWord word{offset / 4, word_at(content, offset, size_bytes), word_at(expected, offset, size_bytes)};
    if (word.content != word.expected) wrong.push_back(word);
  }
  return wrong;
}

std::vector<BandwidthResult> measure_bandwidth(platform::Device* device, const MappedBuffer& buffer,
                                               std::uint64_t device_address, const BandwidthRequest& request,
                                               BandwidthListener* listener) {
  std::vector<BandwidthResult> results;
  std::uint8_t* const target = buffer.user_pointer() + request.offset_bytes;
  for (const std::size_t size : request.sizes_bytes) {
    BandwidthResult result{size, request.offset_bytes, 0, 0, {}, {}};
    const HostBuffer written(size);
    fill_with_pattern(written, results.size());
    const HostBuffer seen(size);
    int failed = 0;

    listener->before_write(size);
    const double write_ns = platform::time_batch(request.write_iterations, [&](std::size_t) {
      failed |= gdr_copy_to_mapping(buffer.handle(), target, written.data(), size);
    });
    result.write_mib_per_s = mib_per_s(size, write_ns);
    listener->after_write(result.write_mib_per_s);
    const auto copied = device->copy_to_host(seen.data(), device_address + request.offset_bytes, size);
    GDRKIT_TOOL_ASSERT(copied.has_value(), copied.error().text());
    result.wrong_in_device = compare_words(seen.data(), written.data(), size);

    std::memset(seen.data(), 0, size);
    listener->before_read(size);
    const double read_ns = platform::time_batch(request.read_iterations, [&](std::size_t) {
      failed |= gdr_copy_from_mapping(buffer.handle(), seen.data(), target, size);
    });
    result.read_mib_per_s = mib_per_s(size, read_ns);
    listener->after_read(result.read_mib_per_s);
    result.wrong_in_host = compare_words(seen.data(), written.data(), size);

    GDRKIT_TOOL_ASSERT(failed == 0, "a copy through the mapping failed: " + errno_text(failed));
    listener->after_size(result);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace gdrkit::measure::copybw
