// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/output/summary.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/size.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "measure/bench/measure/copy_method.hpp"
#include "measure/tool_parts/rate.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr std::size_t most_rows = 12;
constexpr double ns_per_us = 1000;
constexpr int label_width = 12;
constexpr int widest_column = 13;

using Columns = std::vector<const Series*>;

bool differ(const Columns& columns, std::string Series::*field) {
  return std::ranges::any_of(columns, [&](const Series* one) { return one->*field != columns[0]->*field; });
}

std::string in_words(std::string text) {
  std::ranges::replace(text, '_', ' ');
  return text;
}

/// Such that all columns fit the output's width.
int column_width(const Columns& columns) {
  const int room = (static_cast<int>(cli::output_columns) - label_width) / static_cast<int>(columns.size());
  return std::min(widest_column, room);
}

/// The two lines of a column's heading: the attributes in which this series differs from others of its group.
std::pair<std::string, std::string> heading(const Columns& columns, const Series& series) {
  const auto& methods = all_copy_methods();
  const auto found =
      std::ranges::find_if(methods, [&](const CopyMethod* method) { return series.method == method->name; });
  if (found != methods.end() && (*found)->above[0] != '\0') return {(*found)->above, (*found)->below};
  if (differ(columns, &Series::operation)) {
    const std::size_t gap = series.operation.rfind('_');
    if (gap == std::string::npos) return {"", series.operation};
    return {in_words(series.operation.substr(0, gap)), series.operation.substr(gap + 1)};
  }
  const std::string which = cli::joined(series.conditions, " ", [](const auto& one) { return one.second; });
  return {which, found == methods.end() ? series.method : (*found)->below};
}

/// The sizes that are of most interest.
bool is_interesting(double size_bytes) {
  constexpr double interesting[] = {8, 64, 1024, 4096, 65536, 1048576, 16777216, 268435456};
  return std::ranges::find(interesting, size_bytes) != std::end(interesting);
}

/// The x of all columns; if there are many, only the most interesting ones.
std::vector<double> rows_of(const Columns& columns) {
  std::set<double> all;
  for (const Series* series : columns) {
    for (const Point& point : series->points) all.insert(point.x);
  }
  std::vector<double> rows;
  const bool is_long = all.size() > most_rows && columns[0]->x_name == "size_bytes";
  std::copy_if(all.begin(), all.end(), std::back_inserter(rows),
               [&](double x) { return !is_long || is_interesting(x); });
  return rows;
}

std::string row_label(const Series& series, double x) {
  const auto count = static_cast<std::size_t>(x);
  if (series.x_name == "size_bytes") return cli::size_text(count);
  return series.x_name == "threads" && count == 1 ? "1 thread" : cli::format("%zu %s", count, series.x_name.c_str());
}

/// The GB/s below the times of a large copy; "" for small copies and for other operations.
std::string rates_line(const Columns& columns, double x) {
  const bool are_sizes = columns[0]->x_name == "size_bytes" && columns[0]->operation == "copy";
  const auto size_bytes = are_sizes ? static_cast<std::size_t>(x) : 0;
  if (size_bytes < smallest_rated_bytes) return "";
  std::string line = cli::format("%*s", label_width, "GB/s");
  bool has_rate = false;
  for (const Series* series : columns) {
    const Point* const point = find_point(*series, x);
    const double ns = series->unit == "ns" ? 1 : series->unit == "us" ? ns_per_us : 0;
    const std::string rate = point == nullptr ? "" : rate_text(size_bytes, point->value * ns);
    has_rate = has_rate || !rate.empty();
    line += cli::format("%*s", column_width(columns), rate.c_str());
  }
  return has_rate ? line + "\n" : "";
}

std::string table(const Columns& columns) {
  const bool is_time = columns[0]->unit == "ns" || columns[0]->unit == "us";
  std::string first(label_width, ' ');
  std::string second(label_width, ' ');
  for (const Series* series : columns) {
    const auto [above, below] = heading(columns, *series);
    first += cli::format("%*s", column_width(columns), above.c_str());
    second += cli::format("%*s", column_width(columns), below.c_str());
  }
  std::string text = (first.find_first_not_of(' ') == std::string::npos ? "" : first + "\n") + second + "\n";
  for (const double x : rows_of(columns)) {
    std::string line = cli::format("%*s", label_width, row_label(*columns[0], x).c_str());
    for (const Series* series : columns) {
      const Point* const point = find_point(*series, x);
      const double scale = is_time && series->unit == "ns" ? ns_per_us : 1;
      line += cli::format("%*s", column_width(columns), point == nullptr ? "-" : digits(point->value / scale).c_str());
    }
    text += line + "\n" + rates_line(columns, x);
  }
  return text;
}

