// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Case: one thing that `gdrkit shmem bench` measures: one line of cases.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gdrkit::tools::pgas {

enum class Who : std::uint8_t { one_sided, together };
enum class Sizes : std::uint8_t { word, sweep, few, bulk, none };

struct Case {
  const char* name;
  const char* operation;
  const char* memory;
  const char* completion;
  Who who;
  Sizes sizes;

  [[nodiscard]] bool is_bandwidth() const noexcept { return sizes == Sizes::bulk; }
  /// "put from host memory, quiet", "barrier_all"
  [[nodiscard]] std::string title() const;
};

/// In the order of cases.def; a case's number is its place here.
[[nodiscard]] const std::vector<Case>& all_cases();

struct SizeRange {
  std::size_t smallest_bytes = 8;
  std::size_t largest_bytes = std::size_t{1} << 20;
  std::size_t largest_bulk_bytes = std::size_t{256} << 20;  ///< 0: no bandwidth
};
/// Ascending; {0} for cases without a size.
[[nodiscard]] std::vector<std::size_t> sizes_of(const Case& one, const SizeRange& range);

}  // namespace gdrkit::tools::pgas
