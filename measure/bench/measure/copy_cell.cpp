// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/measure/copy_cell.hpp"

namespace gdrkit::measure::bench {
namespace {

Series series_of(const CopyScene& scene, const CopyMethod& method, Direction direction) {
  const std::string group = scene.section + "/" + direction_name(direction);
  Series series;
  series.id = group + "/" + method.name;
  series.group = group;
  series.title = std::string(method.title) +
                 (direction == Direction::to_device ? ", to the device" : ", from the device") + scene.title_end;
  series.operation = "copy";
  series.direction = direction_name(direction);
  series.method = method.name;
  series.conditions = scene.conditions;
  series.x_name = "size_bytes";
  series.unit = "ns";
  if (&method != &copy_methods::raw) series.control = group + "/" + copy_methods::raw.name;
  return series;
}

void measure_copies(Session* session, const CopyScene& scene, Direction direction, std::size_t size_bytes,
                    const Effort& effort, Collector* collector) {
  CopyStation station(session, session->device(), size_bytes);
  std::vector<Contender> contenders;
  std::vector<const CopyMethod*> methods;
  for (const CopyMethod* method : scene.methods) {
    if (!station.has(*method)) {
      if (session->has_raw()) collector->note("raw loops support powers of two only");
      continue;
    }
    contenders.push_back(station.contender(*method, direction));
    methods.push_back(method);
    station.verify(*method, direction, contenders.back());
  }
  const std::unique_ptr<Disturbance> disturbance = scene.disturb ? scene.disturb() : nullptr;
  const std::vector<Measured> measured =
      measure_rounds(contenders, effort.request(slow_copy_ns(size_bytes)), session->clock());
  if (disturbance != nullptr && !disturbance->complaint().empty())
    throw cli::Failure(cli::ExitCode::failed, disturbance->complaint());
  for (std::size_t index = 0; index < methods.size(); ++index) {
    Series series = series_of(scene, *methods[index], direction);
    if (!session->has_raw()) series.control.clear();
    collector->add(series, make_point(static_cast<double>(size_bytes), measured[index], 1));
  }
}

}  // namespace

Cell copy_cell(Session* session, const CopyScene& scene, Direction direction, std::size_t size_bytes) {
  return {scene.section + " " + direction_name(direction) + " " + cli::size_text(size_bytes),
          [=](const Effort& effort, Collector* collector) {
            measure_copies(session, scene, direction, size_bytes, effort, collector);
          }};
}

std::vector<Cell> busy_cells(Session* session, CopyScene scene) {
  scene.methods = {&copy_methods::mapping, &copy_methods::raw, &copy_methods::memcpy_async_pinned};
  std::vector<Cell> cells;
  for (const Direction direction : {Direction::to_device, Direction::from_device}) {
    for (const std::size_t size : session->sizes_or({8, 4096, 65536, std::size_t{1} << 20})) {
      cells.push_back(copy_cell(session, scene, direction, size));
    }
  }
  return cells;
}

}  // namespace gdrkit::measure::bench
