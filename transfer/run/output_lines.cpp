// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/run/output_lines.hpp"

#include <algorithm>

namespace gdrkit::transfer::run {

OutputLines::OutputLines(int n_pes) : unfinished_(static_cast<std::size_t>(n_pes)) {
  const std::size_t width = std::to_string(n_pes - 1).size();
  for (int pe = 0; pe < n_pes; ++pe) {
    const std::string number = std::to_string(pe);
    prefixes_.push_back("[" + std::string(width - number.size(), ' ') + number + "] ");
  }
}

void OutputLines::finish(std::size_t pe) {
  ready_ += prefixes_[pe];
  ready_ += unfinished_[pe];
  ready_ += '\n';
  unfinished_[pe].clear();
}

void OutputLines::add(int pe, std::string_view bytes) {
  const auto index = static_cast<std::size_t>(pe);
  std::string& line = unfinished_[index];
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t room = longest_line - line.size();
    const std::size_t size = std::min(std::min(end, bytes.size()), room);
    line.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    if (!bytes.empty() && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      finish(index);
    } else if (line.size() == longest_line) {
      finish(index);
    }
  }
}

void OutputLines::end(int pe) {
  const auto index = static_cast<std::size_t>(pe);
  if (!unfinished_[index].empty()) finish(index);
}

void OutputLines::take(std::size_t size_bytes) {
  written_ += size_bytes;
  if (written_ == ready_.size()) {
    ready_.clear();
    written_ = 0;
  } else if (written_ > most_waiting) {
    ready_.erase(0, written_);
    written_ = 0;
  }
}

}  // namespace gdrkit::transfer::run
