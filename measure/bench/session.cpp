// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/session.hpp"

#include <algorithm>
#include <cstdio>
#include <new>

#include "cli/common/banner.hpp"
#include "gdrkit/gdrkit.h"
#include "measure/common/mapped_buffer.hpp"

namespace gdrkit::tools {
namespace {

constexpr double noise_looks_ms = 100;
constexpr double quick_noise_looks_ms = 30;

/// What the figures of the emulated device are; the start of that line warns that they are not those of hardware.
constexpr const char* about_figures =
    ". The values are those of ordinary memory with this CPU; they compare builds of gdrkit on this machine.";

DeviceChoice choose(const BenchOptions& options) {
  apply(options.common);
  DeviceChoice choice = choose_device(find_gpus());
  if (choice.is_emulated) choice.note += about_figures;
  print_note(choice, options.is_document_on_stdout());
  return choice;
}

/// The CPUs this process may use: the one it stays on, then others of its node, then the rest.
std::vector<int> cpus_in_order(const Placement& placement, const Place& place) {
  std::vector<int> cpus = placement.usable_cpus();
  const std::vector<int> near = placement.usable_cpus(place.cpu_node);
  const auto distance = [&](int cpu) {
    if (cpu == place.cpu) return 0;
    return std::binary_search(near.begin(), near.end(), cpu) ? 1 : 2;
  };
  std::stable_sort(cpus.begin(), cpus.end(), [&](int a, int b) { return distance(a) < distance(b); });
  return cpus;
}

std::string one_line(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n')) text.replace(at, 1, "; ");
  return text;
}

}  // namespace

Session::Session(const BenchOptions& options)
    : options_(options),
      choice_(choose(options)),
      device_(open_device(choice_, options.common.device)),
      placement_(placement_for(*device_)),
      placed_(place(options.place, &placement_)),
      cpus_(cpus_in_order(placement_, placed_.place)),
      slowdown_(options.slowdown),
      progress_(options.common.quiet) {
  for (const std::string& sentence : placed_.notes) note("place: " + sentence);
  noise_ = observe_machine_noise(clock_, options.is_quick ? quick_noise_looks_ms : noise_looks_ms);
  has_raw_ = measure::widest_raw_kind(&raw_kind_);
  if (!has_raw_) note("this CPU cannot run any of the raw loops, so the copies have no baseline");
}

std::vector<std::size_t> Session::sizes_or(std::vector<std::size_t> sizes) const {
  return options_.sizes.empty() ? std::move(sizes) : options_.sizes;
}

void Session::measure_cell(std::size_t number) {
  const Cell& cell = cells_[number];
  Collector found;
  try {
    const Effort effort = options_.effort();
    const int visits = std::min(cell.visits, effort.rounds);
    for (int visit = 0; visit < visits; ++visit) cell.measure(effort.share_of(visit, visits), &found);
  } catch (const CannotMeasure& missing) {
    note("left out: " + cell.label + ": " + one_line(missing.what()));
    return;
  } catch (const std::exception& failure) {
    is_ok_ = false;
    note("FAILED: " + cell.label + ": " + one_line(failure.what()));
    return;
  }
  for (const std::string& sentence : found.notes()) note(sentence);
  for (const Series& series : found.series()) {
    for (const Point& point : series.points) {
      sources_.push_back({series.id, point.x, number});
      collected_.add(series, point);
    }
  }
}

void Session::measure_section(const Section& section) {
  std::vector<Cell> cells;
  try {
    cells = section.cells(this);
  } catch (const CannotMeasure& missing) {
    note(section.name + ": " + one_line(missing.what()));
    return;
  }
  progress_.begin_section(section.name, section.summary, cells.size());
  for (Cell& cell : cells) {
    progress_.step(cell.label);
    cells_.push_back(std::move(cell));
    measure_cell(cells_.size() - 1);
  }
  progress_.end_section();
}

void Session::measure_all() {
  for (const Section& section : all_sections()) {
    const auto& wanted = options_.sections;
    if (std::find(wanted.begin(), wanted.end(), section.name) != wanted.end()) measure_section(section);
  }
  progress_.end();
  if (collected_.points() > 0) return;
  std::string why;
  for (const std::string& sentence : collected_.notes()) why += "\n  " + sentence;
  throw Failure(is_ok_ ? ExitCode::cannot_run : ExitCode::failed, "nothing was measured:" + why);
}

measure::Again Session::measure_again(const std::string& series_id, double x, int factor) {
  const auto source = std::find_if(sources_.begin(), sources_.end(), [&](const Source& candidate) {
    return candidate.series_id == series_id && candidate.x == x;
  });
  if (source == sources_.end()) return {};
  Effort effort = options_.effort();
  effort.rounds *= factor;
  effort.budget_ns *= factor;
  effort.most_singles = 0;
  progress_.step("again: " + cells_[source->cell].label);
  Collector found;
  try {
    cells_[source->cell].measure(effort, &found);
  } catch (const std::exception& failure) {
    note("could not be measured again: " + cells_[source->cell].label + ": " + one_line(failure.what()));
    return {};
  }
  const Series* series = found.find(series_id);
  const Point* point = series == nullptr ? nullptr : find_point(*series, x);
  if (point == nullptr) return {};
  const Series* control_series = found.find(series->control);
  const Point* control_point = control_series == nullptr ? nullptr : find_point(*control_series, x);
  return {std::make_unique<Point>(*point),
          control_point == nullptr ? nullptr : std::make_unique<Point>(*control_point)};
}

Result Session::result() const {
  const BackendNames names = backend_names();
  Result result;
  result.tool = "bench";
  result.version = gdrkit_version();
  result.date = today();
  result.is_emulated = choice_.is_emulated;
  result.backend = names.backend;
  result.machine = describe_machine(device_.get());
  result.machine.cpu_count = static_cast<int>(cpus_.size());
  result.place = placed_.place;
  result.clock = describe(clock_);
  result.noise = noise_;
  result.settings = {{"store_kernel", names.store_kernel},
                     {"load_kernel", names.load_kernel},
                     {"mapping_type", mapping_type_},
                     {"allocation", allocation_mem_alloc},
                     {"raw_loops", has_raw_ ? measure::raw_kind_name(raw_kind_) : "none"},
                     {"effort", options_.is_quick ? "quick" : "full"},
                     {"rounds", std::to_string(options_.effort().rounds)}};
  if (options_.slowdown) result.settings["injected_slowdown"] = slowdown_.description();
  result.notes = collected_.notes();
  result.series = collected_.series();
  result.is_ok = is_ok_;
  return result;
}

}  // namespace gdrkit::tools
