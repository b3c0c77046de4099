// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gpus: two GPUs, each alone and both at once, with a thread each, and raw loops in the same rounds.
#include <iterator>

#include "base/result.hpp"
#include "measure/bench/measure/copy_station.hpp"
#include "measure/bench/measure/copy_team.hpp"

namespace gdrkit::measure::bench {
namespace {

using Batches = std::vector<std::function<double(std::size_t)>>;

constexpr const char* turns[] = {"first", "second", "both"};

struct Pair {
  platform::Device* first = nullptr;
  std::shared_ptr<platform::Device> second;
};

Series series_of(const CopyMethod& method, Direction direction, const std::string& which, bool has_raw) {
  const std::string group = std::string("gpus/") + direction_name(direction);
  Series series;
  series.id = group + "/" + which + "/" + method.name;
  series.group = group;
  series.title =
      which + (direction == Direction::to_device ? ", to the device, " : ", from the device, ") + method.title;
  series.operation = "copy";
  series.direction = direction_name(direction);
  series.method = method.name;
  series.conditions = {{"gpus", which}};
  series.x_name = "size_bytes";
  series.unit = "GB/s";
  series.is_lower_better = false;
  if (&method != &copy_methods::raw && has_raw) series.control = group + "/" + which + "/" + copy_methods::raw.name;
  return series;
}

/// Both GPUs' batches of one copy method.
struct MethodBatches {
  const CopyMethod* method;
  Batches of_each;
};

/// Appends the batches of one more GPU, which is current. Methods that do not support this size stay empty.
void append(CopyStation* station, Direction direction, std::vector<MethodBatches>* methods) {
  for (MethodBatches& way : *methods) {
    if (!station->has(*way.method)) continue;
    const Contender contender = station->contender(*way.method, direction);
    station->verify(*way.method, direction, contender);
    way.of_each.push_back(contender.run_batch);
  }
}

void measure_pair(Session* session, const Pair& pair, Direction direction, std::size_t size_bytes, const Effort& effort,
                  Collector* collector) {
  std::vector<std::unique_ptr<CopyStation>> stations;
  std::vector<MethodBatches> methods = {{&copy_methods::mapping, {}}, {&copy_methods::raw, {}}};
  for (platform::Device* const device : {pair.first, pair.second.get()}) {
    const auto current = device->make_current();
    if (!current.has_value()) throw CannotMeasure(current.error().text());
    stations.push_back(std::make_unique<CopyStation>(session, device, size_bytes));
    append(stations.back().get(), direction, &methods);
  }
  (void)pair.first->make_current();
  if (methods.back().of_each.empty()) methods.pop_back();
  CopyTeam team(stations.size(), session->cpus());
  std::vector<Contender> contenders;
  for (const MethodBatches& way : methods) {
    contenders.push_back({turns[0], way.of_each[0], nullptr});
    contenders.push_back({turns[1], way.of_each[1], nullptr});
    contenders.push_back({turns[2], [&](std::size_t count) { return team.run(way.of_each, count); }, nullptr});
  }
  const std::vector<Measured> measured =
      measure_rounds(contenders, effort.request(slow_copy_ns(size_bytes)), session->clock());
  for (std::size_t index = 0; index < contenders.size(); ++index) {
    const std::size_t turn = index % std::size(turns);
    const std::size_t copies = turn == 2 ? stations.size() : 1;
    std::vector<double> rates;
    for (const double ns : measured[index].round_ns) rates.push_back(static_cast<double>(size_bytes * copies) / ns);
    const CopyMethod& method = *methods[index / std::size(turns)].method;
    collector->add(series_of(method, direction, turns[turn], session->has_raw()),
                   make_point(static_cast<double>(size_bytes), std::move(rates), measured[index].operations_per_round));
  }
}

Pair open_pair(Session* session) {
  const auto count = session->is_emulated() ? platform::emulated_device_count() : platform::cuda_device_count();
  if (!count.has_value()) throw CannotMeasure(count.error().text());
  if (*count < 2) throw CannotMeasure("cannot copy between GPUs: this machine has fewer than two GPUs");
  const int second = session->device()->identity().ordinal == 0 ? 1 : 0;
  auto opened = session->is_emulated() ? platform::open_emulated_device(second) : platform::open_cuda_device(second);
  (void)session->device()->make_current();
  if (!opened.has_value()) throw CannotMeasure("GPU " + std::to_string(second) + ": " + opened.error().text());
  return {session->device(), std::shared_ptr<platform::Device>(std::move(*opened))};
}

}  // namespace

std::vector<Cell> gpus_cells(Session* session) {
  const Pair pair = open_pair(session);
  if (session->cpus().size() < 2) session->note("gpus: only one CPU is available for both threads");
  std::vector<Cell> cells;
  for (const Direction direction : {Direction::to_device, Direction::from_device}) {
    for (const std::size_t size : session->sizes_or({4096, 65536, std::size_t{1} << 20})) {
      cells.push_back({cli::format("gpus %s %s", direction_name(direction), cli::size_text(size).c_str()),
                       [=](const Effort& effort, Collector* collector) {
                         measure_pair(session, pair, direction, size, effort, collector);
                       }});
    }
  }
  return cells;
}

}  // namespace gdrkit::measure::bench
