// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/copylat/copylat.hpp"

#include <algorithm>
#include <cstring>

#include "base/result.hpp"
#include "cli/interface/exit_code.hpp"
#include "measure/harness/clock.hpp"
#include "measure/harness/samples.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::copylat {
namespace {

constexpr double ratio_limit = 1.05;
constexpr double difference_limit_ns = 10;
constexpr std::size_t most_iterations = 200000;
constexpr std::size_t most_singles_a_round = 16;

/// One size in one direction: the two copy methods, one batch at a time.
class Contest {
 public:
  Contest(const MappedBuffer& buffer, HostBuffer* host, measure::RawKind kind, Direction direction,
          std::size_t size_bytes)
      : handle_(buffer.handle()),
        mapping_(buffer.user_pointer()),
        host_(host->data()),
        kind_(kind),
        direction_(direction),
        size_bytes_(size_bytes),
        rotation_(direction, size_bytes) {}

  /// Nanoseconds for one copy of a batch.
  double run_library(std::size_t iterations) {
    int failed = 0;
    double ns = 0;
    if (direction_ == Direction::to_device) {
      ns = platform::time_batch(
          iterations, [&](std::size_t) { failed |= gdr_copy_to_mapping(handle_, mapping_, host_, size_bytes_); });
    } else {
      ns = platform::time_batch(iterations, [&](std::size_t number) {
        failed |= gdr_copy_from_mapping(handle_, host_, mapping_ + rotation_.offset(number), size_bytes_);
      });
    }
    GDRKIT_TOOL_ASSERT(failed == 0, "a copy through the mapping failed: " + errno_text(failed));
    return ns;
  }

  double run_raw(std::size_t iterations) {
    bool has_copied = true;
    double ns = 0;
    if (direction_ == Direction::to_device) {
      ns = platform::time_batch(
               1,
               [&](std::size_t) { has_copied = measure::raw_store(kind_, mapping_, host_, size_bytes_, iterations); }) /
           static_cast<double>(iterations);
    } else if (rotation_.is_rotating()) {
      ns = platform::time_batch(iterations, [&](std::size_t number) {
        has_copied &= measure::raw_load(kind_, host_, mapping_ + rotation_.offset(number), size_bytes_, 1);
      });
    } else {
      ns = platform::time_batch(
               1,
               [&](std::size_t) { has_copied = measure::raw_load(kind_, host_, mapping_, size_bytes_, iterations); }) /
           static_cast<double>(iterations);
    }
    GDRKIT_TOOL_ASSERT(has_copied, "the raw loop does not support this size");
    return ns;
  }

  /// Times copies one by one, the two methods in turns.
  void time_singles(const Clock& clock, std::size_t count, std::vector<double>* library_ns,
                    std::vector<double>* raw_ns) {
    int failed = 0;
    bool has_copied = true;
    const auto time = [&](auto&& copy) {
      const std::uint64_t begin = clock.now();
      copy();
      return clock.ns(clock.now() - begin);
    };
    for (std::size_t number = 0; number < count; ++number) {
      std::uint8_t* const device = mapping_ + rotation_.offset(number);
      if (direction_ == Direction::to_device) {
        library_ns->push_back(time([&] { failed |= gdr_copy_to_mapping(handle_, device, host_, size_bytes_); }));
        raw_ns->push_back(time([&] { has_copied &= measure::raw_store(kind_, device, host_, size_bytes_); }));
      } else {
        library_ns->push_back(time([&] { failed |= gdr_copy_from_mapping(handle_, host_, device, size_bytes_); }));
        raw_ns->push_back(time([&] { has_copied &= measure::raw_load(kind_, host_, device, size_bytes_); }));
      }
    }
    GDRKIT_TOOL_ASSERT(failed == 0, "a copy through the mapping failed: " + errno_text(failed));
    GDRKIT_TOOL_ASSERT(has_copied, "the raw loop does not support this size");
  }

  /// Offset of the last copy of a batch.
  [[nodiscard]] std::size_t last_offset(std::size_t iterations) const { return rotation_.offset(iterations - 1); }

