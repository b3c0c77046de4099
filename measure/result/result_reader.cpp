// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cmath>
#include <fstream>
#include <limits>
#include <system_error>
#include <vector>

#include "measure/result/result_document.hpp"
#include "measure/result/result_file.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::measure {
namespace {

constexpr std::size_t largest_file_bytes = std::size_t{256} << 20;

/// Also limits files without a size: a device, a pipe.
std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadResult("cannot open " + path + ": " + std::generic_category().message(errno));
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > largest_file_bytes)
      throw BadResult(path + " is larger than 256 MiB, the largest size of a result");
  }
  if (file.bad() || text.empty())
    throw BadResult("cannot read " + path + (file.bad() ? ": the read failed" : ": the file is empty"));
  return text;
}

/// A value of the document with its path from the root, which the error message names.
class Node {
 public:
  Node(const Json& json, std::string path) : json_(&json), path_(std::move(path)) {}

  [[noreturn]] void complain(const std::string& what) const { throw BadResult(path_ + " " + what); }

  [[nodiscard]] bool has(const char* name) const { return json_->is_object() && json_->contains(name); }
  [[nodiscard]] Node at(const char* name) const {
    if (!json_->is_object()) complain("should be an object");
    if (!json_->contains(name)) complain(std::string("lacks the field '") + name + "'");
    return {(*json_)[name], path_ + "." + name};
  }

  [[nodiscard]] std::string text() const {
    if (!json_->is_string()) complain("should be a string");
    return json_->get<std::string>();
  }
  [[nodiscard]] bool boolean() const {
    if (!json_->is_boolean()) complain("should be true or false");
    return json_->get<bool>();
  }
  [[nodiscard]] double number() const {
    if (!json_->is_number()) complain("should be a number");
    const double value = json_->get<double>();
    if (!std::isfinite(value)) complain("should be finite");
    return value;
  }
  [[nodiscard]] int integer() const {
    const double value = number();
    if (value != std::floor(value) || std::abs(value) > std::numeric_limits<int>::max()) {
      complain("should be a whole number");
    }
    return static_cast<int>(value);
  }
  [[nodiscard]] std::size_t count() const {
    constexpr double largest = 9e15;  // a double still represents every integer here
    const double value = number();
    if (value != std::floor(value) || value < 0 || value > largest) complain("should be a count");
    return static_cast<std::size_t>(value);
  }
  [[nodiscard]] std::map<std::string, std::string> texts() const {
    if (!json_->is_object()) complain("should be an object");
    std::map<std::string, std::string> found;
    for (const auto& [name, value] : json_->items()) found[name] = Node(value, path_ + "." + name).text();
    return found;
  }
  template <class Function>
  void for_each(Function&& function) const {
    if (!json_->is_array()) complain("should be a list");
    std::size_t number = 0;
    for (const Json& value : *json_) function(Node(value, path_ + "[" + std::to_string(number++) + "]"));
  }

 private:
  const Json* json_;
  std::string path_;
};

Single read_single(const Node& node) {
  Single single;
  single.count = node.at("count").count();
  single.minimum = node.at("minimum").number();
  single.p50 = node.at("p50").number();
  single.p99 = node.at("p99").number();
  single.p999 = node.at("p999").number();
  single.maximum = node.at("maximum").number();
  return single;
}

Point read_point(const Node& node) {
  Point point;
  point.x = node.at("x").number();
  if (node.has("y")) point.y = node.at("y").number();
  point.value = node.at("value").number();
  point.noise = node.at("noise").number();
  point.minimum = node.at("minimum").number();
  point.operations_per_round = node.at("operations_per_round").count();
  node.at("rounds").for_each([&](const Node& round) { point.rounds.push_back(round.number()); });
  if (node.has("single")) point.single = read_single(node.at("single"));
  return point;
}

Series read_series(const Node& node) {
  Series series;
  series.id = node.at("id").text();
  if (series.id.empty()) node.at("id").complain("should not be empty");
  series.group = node.at("group").text();
  series.title = node.at("title").text();
  series.operation = node.at("operation").text();
  series.direction = node.at("direction").text();
  series.method = node.at("method").text();
  series.conditions = node.at("conditions").texts();
  series.x_name = node.at("x_name").text();
  series.y_name = node.at("y_name").text();
  series.unit = node.at("unit").text();
  const std::string better = node.at("better").text();
  if (better != "lower" && better != "higher") node.at("better").complain("should be \"lower\" or \"higher\"");
  series.is_lower_better = better == "lower";
  series.control = node.at("control").text();
  node.at("points").for_each([&](const Node& point) { series.points.push_back(read_point(point)); });
  return series;
}

void read_head(const Node& node, Result* result) {
  result->tool = node.at("tool").text();
  result->version = node.at("version").text();
  result->date = node.at("date").text();
  result->is_emulated = node.at("emulated").boolean();
  result->backend = node.at("backend").text();
  const Node machine = node.at("machine");
  result->machine.cpu_model = machine.at("cpu_model").text();
  result->machine.cpu_count = machine.at("cpu_count").integer();
  result->machine.os_release = machine.at("os_release").text();
  result->machine.gpu_name = machine.at("gpu_name").text();
  result->machine.gpu_pci_address = machine.at("gpu_pci_address").text();
  result->machine.driver_version = machine.at("driver_version").text();
  if (node.has("place")) {
    const Node place = node.at("place");
    result->place =
        platform::Place{place.at("cpu").integer(), place.at("cpu_node").integer(), place.at("memory_node").integer(),
                        place.at("gpu_node").integer(), place.at("advice").text()};
  }
  if (node.has("clock")) {
    const Node clock = node.at("clock");
    result->clock = ClockDescription{clock.at("name").text(), clock.at("why").text(), clock.at("ns_per_tick").number(),
                                     clock.at("overhead_ns").number()};
  }
  if (node.has("machine_noise")) {
    const Node noise = node.at("machine_noise");
    result->noise = MachineNoise{noise.at("observed_ms").number(), noise.at("lost_share").number(),
                                 noise.at("largest_gap_us").number(), noise.at("gaps").integer()};
  }
  if (node.has("settings")) result->settings = node.at("settings").texts();
  if (node.has("notes")) {
    node.at("notes").for_each([&](const Node& sentence) { result->notes.push_back(sentence.text()); });
  }
}

}  // namespace

Result result_from_json(const std::string& text, const std::string& name) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw BadResult(name + " is not a JSON document, or is cut off");
  const Node root(json, name + ":");
  Result result;
  result.version_of_schema = root.at("schema_version").integer();
  if (result.version_of_schema != cli::schema_version) {
    throw BadResult(name + " has schema_version " + std::to_string(result.version_of_schema) +
                    ", and this gdrkit reads " + std::to_string(cli::schema_version) +
                    "; measure again with this version");
  }
  read_head(root, &result);
  if (!root.has("series")) {
    throw BadResult(name + " is output of 'gdrkit " + result.tool +
                    "' and contains no series; use output of a tool that measures, such as 'gdrkit bench --json'");
  }
  root.at("series").for_each([&](const Node& series) {
    result.series.push_back(read_series(series));
    const std::string& id = result.series.back().id;
    if (find_series(result, id) != &result.series.back())
      series.complain("has the id '" + id + "' of an earlier series");
  });
  result.is_ok = root.at("ok").boolean();
  return result;
}

Result read_result(const std::string& path) { return result_from_json(read_text(path), path); }

}  // namespace gdrkit::measure