/// The size up to which the mapping is faster than all the driver's copies; "" without a comparison.
std::string crossover(const Columns& columns) {
  const auto mapping = std::ranges::find_if(columns, [](const Series* series) { return series->method == "mapping"; });
  if (mapping == columns.end()) return "";
  double last = 0;
  bool has_driver = false;
  for (const Point& point : (*mapping)->points) {
    bool is_fastest = true;
    for (const Series* series : columns) {
      if (series->method.rfind("memcpy", 0) != 0) continue;
      const Point* const other = find_point(*series, point.x);
      if (other == nullptr) continue;
      has_driver = true;
      is_fastest = is_fastest && point.value <= other->value;
    }
    if (!is_fastest) break;
    last = point.x;
  }
  if (!has_driver) return "";
  if (last == 0) return "the driver's copies are faster at every size\n";
  return "faster than every copy by the driver up to " + cli::size_text(static_cast<std::size_t>(last)) + "\n";
}

std::string group_title(const Columns& columns) {
  const Series& series = *columns[0];
  std::string title = series.group;
  std::ranges::replace(title, '/', ' ');
  std::ranges::replace(title, '_', ' ');
  const bool is_time = series.unit == "ns" || series.unit == "us";
  return title + (is_time ? ", microseconds each" : ", " + series.unit) + " (medians)";
}

std::string head(const Result& result) {
  std::string text = cli::format("%s %s, %s\n", result.machine.gpu_name.c_str(), result.machine.gpu_pci_address.c_str(),
                                 result.machine.driver_version.c_str());
  text += cli::format("%s, %d CPUs, system %s\n", result.machine.cpu_model.c_str(), result.machine.cpu_count,
                      result.machine.os_release.c_str());
  const auto setting = [&](const char* name) {
    return result.settings.count(name) != 0 ? result.settings.at(name) : "";
  };
  const std::string mapping_type = setting("mapping_type");
  const std::string backend = cli::format(
      "backend %s%s, copy kernels %s (to device) and %s (from device), raw loops %s", result.backend.c_str(),
      // A run without copies has none.
      mapping_type.empty() ? "" : (", mapping type " + mapping_type).c_str(), setting("store_kernel").c_str(),
      setting("load_kernel").c_str(), setting("raw_loops").c_str());
  text = cli::fitted(text + backend, 2) + "\n";
  if (result.place) {
    platform::Placed placed;
    placed.place = *result.place;
    text += cli::fitted(placed.line(), 2) + "\n";
    if (!placed.place.advice.empty()) text += cli::fitted("ADVICE: " + placed.place.advice, 2) + "\n";
  }
  if (result.noise) {
    const int cpu = result.place ? result.place->cpu : -1;
    text += cli::format(
        "other work took %.1f %% of %s%s\n", result.noise->lost_share * 100,
        cpu < 0 ? "the CPU" : cli::format("CPU %d", cpu).c_str(),
        result.noise->is_quiet() ? "" : ": percentiles above the 99th come from that work, not from the copies");
  }
  return text;
}

}  // namespace

std::string digits(double value) {
  if (value >= 1000) return cli::format("%.0f", value);
  if (value >= 100) return cli::format("%.1f", value);
  return value >= 1 ? cli::format("%.2f", value) : cli::format("%.3f", value);
}

std::string summary_text(const Result& result) {
  std::string text = head(result);
  std::vector<std::string> groups;
  for (const Series& series : result.series) {
    if (std::ranges::find(groups, series.group) == groups.end()) groups.push_back(series.group);
  }
  for (const std::string& group : groups) {
    Columns columns;
    for (const Series& series : result.series) {
      if (series.group == group) columns.push_back(&series);
    }
    text += "\n" + group_title(columns) +
            (result.is_emulated ? ", emulated: memory of this machine, without a GPU" : "") + "\n" + table(columns);
    // On the emulated device a thread emulates the driver, so the crossover would not describe any driver.
    if (!result.is_emulated) text += crossover(columns);
  }
  if (!result.notes.empty()) text += "\n";
  for (const std::string& sentence : result.notes) text += cli::fitted("note: " + sentence, 2) + "\n";
  return text;
}

}  // namespace gdrkit::measure::bench
