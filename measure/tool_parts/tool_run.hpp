// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ToolRun: under which name a tool on one mapped buffer runs, what it prints, and where it measures. ToolReport: the
// conditions that it reports with its results.
#pragma once

#include <memory>
#include <optional>

#include "cli/interface/banner.hpp"
#include "cli/interface/common_options.hpp"
#include "cli/interface/device_choice.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/result/result.hpp"
#include "measure/tool_parts/numa_sweep.hpp"
#include "platform/device/device.hpp"
#include "platform/facts/machine.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::measure {

struct ToolReport {
  bool is_emulated = false;
  platform::Machine machine;
  cli::BackendNames names;
  std::optional<platform::Place> place;  ///< not under GDRCopy's name
  std::optional<ClockDescription> clock;
  std::optional<MachineNoise> noise;
};

/// Opens the device of the options and describes it. Prints the note on an emulated one. Throws Failure.
[[nodiscard]] std::unique_ptr<platform::Device> open_for_report(const cli::CommonOptions& options, ToolReport* report);

/// The head of a result of `tool`, with today's date.
[[nodiscard]] Result result_of(const char* tool, const ToolReport& report);

class ToolRun {
 public:
  /// Throws Failure(usage) if the options name nodes that do not exist. `common` must outlive the object.
  ToolRun(cli::Front front, const cli::CommonOptions& common, const cli::NumaOptions& numa);

  [[nodiscard]] bool is_gdrcopy() const noexcept { return front_ == cli::Front::gdrcopy; }
  [[nodiscard]] bool prints_gdrcopy() const noexcept { return is_gdrcopy() && !common_.json.is_on_stdout(); }
  [[nodiscard]] bool prints_own() const noexcept { return !is_gdrcopy() && !common_.json.is_on_stdout(); }
  /// --numa all
  [[nodiscard]] bool is_sweep() const noexcept { return nodes_.kind == cli::NumaChoice::Kind::all; }

  /// Opens and describes the device, and binds to the nodes of the options; under GDRCopy's name stays on this CPU.
  [[nodiscard]] std::unique_ptr<platform::Device> open(ToolReport* report);
  /// After open(): where the tool measures; the CPU alone under GDRCopy's name.
  [[nodiscard]] const platform::Placed& placed() const noexcept { return placed_; }
  /// Prints the place, except for a sweep.
  void print_place() const;
  /// Measures on every pair of nodes, and prints the result.
  [[nodiscard]] NumaSweep sweep(const std::vector<NumaQuantity>& quantities,
                                const std::function<std::vector<double>()>& measure);

 private:
  cli::Front front_;
  const cli::CommonOptions& common_;
  cli::NumaChoice nodes_{cli::NumaChoice::Kind::keep, {}};
  std::optional<platform::Placement> placement_;  // once the device is open; not under GDRCopy's name
  platform::Placed placed_;
};

}  // namespace gdrkit::measure
