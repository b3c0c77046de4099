// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Progress: the benchmark's current step on stderr: one rewritten line on a terminal, otherwise one line per section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gdrkit::measure::bench {

class Progress {
 public:
  explicit Progress(bool is_quiet);
  void begin_section(const std::string& name, const std::string& summary, std::size_t cells);
  /// The next cell begins.
  void step(const std::string& label);
  void end_section();
  /// Clears the terminal's line, so that text may follow.
  void end();

 private:
  bool is_quiet_;
  bool is_terminal_;
  std::string name_;
  std::size_t cells_ = 0;
  std::size_t done_ = 0;
  std::int64_t begin_ns_;
  std::int64_t section_begin_ns_ = 0;
  std::int64_t last_line_ns_ = 0;
};

}  // namespace gdrkit::measure::bench
