// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BenchOptions: the command line of `gdrkit bench`, checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/common_options.hpp"
#include "cli/common/numa_options.hpp"
#include "measure/bench/effort.hpp"
#include "measure/common/measure_names.hpp"
#include "measure/harness/direction.hpp"

namespace gdrkit::tools {

/// A slowdown on purpose, to try the comparison: copies of one size through the mapping take longer.
struct SlowdownRequest {
  std::size_t size_bytes = 0;
  double percent = 0;
  std::optional<Direction> direction;  ///< empty: both
};

struct BenchOptions {
  CommonOptions common;
  NumaOptions numa;
  NumaChoice place;
  bool is_quick = false;
  std::vector<std::string> sections;  ///< all of them when none was named
  bool has_chosen_sections = false;
  std::vector<std::size_t> sizes;  ///< empty: each section's own
  int rounds = 0;                  ///< 0: the effort's own
  DocumentOption csv;
  std::string compare_path;  ///< "": no comparison
  std::string with_path;     ///< "": measure
  bool is_forced = false;
  std::optional<SlowdownRequest> slowdown;

  /// A document is on standard output instead of the text.
  [[nodiscard]] bool is_document_on_stdout() const { return common.json.is_on_stdout() || csv.is_on_stdout(); }
  [[nodiscard]] Effort effort() const;
};

/// A value: end now with this code. Throws Failure(usage) with what is wrong and what can be done.
[[nodiscard]] std::optional<ExitCode> parse_bench_options(Front front, int argc, char** argv, BenchOptions* options);

/// "8,4096,64K,1M": sizes (size.hpp). Ascending, each once. Throws Failure(usage).
[[nodiscard]] std::vector<std::size_t> parse_sizes(const std::string& text);
/// "4096:10", "64K:10:to_device". Throws Failure(usage).
[[nodiscard]] SlowdownRequest parse_slowdown(const std::string& text);

}  // namespace gdrkit::tools
