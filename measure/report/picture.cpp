// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/picture.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "measure/report/chart/style.hpp"

namespace gdrkit::tools::report {
namespace {

bool is_alike(const measure::Series& one, const measure::Series& other) {
  const Unit unit = unit_of(one.unit);
  return one.group == other.group && one.x_name == other.x_name && one.y_name.empty() && other.y_name.empty() &&
         unit.quantity == unit_of(other.unit).quantity &&
         (unit.quantity != Quantity::plain || one.unit == other.unit) && one.is_lower_better == other.is_lower_better;
}

/// A group with more curves than can be told apart becomes a picture a direction, then pieces in order.
std::vector<Picture> split(const Picture& crowd) {
  if (crowd.series.size() <= style_count) return {crowd};
  std::vector<std::string> directions;
  for (const measure::Series* series : crowd.series) {
    if (std::find(directions.begin(), directions.end(), series->direction) == directions.end()) {
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
  return std::all_of(picture.series.begin(), picture.series.end(),
                     [&](const measure::Series* series) { return series->*field == picture.first().*field; });
}

/// The length of ", to the device" if that is how all titles end; the heading says it once for all.
std::size_t shared_tail(const Picture& picture) {
  if (picture.series.size() < 2 || picture.first().direction.empty() ||
      !is_shared(picture, &measure::Series::direction)) {
    return 0;
  }
  const std::string tail = ", " + in_words(picture.first().direction);
  const bool is_shared_tail =
      std::all_of(picture.series.begin(), picture.series.end(), [&](const measure::Series* series) {
        const std::string& title = name_of(*series);
        return title.size() > tail.size() && title.compare(title.size() - tail.size(), tail.size(), tail) == 0;
      });
  return is_shared_tail ? tail.size() : 0;
}

/// "threads 4"; a number of bytes as a size: "buffer 1 MiB".
std::string condition_text(const std::string& name, const std::string& value) {
  double bytes = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, bytes);
  if (quantity_of_x(name) != Quantity::size || error != std::errc() || stop != end) return in_words(name) + " " + value;
  return in_words(name.substr(0, name.rfind('_'))) + " " + written(bytes, Quantity::size);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace

Source source_of(const measure::Result& result) {
  std::vector<Picture> groups;
  for (const measure::Series& series : result.series) {
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const Picture& picture) { return is_alike(picture.first(), series); });
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
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

const std::string& name_of(const measure::Series& series) { return series.title.empty() ? series.id : series.title; }

std::string conditions_text(const measure::Series& series) {
  std::string text;
  for (const auto& [name, value] : series.conditions) {
    text += (text.empty() ? "" : ", ") + condition_text(name, value);
  }
  return text;
}

std::vector<std::string> labels_of(const Picture& picture) {
  std::map<std::string, int> uses;
  const std::size_t tail = shared_tail(picture);
  for (const measure::Series* series : picture.series) {
    const std::string& title = name_of(*series);
    ++uses[title.substr(0, title.size() - tail)];
  }
  std::vector<std::string> labels;
  for (const measure::Series* series : picture.series) {
    const std::string& title = name_of(*series);
    const std::string name = title.substr(0, title.size() - tail);
    // Ids are unique, which titles need not be.
    labels.push_back(uses[name] == 1 ? name : name + " (" + series->id + ")");
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
  const bool are_shared = std::all_of(picture.series.begin(), picture.series.end(), [&](const measure::Series* series) {
    return series->conditions == picture.first().conditions;
  });
  if (are_shared && !conditions.empty()) text += ", " + conditions;
  return capitalised(text);
}

std::string value_text(const measure::Series& series, double value) {
  const Unit unit = unit_of(series.unit);
  return written(value * unit.factor, unit.quantity, series.unit);
}

}  // namespace gdrkit::tools::report
