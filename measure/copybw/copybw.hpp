// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copybw: types and functions that the front ends of the subcommand share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "measure/tool_parts/numa_sweep.hpp"
#include "measure/tool_parts/tool_run.hpp"

namespace gdrkit::measure::copybw {

/// A 4-byte word that differs from the written one.
struct WrongWord {
  std::size_t index = 0;
  std::uint32_t content = 0;
  std::uint32_t expected = 0;
};
inline constexpr std::size_t most_wrong_words = 10;  ///< stored per test

struct BandwidthResult {
  std::size_t size_bytes = 0;
  std::size_t offset_bytes = 0;
  double write_mib_per_s = 0;
  double read_mib_per_s = 0;
  std::vector<WrongWord> wrong_in_device;  ///< after writing, according to the device's own copy
  std::vector<WrongWord> wrong_in_host;    ///< after reading back through the mapping
  [[nodiscard]] bool is_verified() const { return wrong_in_device.empty() && wrong_in_host.empty(); }
};

/// Words in which the first `size_bytes` differ, at most most_wrong_words; bytes past the end count as 0.
[[nodiscard]] std::vector<WrongWord> compare_words(const std::uint8_t* content, const std::uint8_t* expected,
                                                   std::size_t size_bytes);

struct CopybwOptions {
  cli::CommonOptions common;
  cli::NumaOptions numa;
  std::size_t size_bytes = 128 * 1024;
  std::size_t copy_size_bytes = 0;  ///< 0: the whole buffer
  std::size_t offset_bytes = 0;
  bool is_sweep = false;
  int write_iterations = 10000;
  int read_iterations = 100;
  std::string allocation = allocation_mem_alloc;
  std::string mapping_type = "default";
};

struct CopybwReport : ToolReport {
  std::string mapping_type;
  std::vector<BandwidthResult> results;
  std::optional<NumaSweep> sweep;  ///< instead of results, with --numa all
};

/// The copy sizes of the options. Throws Failure(usage) for options that conflict.
[[nodiscard]] std::vector<std::size_t> copy_sizes(const CopybwOptions& options);

/// Writes to the destination of --json.
void write_copybw_json(const CopybwOptions& options, const CopybwReport& report);

}  // namespace gdrkit::measure::copybw
