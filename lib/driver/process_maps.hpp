// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ProcessMaps: this process's mappings, one after another, from /proc/self/maps.
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
  std::string_view name;  ///< without " (deleted)"; only the first part of a very long one
};

/// One line without its newline; false if it is not a line of a maps file. `name` points into `line`.
[[nodiscard]] bool parse_process_mapping(std::string_view line, ProcessMapping* mapping) noexcept;

/// Reads as it goes, allocates nothing. Mappings that exist all the while are each seen, in address order, whatever
/// other threads map and unmap meanwhile. Not thread safe.
class ProcessMaps {
 public:
  ProcessMaps() noexcept = default;
  ProcessMaps(const ProcessMaps&) = delete;
  ProcessMaps& operator=(const ProcessMaps&) = delete;
  ~ProcessMaps();

  base::Status open(const char* path = "/proc/self/maps") noexcept;
  /// The next mapping, whose name is valid until the next call; false after the last.
  base::Result<bool> next(ProcessMapping* mapping) noexcept;

 private:
  base::Result<bool> next_line() noexcept;

  int fd_ = -1;
  std::array<char, 8192> chunk_;  // not initialised: filled by read
  std::size_t chunk_used_ = 0;
  std::size_t chunk_next_ = 0;
  std::array<char, 768> line_;  // room for every field and the first part of the name; the rest of a line is skipped
  std::size_t line_used_ = 0;
};

}  // namespace gdrkit::driver
