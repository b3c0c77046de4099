// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ProcessMaps: iterates over the mappings of this process in /proc/self/maps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace gdrkit::driver {

struct ProcessMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::uint64_t inode = 0;  ///< 0 for anonymous memory
  bool is_readable = false;
  bool is_shared = false;
  std::string_view name;  ///< without " (deleted)"; long names are truncated
};

/// Parses a line without its newline. Returns false if it is not a line of a maps file. `name` points into `line`.
[[nodiscard]] bool parse_process_mapping(std::string_view line, ProcessMapping* mapping) noexcept;

/// Reads incrementally and allocates nothing. Returns every mapping that exists during the whole iteration, in address
/// order, even if other threads map and unmap memory at the same time. Not thread safe.
class ProcessMaps {
 public:
  ProcessMaps() noexcept = default;
  ProcessMaps(const ProcessMaps&) = delete;
  ProcessMaps& operator=(const ProcessMaps&) = delete;
  ~ProcessMaps();

  base::Status open(const char* path = "/proc/self/maps") noexcept;
  /// Stores the next mapping; its name is valid until the next call. Returns false after the last mapping.
  base::Result<bool> next(ProcessMapping* mapping) noexcept;

 private:
  base::Result<bool> next_line() noexcept;

  int fd_ = -1;
  std::array<char, 8192> chunk_;  // uninitialized: filled by read
  std::size_t chunk_used_ = 0;
  std::size_t chunk_next_ = 0;
  std::array<char, 768> line_;  // every field and the first part of the name; the rest of a line is skipped
  std::size_t line_used_ = 0;
};

}  // namespace gdrkit::driver
