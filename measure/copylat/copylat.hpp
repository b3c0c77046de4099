// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copylat: the measurements of the subcommand, and the types and functions that its front ends share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/baseline/raw_loops.hpp"
#include "measure/harness/direction.hpp"
#include "measure/harness/host_buffer.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "measure/tool_parts/numa_sweep.hpp"
#include "measure/tool_parts/tool_run.hpp"

namespace gdrkit::measure::copylat {

/// Statistics of the means of up to most_buckets equal parts of the iterations, as in GDRCopy.
struct LatencyRow {
  std::size_t size_bytes = 0;
  double median_us = 0;
  double minimum_us = 0;
};
inline constexpr int most_buckets = 100;

/// `iterations` raised such that the buckets are equal.
[[nodiscard]] int whole_buckets(int iterations);

/// One direction through the mapping. `is_cold` flushes both sides from the CPU's caches before each copy.
[[nodiscard]] LatencyRow measure_mapping(const MappedBuffer& buffer, const HostBuffer& host, Direction direction,
                                         std::size_t size_bytes, int iterations, bool is_cold);

/// The driver's synchronous copy, for comparison.
[[nodiscard]] LatencyRow measure_driver(platform::Device* device, std::uint64_t address, const HostBuffer& host,
                                        Direction direction, std::size_t size_bytes, int iterations);

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

/// Each round: one batch of the library's copies and one of the raw loop, alternating in order.
struct RawRow {
  Direction direction = Direction::to_device;
  std::size_t size_bytes = 0;
  std::size_t iterations = 0;      ///< in a batch
  std::vector<double> library_ns;  ///< of one copy, one value per round
  std::vector<double> raw_ns;
  std::vector<double> library_single_ns;  ///< of copies timed one by one, each after the end of the previous one
  std::vector<double> raw_single_ns;
  double library_median_ns = 0;
  double raw_median_ns = 0;
  /// The limit applies to the medians of single copies, not to those of the loops. True for GDRCopy's reads: in a loop
  /// they overlap, or the streaming-load buffer of an earlier call serves them.
  bool is_judged_by_singles = false;

  [[nodiscard]] double ratio() const { return library_median_ns / raw_median_ns; }
  /// Of the medians of single copies.
  [[nodiscard]] double single_ratio() const;
  [[nodiscard]] double difference_ns() const { return library_median_ns - raw_median_ns; }
  /// The library's documented limit: 5 % or 10 ns above the raw loop, whichever is more.
  [[nodiscard]] double limit_ns() const;
  [[nodiscard]] bool is_within_limit() const;
};

struct RawRequest {
  measure::RawKind kind = measure::RawKind::sse41;
  std::size_t largest_bytes = 0;
  int rounds = 0;
  double batch_ns = 0;  ///< target time of a batch, which has at least one copy
};

/// Both directions, powers of two up to largest_bytes. Calls `after_row` after each row. Every copy's content is
/// verified outside the timed part. Throws Failure.
[[nodiscard]] std::vector<RawRow> compare_with_raw(platform::Device* device, const MappedBuffer& buffer,
                                                   std::uint64_t device_address, const RawRequest& request,
                                                   const std::function<void(const RawRow&)>& after_row);

struct CopylatOptions {
  cli::CommonOptions common;
  cli::NumaOptions numa;
  bool with_driver_copies = false;
  std::size_t size_bytes = std::size_t{16} << 20;
  int write_iterations = 10000;
  int read_iterations = 100;
  std::string allocation = allocation_mem_alloc;
  std::string mapping_type = "default";
  bool is_cold = false;
  bool with_raw = false;
  std::string raw_kind = "widest";
  int raw_rounds = 21;
  int raw_batch_us = 4000;
  bool with_pin_cost = false;
  std::size_t pin_size_bytes = std::size_t{4} << 20;
  int pin_repeats = 200;
};

/// One table of the output.
struct LatencyTable {
  Direction direction = Direction::to_device;
  bool is_driver = false;  ///< the driver's copies, not the mapping's
  int iterations = 0;
  std::vector<LatencyRow> rows;
};

struct CopylatReport : ToolReport {
  std::string mapping_type;
  int cpu = -1;  ///< the CPU of the benchmark
  std::string place_line;
  std::vector<LatencyTable> tables;
  std::string raw_kind;
  std::vector<RawRow> raw;
  std::vector<PinCost> pin_costs;
  std::optional<NumaSweep> sweep;  ///< instead of all these, with --numa all

  [[nodiscard]] std::size_t raw_rows_over_limit() const;
};

/// Writes to the destination of --json.
void write_copylat_json(const CopylatOptions& options, const CopylatReport& report);

}  // namespace gdrkit::measure::copylat
