// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/output/csv.hpp"

#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::measure::bench {
namespace {

/// RFC 4180: quoted if it contains a comma, a quote or a line end.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + "\"";
}

std::string number(double value) { return cli::format("%.9g", value); }

std::string conditions_text(const Series& series) {
  return cli::joined(series.conditions, ";", [](const auto& one) { return one.first + "=" + one.second; });
}

}  // namespace

std::string to_csv_text(const Result& result) {
  std::string text =
      "series,operation,direction,method,conditions,x_name,x,y,unit,better,value,noise,minimum,rounds,"
      "operations_per_round,single_count,single_minimum,single_p50,single_p99,single_p999,single_maximum\n";
  for (const Series& series : result.series) {
    const std::string head = field(series.id) + "," + field(series.operation) + "," + field(series.direction) + "," +
                             field(series.method) + "," + field(conditions_text(series)) + "," + field(series.x_name) +
                             ",";
    for (const Point& point : series.points) {
      text += head + number(point.x) + "," + (point.y ? number(*point.y) : "") + "," + field(series.unit) + "," +
              (series.is_lower_better ? "lower" : "higher") + "," + number(point.value) + "," + number(point.noise) +
              "," + number(point.minimum) + cli::format(",%zu,%zu,", point.rounds.size(), point.operations_per_round);
      if (point.single) {
        const Single& single = *point.single;
        text += cli::format("%zu,", single.count) + number(single.minimum) + "," + number(single.p50) + "," +
                number(single.p99) + "," + number(single.p999) + "," + number(single.maximum) + "\n";
      } else {
        text += ",,,,,\n";
      }
    }
  }
  return text;
}

}  // namespace gdrkit::measure::bench
