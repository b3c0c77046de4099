// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

namespace gdrkit::measure {
namespace {

std::string number_text(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", number);
  return text.data();
}

std::string point_name(const Series& series, const Point& point) {
  std::string name = series.id + " at " + number_text(point.x);
  if (point.y) name += ", " + number_text(*point.y);
  return name;
}

const Point* control_of(const Result& result, const Series& series, const Point& point) {
  const Series* const control = series.control.empty() ? nullptr : find_series(result, series.control);
  return control == nullptr ? nullptr : find_point(*control, point.x, point.y);
}

/// A control that takes a third or three times the time works by other means, which the machine disturbs differently.
/// An example are small copies in ordinary memory by ordinary stores instead of streaming stores.
constexpr double largest_distance = 3;

Kinship kinship_of(const Result& result, const Series& series, const ComparedPoint& point) {
  const Series* const control = series.control.empty() ? nullptr : find_series(result, series.control);
  if (control == nullptr || control->operation != series.operation) return Kinship::same_time;
  for (const Observation& observation : {point.old_observation, point.new_observation}) {
    if (observation.control == nullptr || observation.control->value <= 0) return Kinship::same_time;
    const double distance = observation.point->value / observation.control->value;
    if (distance > largest_distance || distance < 1 / largest_distance) return Kinship::same_time;
  }
  return Kinship::same_operation;
}

double unrest_of(const Result& result) { return result.noise ? std::clamp(result.noise->lost_share, 0.0, 1.0) : 0; }

std::string damage_of(const ComparedPoint& point) {
  const std::string old_damage = damage_of(*point.old_observation.point, point.old_observation.control);
  if (!old_damage.empty()) return old_damage + " in the old result";
  const std::string new_damage = damage_of(*point.new_observation.point, point.new_observation.control);
  return new_damage.empty() ? "" : new_damage + " in the new result";
}

void match_series(const Result& old_result, const Result& new_result, const Series& old_series,
                  const Series& new_series, Comparison* comparison) {
  const bool is_own = !is_baseline(new_series);
  for (const Point& old_point : old_series.points) {
    const Point* const new_point = find_point(new_series, old_point.x, old_point.y);
    if (new_point == nullptr) {
      if (is_own) comparison->vanished.push_back(point_name(old_series, old_point));
      continue;
    }
    ComparedPoint compared;
    compared.series = &new_series;
    compared.old_observation = {&old_point, nullptr};
    compared.new_observation = {new_point, nullptr};
    // Whether a baseline changed is judged without a control.
    if (is_own) {
      compared.old_observation.control = control_of(old_result, old_series, old_point);
      compared.new_observation.control = control_of(new_result, new_series, *new_point);
    }
    const std::string damage = damage_of(compared);
    if (damage.empty()) {
      compared.kinship = kinship_of(new_result, new_series, compared);
      (is_own ? comparison->points : comparison->baselines).push_back(compared);
    } else if (is_own) {
      comparison->unjudged.push_back({compared.name(), damage, decisive_group(new_series, *new_point), true});
    }
  }
}

Circumstances circumstances_of(const Result& old_result, const Result& new_result,
                               const std::vector<ComparedPoint>& points) {
  std::vector<Spread> ratios;
  std::vector<Spread> plain;
  for (const ComparedPoint& point : points) {
    for (const Observation& observation : {point.old_observation, point.new_observation}) {
      plain.push_back(spread_of(logs_of(observation, false)));
      const bool is_kindred = point.kinship == Kinship::same_operation && observation.control != nullptr &&
                              observation.control->rounds.size() == observation.point->rounds.size();
      if (is_kindred) ratios.push_back(spread_of(logs_of(observation, true)));
    }
  }
  Circumstances circumstances;
  circumstances.unrest = std::max(unrest_of(old_result), unrest_of(new_result));
  circumstances.is_emulated = old_result.is_emulated || new_result.is_emulated;
  circumstances.usual_ratio = usual_spread(ratios);
  circumstances.usual_plain = usual_spread(plain);
  return circumstances;
}

Family judge(const Circumstances& circumstances, std::vector<ComparedPoint>* points) {
  std::vector<Change> changes;
  for (ComparedPoint& point : *points) {
    point.change = change_of(point.old_observation, point.new_observation, point.series->is_lower_better, point.kinship,
                             circumstances);
    changes.push_back(point.change);
  }
  Family family(changes);
  for (ComparedPoint& point : *points) {
    point.limit = family.limit(point.change);
    point.is_hidden = family.is_hidden(point.change);
    point.is_suspicious = family.is_suspicious(point.change);
  }
  return family;
}

void add_difference(const std::string& what, const std::string& old_text, const std::string& new_text,
                    std::vector<std::string>* differences) {
  if (old_text != new_text) differences->push_back(what + ": '" + old_text + "' then, '" + new_text + "' now");
}

constexpr double largest_latency_bytes = 4096;
constexpr double smallest_bandwidth_bytes = 1048576;
constexpr const char* everything = "all points";

std::string damage_of_one(const Point& point) {
  if (point.rounds.empty()) return "no rounds";
  const auto is_time = [](double value) { return std::isfinite(value) && value > 0; };
  const auto bad = std::ranges::count_if(point.rounds, [&](double round) { return !is_time(round); });
  if (bad > 0) {
    return std::to_string(bad) + " of " + std::to_string(point.rounds.size()) + " rounds not above 0";
  }
  return is_time(point.value) ? "" : "a value not above 0";
}

struct Count {
  std::size_t points = 0;
  std::size_t unjudged = 0;
  std::size_t damaged = 0;
};

}  // namespace

bool is_baseline(const Series& series) {
  const bool is_other_library = series.method == "nvshmem" || series.method == "nccl";
  return is_other_library || series.method == "raw" || series.method == "copy_engine" ||
         series.method.starts_with("memcpy");
}

std::string ComparedPoint::name() const { return point_name(*series, *new_observation.point); }

std::vector<std::string> Comparison::undecided() const {
  std::vector<Judgement> judgements;
  for (const ComparedPoint& point : points) {
    judgements.push_back({decisive_group(*point.series, *point.new_observation.point), !point.is_hidden, false});
  }
  for (const UnjudgedPoint& point : unjudged) {
    if (point.is_damaged) judgements.push_back({point.group, false, true});
  }
  return undecided_groups(judgements);
}

Comparison compare(const Result& old_result, const Result& new_result) {
  Comparison comparison;
  for (const Series& old_series : old_result.series) {
    const Series* const new_series = find_series(new_result, old_series.id);
    if (new_series != nullptr && new_series->unit == old_series.unit) {
      match_series(old_result, new_result, old_series, *new_series, &comparison);
    } else if (!is_baseline(old_series)) {
      for (const Point& point : old_series.points) comparison.vanished.push_back(point_name(old_series, point));
    }
  }
  comparison.circumstances = circumstances_of(old_result, new_result, comparison.points);
  comparison.family = judge(comparison.circumstances, &comparison.points);
  (void)judge(comparison.circumstances, &comparison.baselines);
  for (const ComparedPoint& point : comparison.points) {
    if (!point.is_hidden || point.is_slower()) continue;
    comparison.unjudged.push_back({point.name(), "noise alone could be a factor of four",
                                   decisive_group(*point.series, *point.new_observation.point), false});
  }
  return comparison;
}

std::string why_no_comparison(const Result& old_result, const Result& new_result, const std::string& name) {
  if (old_result.tool == new_result.tool) return "";
  return name + " is a result of 'gdrkit " + old_result.tool + "'; 'gdrkit " + new_result.tool +
         "' compares with its own results only";
}

std::vector<std::string> machine_differences(const Result& old_result, const Result& new_result) {
  std::vector<std::string> differences;
  add_difference("CPU", old_result.machine.cpu_model, new_result.machine.cpu_model, &differences);
  add_difference("GPU", old_result.machine.gpu_name, new_result.machine.gpu_name, &differences);
  add_difference("backend", old_result.backend, new_result.backend, &differences);
  return differences;
}

std::vector<std::string> setting_differences(const Result& old_result, const Result& new_result) {
  std::vector<std::string> differences;
  add_difference("driver", old_result.machine.driver_version, new_result.machine.driver_version, &differences);
  add_difference("operating system", old_result.machine.os_release, new_result.machine.os_release, &differences);
  for (const char* const name : {"store_kernel", "load_kernel", "mapping_type", "raw_loops", "effort"}) {
    const auto text = [&](const Result& result) {
      const auto found = result.settings.find(name);
      return found == result.settings.end() ? std::string() : found->second;
    };
    add_difference(name, text(old_result), text(new_result), &differences);
  }
  return differences;
}

std::string decisive_group(const Series& series, const Point& point) {
  const bool is_plain_copy = series.operation == "copy" && series.method == "mapping" && series.conditions.empty() &&
                             series.x_name == "size_bytes" && !point.y;
  if (!is_plain_copy) return "";
  const std::string direction = series.direction == "to_device" ? "to the device" : "from the device";
  if (point.x <= largest_latency_bytes) return "copies " + direction + " up to 4 KiB";
  return point.x >= smallest_bandwidth_bytes ? "copies " + direction + " from 1 MiB on" : "";
}

std::vector<std::string> undecided_groups(const std::vector<Judgement>& judgements) {
  const bool has_groups =
      std::ranges::any_of(judgements, [](const Judgement& judgement) { return !judgement.group.empty(); });
  std::map<std::string, Count> counts;
  for (const Judgement& judgement : judgements) {
    if (has_groups && judgement.group.empty()) continue;
    Count& count = counts[has_groups ? judgement.group : everything];
    ++count.points;
    if (!judgement.is_judged) ++count.unjudged;
    if (judgement.is_damaged) ++count.damaged;
  }
  std::vector<std::string> undecided;
  for (const auto& [group, count] : counts) {
    if (count.damaged == 0 && 2 * count.unjudged < count.points) continue;
    undecided.push_back(group + ": " + std::to_string(count.unjudged) + " of " + std::to_string(count.points) +
                        " cannot be judged");
  }
  return undecided;
}

std::string damage_of(const Point& point, const Point* control) {
  const std::string own = damage_of_one(point);
  if (!own.empty() || control == nullptr) return own;
  const std::string others = damage_of_one(*control);
  return others.empty() ? "" : "its control has " + others;
}

}  // namespace gdrkit::measure
