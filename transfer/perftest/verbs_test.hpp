// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// VerbsTest: one of perftest's tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdrkit::transfer::perftest {

enum class Verb : std::uint8_t { write, read, send, atomic };
enum class Metric : std::uint8_t { bandwidth, latency };

struct VerbsTest {
  const char* name;
  const char* title;
  Verb verb;
  Metric metric;
  std::size_t size_bytes;
  int iterations;

  [[nodiscard]] bool is_latency() const noexcept { return metric == Metric::latency; }
  /// The target's response carries data, and its adapter limits how many may be in flight.
  [[nodiscard]] bool is_fetching() const noexcept { return verb == Verb::read || verb == Verb::atomic; }
  /// Both sides send in turn. The time of one message is half of a round.
  [[nodiscard]] bool is_ping_pong() const noexcept { return is_latency() && !is_fetching(); }
};

/// Its loop is in traffic.cpp.
inline constexpr VerbsTest all_verbs_tests[] = {
    {"write_bw", "RDMA_Write BW Test", Verb::write, Metric::bandwidth, 65536, 5000},
    {"write_lat", "RDMA_Write Latency Test", Verb::write, Metric::latency, 2, 1000},
    {"read_bw", "RDMA_Read BW Test", Verb::read, Metric::bandwidth, 65536, 1000},
    {"read_lat", "RDMA_Read Latency Test", Verb::read, Metric::latency, 2, 1000},
    {"send_bw", "Send BW Test", Verb::send, Metric::bandwidth, 65536, 1000},
    {"send_lat", "Send Latency Test", Verb::send, Metric::latency, 2, 1000},
    {"atomic_bw", "Atomic FETCH_AND_ADD BW Test", Verb::atomic, Metric::bandwidth, 8, 1000},
    {"atomic_lat", "Atomic FETCH_AND_ADD Latency Test", Verb::atomic, Metric::latency, 8, 1000},
};

}  // namespace gdrkit::transfer::perftest
