// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/output/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr double ns_per_s = 1e9;
/// Without a terminal, a long section prints its current cell at least this often.
constexpr std::int64_t plain_line_ns = 15'000'000'000;

bool can_rewrite_lines() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

double seconds_since(std::int64_t begin_ns) { return static_cast<double>(platform::now_ns() - begin_ns) / ns_per_s; }

}  // namespace

Progress::Progress(bool is_quiet)
    : is_quiet_(is_quiet), is_terminal_(can_rewrite_lines()), begin_ns_(platform::now_ns()) {}

void Progress::begin_section(const std::string& name, const std::string& summary, std::size_t cells) {
  name_ = name;
  cells_ = cells;
  done_ = 0;
  section_begin_ns_ = last_line_ns_ = platform::now_ns();
  if (!is_quiet_ && !is_terminal_) std::fprintf(stderr, "%s: %s\n", name.c_str(), summary.c_str());
}

void Progress::step(const std::string& label) {
  ++done_;
  if (is_quiet_) return;
  if (is_terminal_) {
    // \r and "erase to the end of the line" rewrite the line.
    std::fprintf(stderr, "\r\033[K%s %zu/%zu: %s (%.0f s)", name_.c_str(), done_, cells_, label.c_str(),
                 seconds_since(begin_ns_));
    std::fflush(stderr);
  } else if (platform::now_ns() - last_line_ns_ > plain_line_ns) {
    last_line_ns_ = platform::now_ns();
    std::fprintf(stderr, "%s %zu/%zu: %s\n", name_.c_str(), done_, cells_, label.c_str());
  }
}

void Progress::end_section() {
  if (is_quiet_ || is_terminal_) return;
  std::fprintf(stderr, "%s: done in %.1f s\n", name_.c_str(), seconds_since(section_begin_ns_));
}

void Progress::end() {
  if (is_quiet_ || !is_terminal_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace gdrkit::measure::bench
