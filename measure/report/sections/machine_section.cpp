// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Place and method of the measurement, and how to read the chapter.
#include <algorithm>
#include <utility>

#include "measure/report/report_section.hpp"
#include "platform/facts/machine.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::measure::report {
namespace {

std::string node_text(int node) { return node < 0 ? "unknown or not bound" : std::to_string(node); }

void add_place(const platform::Place& place, Facts* facts) {
  facts->facts.emplace_back("CPU of the benchmark", place.cpu < 0 ? "not bound" : std::to_string(place.cpu));
  facts->facts.emplace_back("NUMA nodes", "CPU " + node_text(place.cpu_node) + ", memory " +
                                              node_text(place.memory_node) + ", GPU " + node_text(place.gpu_node));
}

void add_clock(const measure::ClockDescription& clock, Facts* facts) {
  std::string text = clock.name + ", " + three_digits(clock.ns_per_tick) + " ns per tick, reading it takes " +
                     written(clock.overhead_ns, Quantity::time);
  if (!clock.why.empty()) text += ": " + clock.why;
  facts->facts.emplace_back("Clock of single operations", text);
}

void add_noise(const measure::MachineNoise& noise, Facts* facts) {
  facts->facts.emplace_back("Machine noise",
                            std::string(noise.is_quiet() ? "quiet" : "not quiet") + ": " +
                                three_digits(noise.lost_share * 100) + " % of " + three_digits(noise.observed_ms) +
                                " ms lost in " + counted(static_cast<std::size_t>(std::max(noise.gaps, 0)), "gap") +
                                " over 1 µs, the largest " + written(noise.largest_gap_us * 1000, Quantity::time));
}

}  // namespace

void add_machine(Source* source, Chapter* chapter) {
  const measure::Result& result = *source->result;
  const platform::Machine& machine = result.machine;
  Facts facts;
  facts.facts = {
      {"GPU", machine.gpu_name + (machine.gpu_pci_address.empty() ? "" : " at " + machine.gpu_pci_address)},
      {"Driver", machine.driver_version},
      {"CPU", machine.cpu_model + ", " + std::to_string(machine.cpu_count) + " for this process"},
      {"System", machine.os_release},
      {"Backend", result.backend.empty() ? "none" : result.backend},
  };
  if (result.place) add_place(*result.place, &facts);
  if (result.clock) add_clock(*result.clock, &facts);
  if (result.noise) add_noise(*result.noise, &facts);
  for (const auto& [name, value] : result.settings) {
    facts.facts.emplace_back("Setting: " + in_words(name), value.empty() ? "empty" : value);
  }
  chapter->sections.push_back({"Machine, clock and settings", {std::move(facts)}});
}

void add_notes(Source* source, Chapter* chapter) {
  Sentences notes;
  notes.items = {
      "A value is the median of interleaved rounds; its noise (±) is the relative standard error of that median, from "
      "the spread of the rounds. It does not include effects that are constant during a run.",
      "Times are for one operation; nothing was subtracted from them. 1 KiB is 1024 bytes, 1 GB/s is 10^9 bytes a "
      "second.",
  };
  const auto& series = source->result->series;
  const auto has_few = [](const measure::Series& one) {
    return std::ranges::any_of(one.points, [](const measure::Point& point) { return point.rounds.size() < 3; });
  };
  const auto few = static_cast<std::size_t>(std::ranges::count_if(series, has_few));
  if (few > 0)
    notes.items.push_back(std::to_string(few) + " series had points with fewer than 3 rounds: their noise is unknown.");
  if (series.empty()) notes.items.emplace_back("The document contains no series.");
  chapter->sections.push_back({"Notes", {std::move(notes)}});
}

}  // namespace gdrkit::measure::report
