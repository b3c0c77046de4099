// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OutputLines: what several PEs print, as whole lines with the PE in front.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gdrkit::transfer::run {

/// For one stream (standard output or standard error) of all PEs. What is ready to be written is taken in pieces, so
/// that a reader that stops does not stop the launcher.
class OutputLines {
 public:
  explicit OutputLines(int n_pes);

  void add(int pe, std::string_view bytes);
  /// The PE prints nothing more: an unfinished line is finished.
  void end(int pe);

  [[nodiscard]] std::string_view ready() const noexcept { return std::string_view(ready_).substr(written_); }
  void take(std::size_t size_bytes);  ///< of ready()
  /// More is waiting than should be kept in memory: read no more from the PEs until some is taken.
  [[nodiscard]] bool is_full() const noexcept { return ready_.size() - written_ > most_waiting; }

 private:
  static constexpr std::size_t most_waiting = std::size_t{1} << 20;
  static constexpr std::size_t longest_line = std::size_t{1} << 16;  ///< a longer one is cut

  void finish(std::size_t pe);

  std::vector<std::string> unfinished_;
  std::vector<std::string> prefixes_;
  std::string ready_;
  std::size_t written_ = 0;
};

}  // namespace gdrkit::transfer::run
