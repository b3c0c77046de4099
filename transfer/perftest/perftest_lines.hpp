// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Lines: the output of perftest, for scripts that parse it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transfer/perftest/exchange.hpp"
#include "transfer/perftest/verbs_test.hpp"

namespace gdrkit::transfer::perftest {

/// The values in the block above the table.
struct Settings {
  const VerbsTest* test = nullptr;
  bool is_server = false;
  bool is_bidirectional = false;
  bool is_in_gbits = false;
  bool is_for_duration = false;
  std::string device;
  std::string connection;
  int pairs = 1;
  int send_depth = 1;
  int receive_depth = 0;
  int moderation = 1;
  int mtu_bytes = 0;
  bool is_ethernet = true;
  int gid_index = -1;
  int reads = 0;
  int inline_bytes = 0;
  bool has_cm_pairs = false;
  bool has_cm_exchange = false;
};

struct BandwidthRow {
  std::size_t size_bytes = 0;
  std::uint64_t iterations = 0;
  double peak_bytes_per_s = 0;
  double average_bytes_per_s = 0;
  double messages_per_s = 0;
  std::vector<double> rounds;  ///< bytes/s of up to most_rounds equal parts; {}: only the total is known
};

/// In us.
struct LatencyRow {
  std::size_t size_bytes = 0;
  std::uint64_t iterations = 0;
  double minimum = 0;
  double maximum = 0;
  double typical = 0;  ///< the median
  double average = 0;
  double deviation = 0;
  double p99 = 0;
  double p999 = 0;
  std::vector<double> rounds;  ///< medians of up to most_rounds equal parts
};

/// Parts of a measurement. A comparison needs them to distinguish noise from change.
inline constexpr std::size_t most_rounds = 8;

/// Requires at least one sample.
[[nodiscard]] LatencyRow latency_row(std::size_t size_bytes, std::uint64_t iterations, std::vector<double> seconds);
/// In the units of perftest's exchange: MiB/s or Gb/s, and millions of messages.
[[nodiscard]] SharedResult shared_result(const BandwidthRow& row, bool is_in_gbits);
[[nodiscard]] BandwidthRow bandwidth_row(const SharedResult& result, bool is_in_gbits);

/// "RDMA_Write Bidirectional BW Test"
[[nodiscard]] std::string title_of(const Settings& settings);
[[nodiscard]] std::string block_text(const Settings& settings);
/// `side`: "local" or "remote".
[[nodiscard]] std::string address_line(const Settings& settings, const char* side, const PairAddress& address);
[[nodiscard]] std::string head_line(const Settings& settings);
[[nodiscard]] std::string row_line(const Settings& settings, const BandwidthRow& row);
[[nodiscard]] std::string row_line(const Settings& settings, const LatencyRow& row);
/// Every result in us, one per line with its number; sorted, or in the order of the messages.
[[nodiscard]] std::string all_results_text(std::vector<double> seconds, bool is_unsorted);
[[nodiscard]] std::string ruler();

}  // namespace gdrkit::transfer::perftest
