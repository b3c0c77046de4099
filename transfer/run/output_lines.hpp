// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OutputLines: the output of several PEs as whole lines with the PE as prefix.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gdrkit::transfer::run {

/// For one stream (standard output or standard error) of all PEs. Ready output is taken in pieces, so that a reader
/// that stops does not block the launcher.
class OutputLines {
 public:
  explicit OutputLines(int n_pes);

  void add(int pe, std::string_view bytes);
  /// The PE's stream has ended: completes an unfinished line.
  void end(int pe);

  [[nodiscard]] std::string_view ready() const noexcept { return std::string_view(ready_).substr(written_); }
  void take(std::size_t size_bytes);  ///< of ready()
  /// Too much output is buffered: do not read from the PEs until some is taken.
  [[nodiscard]] bool is_full() const noexcept { return ready_.size() - written_ > most_waiting; }

 private:
  static constexpr std::size_t most_waiting = std::size_t{1} << 20;
  static constexpr std::size_t longest_line = std::size_t{1} << 16;  ///< longer lines are broken

  void finish(std::size_t pe);

  std::vector<std::string> unfinished_;
  std::vector<std::string> prefixes_;
  std::string ready_;
  std::size_t written_ = 0;
};

}  // namespace gdrkit::transfer::run
