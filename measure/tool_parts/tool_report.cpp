// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/tool_parts/tool_report.hpp"

#include "gdrkit/gdrkit.h"

namespace gdrkit::measure {

std::unique_ptr<platform::Device> open_for_report(const cli::CommonOptions& options, ToolReport* report) {
  cli::apply(options);
  const cli::DeviceChoice choice = cli::choose_device(cli::find_gpus());
  cli::print_note(choice, options.json.is_on_stdout());
  auto device = cli::open_device(choice, options.device);
  report->is_emulated = choice.is_emulated;
  report->machine = platform::describe_machine(device.get());
  report->names = cli::backend_names();
  return device;
}

Result result_of(const char* tool, const ToolReport& report) {
  Result result;
  result.tool = tool;
  result.version = gdrkit_version();
  result.date = cli::today();
  result.is_emulated = report.is_emulated;
  result.backend = report.names.backend;
  result.machine = report.machine;
  result.place = report.place;
  result.clock = report.clock;
  result.noise = report.noise;
  return result;
}

}  // namespace gdrkit::measure