 private:
  gdr_mh_t handle_;
  std::uint8_t* mapping_;
  std::uint8_t* host_;
  measure::RawKind kind_;
  Direction direction_;
  std::size_t size_bytes_;
  Rotation rotation_;
};

/// Number of iterations that take about `batch_ns`, from the faster of a few single copies.
std::size_t calibrate(Contest* contest, double batch_ns) {
  double once_ns = contest->run_library(1);
  for (int repeat = 0; repeat < 3; ++repeat) once_ns = std::min(once_ns, contest->run_library(1));
  const auto fitting = static_cast<std::size_t>(batch_ns / std::max(once_ns, 1.0));
  const std::size_t first = std::clamp<std::size_t>(fitting, 1, most_iterations);
  // For the smallest sizes the time of a single copy is mostly that of the clock, so the second estimate uses a whole
  // batch.
  const double each_ns = contest->run_library(first);
  return std::clamp<std::size_t>(static_cast<std::size_t>(batch_ns / std::max(each_ns, 1.0)), 1, most_iterations);
}

std::uint8_t pattern_byte(std::size_t position, std::uint8_t salt) {
  return static_cast<std::uint8_t>(position * 131 + (position >> 8) * 29 + salt);
}

/// Verifies that both methods copy correctly. Not timed.
void check_content(platform::Device* device, std::uint64_t address, HostBuffer* host, Contest* contest,
                   Direction direction, std::size_t size_bytes) {
  const std::size_t span = std::max(size_bytes, rotation_bytes);
  std::vector<std::uint8_t> expected(span);
  std::vector<std::uint8_t> seen(size_bytes);
  for (const bool is_raw : {false, true}) {
    for (std::size_t at = 0; at < span; ++at) expected[at] = pattern_byte(at, is_raw ? 17 : 91);
    std::size_t offset = 0;
    base::Status copied;
    if (direction == Direction::to_device) {
      std::memcpy(host->data(), expected.data(), size_bytes);
      (void)(is_raw ? contest->run_raw(1) : contest->run_library(1));
      copied = device->copy_to_host(seen.data(), address, size_bytes);
    } else {
      constexpr std::size_t some_iterations = 3;
      copied = device->copy_to_device(address, expected.data(), span);
      (void)(is_raw ? contest->run_raw(some_iterations) : contest->run_library(some_iterations));
      offset = contest->last_offset(some_iterations);
      std::memcpy(seen.data(), host->data(), size_bytes);
    }
    GDRKIT_TOOL_ASSERT(copied.has_value(), copied.error().text());
    GDRKIT_TOOL_ASSERT(std::memcmp(seen.data(), expected.data() + offset, size_bytes) == 0,
                       cli::format("%s copy of %zu bytes %s: the content is wrong", is_raw ? "raw" : "the library's",
                                   size_bytes, direction_name(direction)));
  }
}

}  // namespace

double RawRow::single_ratio() const { return median(library_single_ns) / median(raw_single_ns); }

double RawRow::limit_ns() const {
  const double raw = is_judged_by_singles ? median(raw_single_ns) : raw_median_ns;
  return std::max(raw * ratio_limit, raw + difference_limit_ns);
}

bool RawRow::is_within_limit() const {
  return (is_judged_by_singles ? median(library_single_ns) : library_median_ns) <= limit_ns();
}

std::vector<RawRow> compare_with_raw(platform::Device* device, const MappedBuffer& buffer, std::uint64_t device_address,
                                     const RawRequest& request, const std::function<void(const RawRow&)>& after_row) {
  std::vector<RawRow> rows;
  HostBuffer host(request.largest_bytes);
  const Clock clock;
  for (const Direction direction : {Direction::to_device, Direction::from_device}) {
    for (std::size_t size = 1; size <= request.largest_bytes; size *= 2) {
      Contest contest(buffer, &host, request.kind, direction, size);
      check_content(device, device_address, &host, &contest, direction, size);
      RawRow row;
      row.direction = direction;
      row.size_bytes = size;
      row.is_judged_by_singles = request.kind == RawKind::gdrcopy && direction == Direction::from_device;
      row.iterations = calibrate(&contest, request.batch_ns);
      (void)contest.run_raw(row.iterations);
      for (int round = 0; round < request.rounds; ++round) {
        if (round % 2 == 0) row.library_ns.push_back(contest.run_library(row.iterations));
        row.raw_ns.push_back(contest.run_raw(row.iterations));
        if (round % 2 == 1) row.library_ns.push_back(contest.run_library(row.iterations));
        const std::size_t singles = std::min(row.iterations, most_singles_a_round);
        contest.time_singles(clock, singles, &row.library_single_ns, &row.raw_single_ns);
      }
      row.library_median_ns = median(row.library_ns);
      row.raw_median_ns = median(row.raw_ns);
      after_row(row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace gdrkit::measure::copylat
