// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// info: the machine's backends, copy kernels and GPUs, and what is missing.
#include "diag/info/info.hpp"

#include <algorithm>
#include <cstdio>

#include "base/settings.hpp"
#include "cli/interface/common_options.hpp"
#include "cli/interface/device_choice.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::diag::info {
namespace {

std::string size_text(std::uint64_t bytes) {
  if (bytes == 0) return "unknown";
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  if (bytes % gib == 0) return cli::format("%llu GiB", static_cast<unsigned long long>(bytes / gib));
  return cli::format("%llu MiB", static_cast<unsigned long long>(bytes >> 20));
}

/// Wraps long lines and indents the continuation by `indent`.
void print_line(const std::string& text, std::size_t indent) {
  std::printf("%s\n", cli::fitted(cli::printable(text), indent).c_str());
}

void print_backends(const Info& info) {
  std::printf("\nbackends, in the order they are tried\n");
  for (const BackendInfo& backend : info.backends) {
    const char* state = !backend.is_usable     ? "not usable"
                        : backend.is_automatic ? "usable"
                                               : "usable, but only on request";
    print_line(cli::format("  %-9s %s", backend.name.c_str(), state), 12);
    print_line("            " + backend.summary, 12);
    if (!backend.is_usable) print_line("            reason: " + backend.reason, 14);
  }
}

void print_copy_kernels(const Info& info) {
  std::printf("\ncopy kernels, in order of preference\n");
  std::size_t width = 0;
  for (const CopyKernelInfo& kernel : info.copy_kernels) width = std::max(width, kernel.name.size());
  for (const CopyKernelInfo& kernel : info.copy_kernels) {
    print_line(cli::format("  %-*s %s%s%s", static_cast<int>(width), kernel.name.c_str(),
                           kernel.is_usable ? "usable" : "not on this CPU",
                           kernel.stores ? ", chosen for copies to the device" : "",
                           kernel.loads ? ", chosen for copies from the device" : ""),
               12);
  }
}

void print_gpus(const Info& info) {
  std::printf("\nGPUs\n");
  for (const GpuInfo& gpu : info.gpus) {
    const int node = gpu.gpu.numa_node;
    print_line(cli::format("  %s  %s, BAR1 %s, NUMA node %s, driver %s", platform::to_string(gpu.gpu.address).c_str(),
                           gpu.name.c_str(), size_text(gpu.gpu.bar1_size_bytes).c_str(),
                           node < 0 ? "unknown" : std::to_string(node).c_str(),
                           gpu.gpu.driver.empty() ? "none" : gpu.gpu.driver.c_str()),
               4);
  }
  if (info.gpus.empty()) std::printf("  none\n");
  if (info.driver) {
    print_line(
        "  NVIDIA kernel module " + info.driver->version + (info.driver->is_open_flavour ? " (open flavour)" : ""), 4);
  }
}

void print_text(const Info& info, bool quiet) {
  if (info.is_emulated) {
    std::printf("NOTE: GDRKIT_BACKEND is 'emulated': the output does not describe hardware\n");
  }
  print_line(std::string("gdrkit ") + gdrkit_version() + ", backend " +
                 (info.chosen_backend.empty() ? "none: no backend can run here" : info.chosen_backend),
             2);
  if (!quiet) {
    print_line(cli::format("%s, %d CPUs, system %s", info.machine.cpu_model.c_str(), info.machine.cpu_count,
                           info.machine.os_release.c_str()),
               2);
  }
  if (!info.why_none.empty()) print_line(info.why_none, 2);
  if (!info.why_none.empty() && info.gpus.empty()) {
    print_line(
        "to run the tools on the emulated device, set GDRKIT_BACKEND=emulated or pass --emulated; its figures do not "
        "describe a GPU",
        2);
  }
  print_backends(info);
  if (quiet) return;
  print_copy_kernels(info);
  print_gpus(info);
  std::printf("\nsettings in the environment\n");
  for (const auto& [name, value] : info.settings) print_line("  " + name + "=" + value, 4);
  if (info.settings.empty()) std::printf("  none\n");
  if (!info.missing.empty()) {
    std::printf("\nmissing\n");
    for (const std::string& sentence : info.missing) print_line("  " + sentence, 4);
  }
}

}  // namespace

cli::ExitCode run_info(cli::Front front, int argc, char** argv) {
  cli::CommonOptions options;
  cli::CommandLine line;
  line.name = "info";
  line.summary =
      "Prints the machine's backends (with reasons if they cannot run), copy kernels, GPUs, settings and missing "
      "components.";
  line.example = "gdrkit info --json";
  cli::add_common_options(&line, &options);
  if (const auto ended = cli::parse(line, front, argc, argv)) return *ended;
  cli::apply(options);
  if (const std::string forced = base::read_settings().backend; !forced.empty()) cli::check_backend(forced);
  const Info info = gather_info();
  if (options.json.is_given) write_info_json(options.json, info);
  if (!options.json.is_on_stdout()) print_text(info, options.quiet);
  return info.chosen_backend.empty() ? cli::ExitCode::cannot_run : cli::ExitCode::ok;
}

}  // namespace gdrkit::diag::info
