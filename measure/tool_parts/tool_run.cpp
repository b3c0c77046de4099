// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/tool_parts/tool_run.hpp"

#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure {

ToolRun::ToolRun(cli::Front front, const cli::CommonOptions& common, const cli::NumaOptions& numa)
    : front_(front), common_(common) {
  if (!is_gdrcopy()) nodes_ = cli::choose_nodes(numa);
}

std::unique_ptr<platform::Device> ToolRun::open(ToolReport* report) {
  auto device = open_for_report(common_, report);
  if (is_gdrcopy()) {
    placed_.place.cpu = platform::stay_on_this_cpu();
  } else {
    placement_.emplace(cli::placement_for(*device));
    placed_ = cli::place(nodes_, &*placement_);
    report->place = placed_.place;
  }
  return device;
}

void ToolRun::print_place() const {
  if (!is_sweep()) cli::print_place(placed_);
}

NumaSweep ToolRun::sweep(const std::vector<NumaQuantity>& quantities,
                         const std::function<std::vector<double>()>& measure) {
  NumaSweep sweep = sweep_nodes(&*placement_, quantities, measure);
  if (prints_own()) print_sweep(sweep, placement_->gpu_node());
  return sweep;
}

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
  static_cast<cli::DocumentHead&>(result) =
      cli::head_of(tool, report.machine, report.names.backend, report.is_emulated, report.place);
  result.clock = report.clock;
  result.noise = report.noise;
  return result;
}

}  // namespace gdrkit::measure
