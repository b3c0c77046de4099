// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/session.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <utility>

#include "cli/interface/banner.hpp"
#include "measure/bench/other_process.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr double noise_observation_ms = 100;
constexpr double quick_noise_observation_ms = 30;

/// Describes the figures of the emulated device. The start of the line warns that they do not describe hardware.
constexpr const char* about_figures =
    ". The values are those of ordinary memory with this CPU; they compare builds of gdrkit on this machine.";

cli::DeviceChoice choose(const BenchOptions& options) {
  cli::apply(options.common);
  cli::DeviceChoice choice = cli::choose_device(cli::find_gpus());
  if (choice.is_emulated) choice.note += about_figures;
  if (!options.is_part_of_a_run()) cli::print_note(choice, options.is_document_on_stdout());
  return choice;
}

/// The CPUs that this process may use: the one it is bound to, then others of its node, then the rest.
std::vector<int> cpus_in_order(const platform::Placement& placement, const platform::Place& place) {
  std::vector<int> cpus = placement.usable_cpus();
  const std::vector<int> near = placement.usable_cpus(place.cpu_node);
  const auto distance = [&](int cpu) {
    if (cpu == place.cpu) return 0;
    return std::binary_search(near.begin(), near.end(), cpu) ? 1 : 2;
  };
  std::ranges::sort(cpus, [&](int a, int b) { return std::pair(distance(a), a) < std::pair(distance(b), b); });
  return cpus;
}

/// On the CPU that the options request: that of an old result, because CPUs are not all equally far from the GPU.
platform::Placed placed_for(const BenchOptions& options, platform::Placement* placement) {
  platform::Placed placed = cli::place(options.place, placement);
  const bool is_elsewhere = options.cpu >= 0 && placed.is_thread_bound && placed.place.cpu != options.cpu;
  if (is_elsewhere && !placement->move_to(options.cpu, &placed)) {
    placed.notes.push_back(cli::format("cannot use CPU %d, on which the old result was measured", options.cpu));
  }
  return placed;
}

std::string one_line(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n')) text.replace(at, 1, "; ");
  return text;
}

}  // namespace

Session::Session(const BenchOptions& options)
    : options_(options),
      choice_(choose(options)),
      device_(cli::open_device(choice_, options.common.device)),
      placement_(cli::placement_for(*device_)),
      placed_(placed_for(options, &placement_)),
      cpus_(cpus_in_order(placement_, placed_.place)),
      progress_(options.common.quiet) {
  for (const std::string& sentence : placed_.notes) note("place: " + sentence);
  noise_ = observe_machine_noise(clock_, options.is_quick ? quick_noise_observation_ms : noise_observation_ms);
  has_raw_ = measure::widest_raw_kind(&raw_kind_);
  if (!has_raw_) note("the copies have no baseline: this CPU supports none of SSE4.1, AVX2 and AVX-512");
}

std::vector<std::size_t> Session::sizes_or(std::vector<std::size_t> sizes) const {
  return options_.sizes.empty() ? std::move(sizes) : options_.sizes;
}

Effort Session::effort() const {
  if (!options_.trial_of.empty()) return options_.effort().of_trial();
  const ProcessPart part = options_.part.value_or(ProcessPart{0, usual_processes});
  return options_.effort().share_of(part.number, part.of);
}

void Session::measure_cell(std::size_t number) {
  const Cell& cell = cells_[number];
  Collector found;
  try {
    cell.measure(effort(), &found);
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
  const auto& requested = options_.trial_of;
  std::erase_if(cells, [&](const Cell& cell) {
    return !requested.empty() && std::ranges::find(requested, cell.label) == requested.end();
  });
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
    const auto& requested = options_.sections;
    if (std::ranges::find(requested, section.name) != requested.end()) measure_section(section);
  }
  if (collected_.points() == 0) {
    progress_.end();
    std::string why;
    for (const std::string& sentence : collected_.notes()) why += "\n  " + sentence;
    throw cli::Failure(is_ok_ ? cli::ExitCode::cannot_run : cli::ExitCode::failed, "nothing was measured:" + why);
  }
  if (!options_.is_part_of_a_run()) measure_in_other_processes();
  progress_.end();
}

