// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/osu_lines.hpp"

#include <cinttypes>

#include "cli/interface/exit_code.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::transfer::osu {
namespace {

constexpr int size_width = 10;
constexpr int value_width = 18;
constexpr int iterations_width = 12;
constexpr int width_without_size = 17;

const char* place_text(char place) { return place == 'D' ? "DEVICE (D)" : place == 'M' ? "MANAGED (M)" : "HOST (H)"; }

}  // namespace

std::string head_lines(const LineFormat& line) {
  const bool has_gpu = line.places != "HH";
  const std::string pattern = line.test->title;
  const std::size_t at = pattern.find("%s");
  std::string text = "\n# " + pattern.substr(0, at) + (has_gpu ? "-CUDA" : "") + pattern.substr(at + 2) + " v" +
                     osu_version + " (gdrkit " + gdrkit_version() + ", engine " + line.engine + ")\n";
  if (has_gpu && !line.test->is_of_all_ranks()) {
    text += cli::format("# Send Buffer on %s and Receive Buffer on %s\n", place_text(line.places[0]),
                        place_text(line.places[1]));
  }
  if (line.test->value == Value::rate)
    text += cli::format("# [ pairs: %d ] [ window size: %d ]\n", line.pairs, line.window);
  if (line.test->has_sizes()) {
    text += "# Datatype: MPI_CHAR.\n";
    text += cli::format("%-*s", size_width, "# Size");
  }
  switch (line.test->value) {
    case Value::latency:
      text += line.test->has_sizes()
                  ? cli::format("%*s", value_width, line.test->is_one_sided() ? "Latency (us)" : "Avg Latency(us)")
                  : "# Avg Latency(us)";
      break;
    case Value::bandwidth: text += cli::format("%*s", value_width, "Bandwidth (MB/s)"); break;
    case Value::rate: text += cli::format("%*s%*s", value_width, "MB/s", value_width, "Messages/s"); break;
  }
  if (line.is_full) {
    text += cli::format("%*s%*s%*s", value_width, "Min Latency(us)", value_width, "Max Latency(us)", iterations_width,
                        "Iterations");
  }
  for (const int percentile : line.percentiles) {
    text += cli::format("%*s", value_width, cli::format("P%d Tail Lat(us)", percentile).c_str());
  }
  if (line.validates) text += cli::format("%*s", value_width, "Validation");
  return text + "\n";
}

std::string row_line(const LineFormat& line, const OsuRow& row) {
  std::string text = line.test->has_sizes()
                         ? cli::format("%-*zu%*.2f", size_width, row.size_bytes, value_width, row.value)
                         : cli::format("%*.2f", width_without_size, row.value);
  if (line.test->value == Value::rate) text += cli::format("%*.2f", value_width, row.messages_per_second);
  if (line.is_full) {
    text += cli::format("%*.2f%*.2f%*d", value_width, row.least, value_width, row.largest, iterations_width,
                        row.iterations);
  }
  for (const double value : row.percentiles) text += cli::format("%*.2f", value_width, value);
  if (line.validates) text += cli::format("%*s", value_width, row.wrong_bytes == 0 ? "Pass" : "Fail");
  return text + "\n";
}

std::string wrong_line(const std::vector<OsuRow>& rows) {
  std::uint64_t bytes = 0;
  int sizes = 0;
  for (const OsuRow& row : rows) {
    bytes += row.wrong_bytes;
    sizes += row.wrong_bytes == 0 ? 0 : 1;
  }
  return sizes == 0 ? "" : cli::format("# Wrong bytes: %" PRIu64 ", in %d of %zu sizes\n", bytes, sizes, rows.size());
}

}  // namespace gdrkit::transfer::osu
