// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// threads: 1 to N threads copy at once, each on its own CPU through its own mapping; the total in GB/s.
#include "measure/bench/measure/copy_station.hpp"
#include "measure/bench/measure/copy_team.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr std::size_t most_threads = 64;

Series series_of(const CopyMethod& method, Direction direction, std::size_t size_bytes, bool has_raw) {
  const std::string group = std::string("threads/") + direction_name(direction);
  const std::string head = group + "/" + std::to_string(size_bytes) + "/";
  Series series;
  series.id = head + method.name;
  series.group = group;
  series.title = cli::size_text(size_bytes) +
                 (direction == Direction::to_device ? " to the device, " : " from the device, ") + method.title;
  series.operation = "copy";
  series.direction = direction_name(direction);
  series.method = method.name;
  series.conditions = {{"size_bytes", std::to_string(size_bytes)}};
  series.x_name = "threads";
  series.unit = "GB/s";
  series.is_lower_better = false;
  if (&method != &copy_methods::raw && has_raw) series.control = head + copy_methods::raw.name;
  return series;
}

void measure_threads(Session* session, Direction direction, std::size_t size_bytes, std::size_t threads,
                     const Effort& effort, Collector* collector) {
  std::vector<std::unique_ptr<CopyStation>> stations;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    stations.push_back(std::make_unique<CopyStation>(session, session->device(), size_bytes));
  }
  CopyTeam team(threads, session->cpus());
  std::vector<const CopyMethod*> methods;
  std::vector<std::vector<std::function<double(std::size_t)>>> batches;
  for (const CopyMethod* method : {&copy_methods::mapping, &copy_methods::raw}) {
    if (!stations[0]->has(*method)) continue;
    methods.push_back(method);
    batches.emplace_back();
    for (const auto& station : stations) {
      const Contender contender = station->contender(*method, direction);
      station->verify(*method, direction, contender);
      batches.back().push_back(contender.run_batch);
    }
  }
  std::vector<Contender> contenders;
  for (std::size_t index = 0; index < methods.size(); ++index) {
    contenders.push_back({methods[index]->name,
                          [&team, &own = batches[index]](std::size_t count) { return team.run(own, count); }, nullptr});
  }
  const std::vector<Measured> measured =
      measure_rounds(contenders, effort.request(slow_copy_ns(size_bytes)), session->clock());
  for (std::size_t index = 0; index < methods.size(); ++index) {
    std::vector<double> rates;
    // One byte per nanosecond is 10^9 bytes per second.
    for (const double ns : measured[index].round_ns) rates.push_back(static_cast<double>(size_bytes * threads) / ns);
    collector->add(series_of(*methods[index], direction, size_bytes, session->has_raw()),
                   make_point(static_cast<double>(threads), std::move(rates), measured[index].operations_per_round));
  }
}

/// 1, 2, 4 and so on, and all CPUs.
std::vector<std::size_t> thread_counts(std::size_t cpus) {
  const std::size_t most = std::min(std::max<std::size_t>(cpus, 1), most_threads);
  std::vector<std::size_t> counts;
  for (std::size_t count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

}  // namespace

std::vector<Cell> threads_cells(Session* session) {
  std::vector<Cell> cells;
  const std::vector<std::size_t> few = {8, 4096};
  const std::vector<std::size_t> usual = {8, 4096, 65536};
  for (const Direction direction : {Direction::to_device, Direction::from_device}) {
    for (const std::size_t size : session->sizes_or(session->options().is_quick ? few : usual)) {
      for (const std::size_t threads : thread_counts(session->cpus().size())) {
        cells.push_back(
            {cli::format("threads %s %s, %zu", direction_name(direction), cli::size_text(size).c_str(), threads),
             [=](const Effort& effort, Collector* collector) {
               measure_threads(session, direction, size, threads, effort, collector);
             }});
      }
    }
  }
  return cells;
}

}  // namespace gdrkit::measure::bench
