// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// VerbsTest: one line of perftest_tests.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

/// In the order of perftest_tests.def.
[[nodiscard]] const std::vector<VerbsTest>& all_verbs_tests();

}  // namespace gdrkit::transfer::perftest
