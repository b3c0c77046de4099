// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ToolReport: the conditions that every tool on one mapped buffer reports with its results.
#pragma once

#include <memory>
#include <optional>

#include "cli/interface/banner.hpp"
#include "cli/interface/common_options.hpp"
#include "cli/interface/device_choice.hpp"
#include "measure/result/result.hpp"
#include "platform/device/device.hpp"
#include "platform/facts/machine.hpp"
#include "platform/host/place.hpp"

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

}  // namespace gdrkit::measure
