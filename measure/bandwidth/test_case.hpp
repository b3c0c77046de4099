// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TestCase: a line of bandwidth_tests.def.
#pragma once

#include <string>
#include <vector>

namespace gdrkit::measure::bandwidth {

/// The places between which a test copies.
enum class Family { host, pair, all_host, all_to_one, one_to_all, host_latency, pair_latency, local };
enum class Mover { copy_engine, gpu_kernel };
/// forth: to the GPU, back: to the host. read: the runner of the copy is its target, write: its source.
enum class Flow { forth, back, read, write };

struct TestCase {
  const char* name;
  Family family;
  Mover mover;
  Flow flow;
  bool is_bidirectional;
  const char* description;

  [[nodiscard]] bool is_latency() const { return family == Family::host_latency || family == Family::pair_latency; }
  [[nodiscard]] bool needs_peers() const {
    return family == Family::pair || family == Family::all_to_one || family == Family::one_to_all ||
           family == Family::pair_latency;
  }
  [[nodiscard]] const char* unit() const { return is_latency() ? "ns" : "GB/s"; }
  /// The title of the matrix in nvbandwidth's terms. The arrow points in the direction of the data.
  [[nodiscard]] std::string title() const;
};

[[nodiscard]] const std::vector<TestCase>& test_cases();

/// Returns all tests if names and prefixes are empty. Names may be indices. The order is that of the names, or of the
/// list for prefixes, without duplicates. Throws Failure(usage) for an unknown name, a prefix without a match, or both
/// kinds at once.
[[nodiscard]] std::vector<const TestCase*> select_tests(const std::vector<std::string>& names,
                                                        const std::vector<std::string>& prefixes);

}  // namespace gdrkit::measure::bandwidth