void Session::measure_in_other_processes() {
  const int others = usual_processes - 1;
  progress_.begin_section("processes", cli::format("the same in %d more processes", others), others);
  placement_.release();
  for (int number = 1; number <= others; ++number) {
    const std::string label = cli::format("%d of %d", number + 1, usual_processes);
    progress_.step(label);
    try {
      const std::string part = cli::format("%d/%d", number, usual_processes);
      const Result result =
          result_of_process(this_program, options_.arguments_for(placed_.place.cpu, {"--part", part}));
      for (const Series& series : result.series) {
        for (const Point& point : series.points) collected_.add(series, point);
      }
      for (const std::string& sentence : result.notes) note(sentence);
      is_ok_ = is_ok_ && result.is_ok;
    } catch (const cli::Failure& failure) {
      is_ok_ = false;
      note("FAILED: process " + label + ": " + one_line(failure.what()));
    }
  }
  progress_.end_section();
}

std::string Session::label_of(const std::string& series_id, double x) const {
  const auto source = std::ranges::find_if(
      sources_, [&](const Source& candidate) { return candidate.series_id == series_id && candidate.x == x; });
  return source == sources_.end() ? "" : cells_[source->cell].label;
}

std::vector<measure::Again> Session::measure_again(const std::vector<const measure::ComparedPoint*>& points) {
  std::string labels;
  for (const measure::ComparedPoint* const point : points) {
    const std::string label = label_of(point->series->id, point->new_observation.point->x);
    if (!label.empty()) labels += (labels.empty() ? "" : ";") + label;
  }
  progress_.step(cli::format("again: %zu points", points.size()));
  Result result;
  try {
    result = result_of_process(this_program, options_.arguments_for(placed_.place.cpu, {"--trial-of", labels}));
  } catch (const cli::Failure& failure) {
    note("cannot measure again " + labels + ": " + one_line(failure.what()));
  }
  std::vector<measure::Again> all;
  for (const measure::ComparedPoint* const retried : points) {
    const double x = retried->new_observation.point->x;
    const Series* const series = find_series(result, retried->series->id);
    const Point* const point = series == nullptr ? nullptr : find_point(*series, x);
    const Series* const control_series = series == nullptr ? nullptr : find_series(result, series->control);
    const Point* const control = control_series == nullptr ? nullptr : find_point(*control_series, x);
    all.push_back({point == nullptr ? nullptr : std::make_unique<Point>(*point),
                   control == nullptr ? nullptr : std::make_unique<Point>(*control)});
  }
  return all;
}

Result Session::result() const {
  const cli::BackendNames names = cli::backend_names();
  Result result;
  static_cast<cli::DocumentHead&>(result) = cli::head_of("bench", platform::describe_machine(device_.get()),
                                                         names.backend, choice_.is_emulated, placed_.place);
  result.machine.cpu_count = static_cast<int>(cpus_.size());
  result.clock = describe(clock_);
  result.noise = noise_;
  result.settings = {{"store_kernel", names.store_kernel},
                     {"load_kernel", names.load_kernel},
                     {"mapping_type", mapping_type_},
                     {"allocation", allocation_mem_alloc},
                     {"raw_loops", has_raw_ ? measure::raw_kind_name(raw_kind_) : "none"},
                     {"effort", options_.is_quick ? "quick" : "full"},
                     {"rounds", std::to_string(options_.effort().rounds)},
                     {"processes", std::to_string(usual_processes)}};
  result.notes = collected_.notes();
  result.series = collected_.series();
  result.is_ok = is_ok_;
  return result;
}

}  // namespace gdrkit::measure::bench
