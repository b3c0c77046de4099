// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/lines.hpp"

#include "cli/common/exit_code.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::tools::osu {
namespace {

constexpr int size_width = 10;
constexpr int value_width = 18;

const char* place_text(char place) { return place == 'D' ? "DEVICE (D)" : place == 'M' ? "MANAGED (M)" : "HOST (H)"; }

}  // namespace

std::string head_lines(const LineFormat& line) {
  const bool has_gpu = line.places != "HH";
  const std::string pattern = line.test->title;
  const std::size_t at = pattern.find("%s");
  std::string text = "\n# " + pattern.substr(0, at) + (has_gpu ? "-CUDA" : "") + pattern.substr(at + 2) + " v" +
                     osu_version + " (gdrkit " + gdrkit_version() + ", engine " + line.engine + ")\n";
  if (has_gpu) {
    text += format("# Send Buffer on %s and Receive Buffer on %s\n", place_text(line.places[0]),
                   place_text(line.places[1]));
  }
  if (line.test->value == Value::rate) text += format("# [ pairs: %d ] [ window size: %d ]\n", line.pairs, line.window);
  text += "# Datatype: MPI_CHAR.\n";
  text += format("%-*s", size_width, "# Size");
  switch (line.test->value) {
    case Value::latency:
      text += format("%*s", value_width, line.test->is_one_sided() ? "Latency (us)" : "Avg Latency(us)");
      break;
    case Value::bandwidth: text += format("%*s", value_width, "Bandwidth (MB/s)"); break;
    case Value::rate: text += format("%*s%*s", value_width, "MB/s", value_width, "Messages/s"); break;
  }
  for (const int percentile : line.percentiles) {
    text += format("%*s", value_width, format("P%d Tail Lat(us)", percentile).c_str());
  }
  if (line.validates) text += format("%*s", value_width, "Validation");
  return text + "\n";
}

std::string row_line(const LineFormat& line, const OsuRow& row) {
  std::string text = format("%-*zu%*.2f", size_width, row.size_bytes, value_width, row.value);
  if (line.test->value == Value::rate) text += format("%*.2f", value_width, row.messages_per_second);
  for (const double value : row.percentiles) text += format("%*.2f", value_width, value);
  if (line.validates) text += format("%*s", value_width, row.is_right ? "Pass" : "Fail");
  return text + "\n";
}

}  // namespace gdrkit::tools::osu
