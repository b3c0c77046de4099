// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/picture.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/number.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "measure/report/chart/style.hpp"

namespace gdrkit::measure::report {
namespace {

bool is_alike(const measure::Series& one, const measure::Series& other) {
  const Unit unit = unit_of(one.unit);
  return one.group == other.group && one.x_name == other.x_name && one.y_name.empty() && other.y_name.empty() &&
         unit.quantity == unit_of(other.unit).quantity &&
         (unit.quantity != Quantity::plain || one.unit == other.unit) && one.is_lower_better == other.is_lower_better;
}

/// A group with more curves than a chart supports is split by direction, then into parts in order.
std::vector<Picture> split(const Picture& crowd) {
  if (crowd.series.size() <= style_count) return {crowd};
  std::vector<std::string> directions;
  for (const measure::Series* series : crowd.series) {
    if (std::ranges::find(directions, series->direction) == directions.end()) {
      directions.push_back(series->direction);
    }
  }
  std::vector<Picture> pictures;
  for (const std::string& direction : directions) {
    Picture picture;
    for (const measure::Series* series : crowd.series) {
      if (series->direction != direction) continue;
      if (picture.series.size() == style_count) {
        pictures.push_back(picture);
        picture.series.clear();
      }
      picture.series.push_back(series);
    }
    pictures.push_back(picture);
  }
  return pictures;
}

bool is_shared(const Picture& picture, std::string measure::Series::*field) {
  return std::ranges::all_of(picture.series,
                             [&](const measure::Series* series) { return series->*field == picture.first().*field; });
}

/// The title without ", to the device", or " to the device" before a comma or the end; "" if it has neither.
std::string without_direction(const measure::Series& series) {
  const std::string& title = name_of(series);
  const std::string words = " " + in_words(series.direction);
  const std::size_t at = title.find(words);
  if (at == std::string::npos || at == 0) return "";
  const std::size_t end = at + words.size();
  if (end != title.size() && title[end] != ',') return "";
  return title.substr(0, title[at - 1] == ',' ? at - 1 : at) + title.substr(end);
}

/// Titles without the direction, if the heading contains it and no title becomes empty; otherwise the whole titles.
std::vector<std::string> shortest_titles(const Picture& picture) {
  std::vector<std::string> titles;
  std::vector<std::string> shorter;
  for (const measure::Series* series : picture.series) {
    titles.push_back(name_of(*series));
    shorter.push_back(without_direction(*series));
  }
  const bool is_in_heading = picture.series.size() > 1 && !picture.first().direction.empty() &&
                             is_shared(picture, &measure::Series::direction);
  return is_in_heading && std::ranges::find(shorter, "") == shorter.end() ? shorter : titles;
}

/// Whether the series is only the control of series that measure another operation.
bool is_reference(const measure::Result& result, const measure::Series& series) {
  const auto uses_it = [&](const measure::Series& other) { return other.control == series.id; };
  return std::ranges::any_of(result.series, uses_it) &&
         std::ranges::none_of(result.series, [&](const measure::Series& other) {
           return uses_it(other) && other.operation == series.operation;
         });
}

/// "threads 4"; a number of bytes as a size: "buffer 1 MiB".
std::string condition_text(const std::string& name, const std::string& value) {
  double bytes = 0;
  if (quantity_of_x(name) != Quantity::size || !base::parse_number(value, &bytes)) return in_words(name) + " " + value;
  return in_words(name.substr(0, name.rfind('_'))) + " " + written(bytes, Quantity::size);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace

Source source_of(const measure::Result& result) {
  std::vector<Picture> groups;
  std::vector<Picture> references;
  for (const measure::Series& series : result.series) {
    if (is_reference(result, series)) {
      references.push_back({{&series}, false, true});
      continue;
    }
    const auto found =
        std::ranges::find_if(groups, [&](const Picture& picture) { return is_alike(picture.first(), series); });
    if (found == groups.end()) {
      groups.push_back({{&series}});
    } else {
      found->series.push_back(&series);
    }
  }
  Source source{&result, {}};
  for (const Picture& group : groups) {
    for (Picture& picture : split(group)) source.pictures.push_back(std::move(picture));
  }
  source.pictures.insert(source.pictures.end(), references.begin(), references.end());
  return source;
}

std::string in_words(const std::string& name) {
  static const std::map<std::string, std::string> words = {
      {"to_device", "to the device"},
      {"from_device", "from the device"},
      {"device_to_device", "device to device"},
      {"size_bytes", "size"},
      {"cpu_node", "CPU node"},
      {"gpu", "GPU"},
      {"source_gpu", "source GPU"},
      {"target_gpu", "target GPU"},
      {"pin_and_map", "pin and map"},
      {"first_pin", "first pin of a context"},
      {"gpu_node", "GPU node"},
      {"gpu_kernel", "GPU kernel"},
  };
  const auto found = words.find(name);
  if (found != words.end()) return found->second;
  std::string text = name;
  std::ranges::replace(text, '_', ' ');
  return text;
}

const std::string& name_of(const measure::Series& series) { return series.title.empty() ? series.id : series.title; }

std::string conditions_text(const measure::Series& series) {
  return cli::joined(series.conditions, ", ", [](const auto& one) { return condition_text(one.first, one.second); });
}

bool are_conditions_shared(const Picture& picture) {
  return std::ranges::all_of(
      picture.series, [&](const measure::Series* series) { return series->conditions == picture.first().conditions; });
}

std::string conditions_outside_label(const measure::Series& series, std::string label) {
  const auto lower = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  label = lower(label);
  std::string text;
  for (const auto& [name, value] : series.conditions) {
    const std::string whole = condition_text(name, value);
    const std::string words = whole.substr(whole.find_first_of(' ') + 1);
    const bool is_size = quantity_of_x(name) == Quantity::size;
    const bool is_in_label = label.find(lower(words)) != std::string::npos &&
                             (is_size || label.find(lower(in_words(name))) != std::string::npos);
    if (!is_in_label) text += (text.empty() ? "" : ", ") + whole;
  }
  return text;
}

std::vector<std::string> labels_of(const Picture& picture) {
  std::map<std::string, int> uses;
  std::vector<std::string> labels = shortest_titles(picture);
  for (const std::string& label : labels) ++uses[label];
  for (std::size_t at = 0; at < labels.size(); ++at) {
    // Ids are unique; titles may not be.
    if (uses[labels[at]] > 1) labels[at] += " (" + picture.series[at]->id + ")";
  }
  return labels;
}

std::string heading_of(const Picture& picture) {
  if (picture.series.size() == 1) return name_of(picture.first());
  std::string text = in_words(is_shared(picture, &measure::Series::operation) ? picture.first().operation
                              : picture.first().group.empty() ? picture.first().operation + " and others"
                                                              : picture.first().group);
  if (is_shared(picture, &measure::Series::direction) && !picture.first().direction.empty()) {
    text += " " + in_words(picture.first().direction);
  }
  const std::string conditions = conditions_text(picture.first());
  if (are_conditions_shared(picture) && !conditions.empty()) text += ", " + conditions;
  return capitalised(text);
}

std::string value_text(const measure::Series& series, double value) {
  const Unit unit = unit_of(series.unit);
  return written(value * unit.factor, unit.quantity, series.unit);
}

}  // namespace gdrkit::measure::report
